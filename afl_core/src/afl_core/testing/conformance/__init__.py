"""What the suites of `contracts` are made of: for hosts' scenarios recordings, rules, ways of running them and what came out; for reading, damage."""
