"""The library face."""
