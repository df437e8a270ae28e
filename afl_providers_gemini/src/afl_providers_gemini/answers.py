"""What a person wrote into a dialogue of a tool: a free answer to a question of the agent's, the reason for refusing a plan. A choice among labels is the agent's wording."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.model.json_values import mapping_of, text_of

ASKING_TOOL = "ask_user"
PLANNING_TOOL = "exit_plan_mode"
REFUSED = "Plan rejected. User feedback: "
REFUSALS = {
    PLANNING_TOOL: ("Plan rejected. ", "User cancelled the plan approval dialog."),
    "enter_plan_mode": ("User cancelled entering Plan Mode.",),
    ASKING_TOOL: ("User dismissed ask_user dialog",),
}
"""How the result opens of a dialogue that the person turned down. To the host such a call is a success."""

SHOWN = "Feedback: "
SEPARATOR = ", "
"""Between the labels of an answer with several choices."""


def answers(name: str, call: Mapping[str, Any], text: str) -> Iterator[tuple[str, bool]]:
    """The person's texts, and whether each refuses the call. `text` is the tool's result."""
    if name == ASKING_TOOL:
        yield from ((answer, False) for answer in _free(mapping_of(call.get("args")), text))
    elif name == PLANNING_TOOL and text.startswith(REFUSED):
        shown = text_of(call.get("resultDisplay")) or ""
        if shown.startswith(SHOWN) and (words := shown[len(SHOWN) :]).strip():
            yield words, True


def refuses(name: str, text: str) -> bool:
    """Whether the person turned the tool's dialogue down, so that it did nothing. `text` is the tool's result."""
    return text.startswith(REFUSALS.get(name, ()))


def _free(asked: Mapping[str, Any], text: str) -> Iterator[str]:
    try:
        given = mapping_of(mapping_of(json.loads(text)).get("answers"))
    except (ValueError, RecursionError):
        return
    questions = asked.get("questions")
    for number, question in enumerate(questions if isinstance(questions, list) else ()):
        options = mapping_of(question).get("options")
        labels = frozenset(
            label for one in (options if isinstance(options, list) else ()) if (label := text_of(mapping_of(one).get("label")))
        )
        answer = text_of(given.get(str(number)))
        if answer and answer.strip() and not _chosen(answer, labels):
            yield answer


def _chosen(answer: str, labels: frozenset[str]) -> bool:
    """Whether the answer consists of labels alone; a label may itself hold the separator."""
    return answer in labels or any(
        answer.startswith(label + SEPARATOR) and _chosen(answer[len(label + SEPARATOR) :], labels - {label}) for label in labels
    )
