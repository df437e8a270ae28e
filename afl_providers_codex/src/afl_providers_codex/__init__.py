"""Codex CLI as a host and as an isolated reviewer."""
