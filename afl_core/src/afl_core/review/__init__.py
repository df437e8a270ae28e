"""From evidence to a lesson."""
