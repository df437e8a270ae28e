"""Suites that a plug-in's author subclasses: write the factory, get the contract's tests. Needs pytest and hypothesis; no host, no network."""
