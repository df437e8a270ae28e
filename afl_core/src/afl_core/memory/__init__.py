"""Grains at work."""
