"""A redactor of one company's own secrets: a template."""
