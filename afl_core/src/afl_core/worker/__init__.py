"""The two processes behind the hooks: front and jobs."""
