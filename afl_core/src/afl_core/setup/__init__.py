"""Install, uninstall, doctor."""
