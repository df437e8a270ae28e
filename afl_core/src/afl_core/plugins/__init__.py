"""Finding plug-ins, calling them one at a time, and keeping the broken ones away."""
