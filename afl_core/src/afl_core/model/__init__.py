"""The nouns: frozen classes, enums, ids, clock, errors and codec. No I/O."""
