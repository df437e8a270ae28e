"""The parts behind `afl_core.testing.openai_api`: what differs from the Messages API. Script, journal and HTTP are those of `anthropic_mock`."""
