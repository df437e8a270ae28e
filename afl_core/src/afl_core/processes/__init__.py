"""Child processes: groups, deadlines, output caps, environment scrub."""
