"""The installed schedule: one service of the person's own service manager that runs the daemon of the scheduled reconcile."""
