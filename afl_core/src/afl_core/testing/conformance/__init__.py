"""What the suite of `contracts/scenarios.py` is made of: recordings, rules, ways of running them, and what came out."""
