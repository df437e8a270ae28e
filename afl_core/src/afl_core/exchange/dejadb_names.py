"""The short names of fields in bundles of DejaDB 1.2, as seen in bundles made with it, and what we call them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.grain import GrainType

NAMES: Mapping[str, str] = {
    "c": "confidence",
    "ca": "created_at",
    "ns": "namespace",
    "user": "user_id",
    "df": "derived_from",
    "st": "source_type",
    "im": "importance",
    "et": "embedding_text",
    "vf": "valid_from",
    "vt": "valid_to",
    "svf": "system_valid_from",
    "svt": "system_valid_to",
    "s": "subject",
    "r": "relation",
    "o": "object",
    "ctx": "context",
    # tool
    "tn": "tool_name",
    "cnt": "tool_content",
    "inp": "input",
    "iserr": "is_error",
    "tcid": "tool_call_id",
    "dur": "duration_ms",
    # event
    "cblocks": "content_blocks",
    "pmid": "parent_message_id",
    "mdl": "model_id",
    "stopr": "stop_reason",
    "toku": "token_usage",
    "sid2": "session_id",
    "rid": "run_id",
    # observation, goal, skill
    "oid": "observer_id",
    "otype": "observer_type",
    "desc": "description",
    "gs": "goal_state",
    "skname": "name",
    "prcnt": "practice_count",
    "prof": "proficiency",
    "hdid": "holder_did",
    "dom": "domain",
    # reasoning, consensus, consent
    "conc": "conclusion",
    "imethod": "inference_method",
    "pobs": "participating_observers",
    "thr": "threshold",
    "agrc": "agreement_count",
    "disc": "dissent_count",
    "dgrains": "dissent_grains",
    "acnt": "agreed_content",
    "sdid": "subject_did",
    "gdid": "grantee_did",
    "isw": "is_withdrawal",
    "jur": "jurisdiction",
}

COMMON: Mapping[str, str] = {
    "tt": "temporal_type",
    "vstatus": "verification_status",
    "rt": "related_to",
    "cr": "content_refs",
    "ip": "invalidation_policy",
    "pc": "provenance_chain",
    "cl": "consolidation_level",
    "sc": "success_count",
    "fc": "failure_count",
    "adid": "author_did",
    "odid": "origin_did",
}
"""Common fields that are packed into the context; those of a state, whose context is its own, into `cctx`."""


def fields_of(type: GrainType, body: Mapping[str, Any]) -> dict[str, Any]:
    """Our fields for a grain's body; names that are not known stay as they are. A long name beside its short one wins nothing: the short one counts."""
    short = {name: value for name, value in body.items() if name != "t"}
    packed = short.pop("cctx", None) if type is GrainType.STATE else short.pop("ctx", None)
    fields = {name: value for name, value in short.items() if name not in NAMES}
    fields |= {NAMES[name]: value for name, value in short.items() if name in NAMES}
    if isinstance(packed, dict):
        fields = {**{COMMON[name]: value for name, value in packed.items() if name in COMMON}, **fields}
        own = {name: value for name, value in packed.items() if name not in COMMON}
        if own:
            fields.setdefault("context", own)
    return {name: value for name, value in fields.items() if value is not None}
