"""The recorded story, told stage by stage."""
