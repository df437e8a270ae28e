"""Where settings come from and where things lie on disk."""
