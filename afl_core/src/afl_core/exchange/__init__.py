"""Memory that leaves and comes: bundles of our own, tool logs, facts, and bundles of DejaDB. Opens no database itself; `api` gives the way in."""
