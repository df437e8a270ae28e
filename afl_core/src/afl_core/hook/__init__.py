"""What hosts run at every event."""
