"""Rules as data: one TOML file a family, read once. What a file may hold is said in docs/redaction-rules.md."""

from afl_redactors.packs.load import PACKS, Spec, read_pack, spec

__all__ = ["PACKS", "Spec", "read_pack", "spec"]
