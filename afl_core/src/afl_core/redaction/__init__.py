"""The chain over plug-in redactors; it fails closed."""
