"""The parts of the mock of the Gemini API; tests use `afl_core.testing.gemini_api`."""
