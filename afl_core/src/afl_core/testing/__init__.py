"""The plug-in author's kit."""
