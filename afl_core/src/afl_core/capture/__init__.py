"""From a host's records to events."""
