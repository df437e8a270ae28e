"""Claude Code as a host and as an isolated reviewer."""
