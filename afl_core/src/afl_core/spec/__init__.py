"""What plug-in authors implement: hook specifications and one contract a kind."""
