"""The parts behind `afl_core.testing.anthropic_api`; standard library only."""
