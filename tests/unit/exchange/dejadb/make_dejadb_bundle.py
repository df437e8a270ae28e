"""Makes the bundles beside this file, with the real DejaDB: `pip install dejadb==1.2.0` in a throw-away environment, then run it there.

The recorded bundles are what the tests read; they do not need DejaDB.
"""

from __future__ import annotations

import json
import pathlib
import tempfile

import dejadb

HERE = pathlib.Path(__file__).parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = dejadb.DejaDB(f"{folder}/deja.db", telemetry="off")

        def add(kind: str, **fields: object) -> str:
            return db.add(kind, json.dumps(fields))

        first = db.add_fact("acme", "deploy_target", "us-east-1")
        db.supersede(first, "fact", json.dumps({"subject": "acme", "relation": "deploy_target", "object": "eu-west-1", "confidence": 0.8}))
        db.add_fact("acme", "tier", "Gold")
        db.add_fact("acme", "tier", "Platinum")
        add(
            "fact",
            subject="Zoë",
            relation="likes",
            object="日本のお茶",
            user_id="u1",
            tags=["a", "b"],
            importance=0.5,
            source_type="user_explicit",
            valid_to=1_800_000_000_000,
            verification_status="verified",
            temporal_type="state",
            related_to=[{"hash": first, "relation_type": "supports", "weight": 0.5}],
            my_own={"deep": [1, 2.5, None, True]},
            created_at=1_700_000_001_234,
        )
        add(
            "event",
            content="hello there",
            role="user",
            session_id="s1",
            run_id="r1",
            model_id="m",
            content_blocks=[{"type": "text", "text": "hi"}],
        )
        add("state", context={"goal": "ship", "tt": "mine"}, temporal_type="state")
        add("workflow", name="wf", trigger="when asked", nodes=["a", "b"], edges=[{"src": "a", "dst": "b"}])
        add("observation", content="saw it", observer_id="eye", observer_type="human")
        add("goal", description="ship it", subject="team")
        add("skill", name="git", description="use git", practice_count=4, proficiency=0.7)
        add("reasoning", conclusion="so", inference_method="deductive", premises=["p"])
        add("consensus", participating_observers=["a", "b"], threshold=2, agreement_count=2, agreed_content="yes")
        add("consent", user_id="u", subject_did="did:a", grantee_did="did:b", scope="read", is_withdrawal=False)
        db.record_tool_call("bash", "no such file", True, thread="s1", call_id="c1", input='{"cmd":"ls"}')
        add(
            "tool",
            tool_name="bash",
            content="fine",
            is_error=False,
            duration_ms=12,
            input={"cmd": "ls"},
            tool_call_id="c2",
            session_id="s1",
        )
        db.forget(db.add_fact("gone", "is", "secret"))
        db.bundle(str(HERE / "every_type.mgb"))
        diverged(folder)


def diverged(folder: str) -> None:
    """Two copies that superseded the same fact, and the bundle of one that took in the other's."""
    one = dejadb.DejaDB(f"{folder}/one.db", telemetry="off")
    first = one.add_fact("acme", "region", "a")
    one.bundle(f"{folder}/one.mgb")
    two = dejadb.DejaDB(f"{folder}/two.db", telemetry="off")
    two.import_bundle(f"{folder}/one.mgb")
    one.supersede(first, "fact", json.dumps({"subject": "acme", "relation": "region", "object": "b"}))
    two.supersede(first, "fact", json.dumps({"subject": "acme", "relation": "region", "object": "c"}))
    two.bundle(f"{folder}/two.mgb")
    one.import_bundle(f"{folder}/two.mgb")
    one.bundle(str(HERE / "fork.mgb"))


if __name__ == "__main__":
    main()
