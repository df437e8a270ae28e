"""Keys and sealing."""
