"""Private files and directories on disk: how they are made, checked, read and replaced."""
