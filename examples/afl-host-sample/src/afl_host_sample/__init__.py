"""Pebble, an invented coding agent, as a host."""
