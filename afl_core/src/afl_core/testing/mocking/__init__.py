"""What the mocks of model services have in common: a loopback server, what a client sent, the list of it, and the running mock."""
