"""The demo's scripted reviewer, which here says that it runs, waits while `HOME/faults/hold` exists, and names its lesson by what was complained about."""

import hashlib
import json
import os
import sys
import time

from afl_core.demo.reviewer import answer

faults = os.path.join(sys.argv[1], "faults")
with open(os.path.join(faults, "children"), "a", encoding="ascii") as children:
    children.write(f"{os.getpid()}\n")
with open(os.environ["AFL_REVIEW_CONTEXT_FILE"], encoding="utf-8") as handle:
    context = json.load(handle)
while os.path.exists(os.path.join(faults, "hold")):
    time.sleep(0.02)
receipt = answer(context)
for lesson in receipt["lessons"]:
    said = lesson["evidence_refs"][0]["feedback_quote"]
    lesson["lesson_id"] = lesson["class_id"] = "said-" + hashlib.sha256(said.encode()).hexdigest()[:8]
json.dump(receipt, sys.stdout, ensure_ascii=False)
