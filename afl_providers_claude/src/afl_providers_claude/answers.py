"""What a person wrote as an answer to the agent's questions. A choice among the offered labels is the agent's own wording, so it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.model.json_values import mapping_of, text_of

ASKING_TOOL = "AskUserQuestion"
SEPARATOR = ", "
"""Between the labels of an answer with several choices."""


def free_answers(outcome: Mapping[str, Any]) -> list[str]:
    """The answers that are free text, in the host's order; without its question an answer proves nothing. `outcome` is the asking tool's structured result."""
    offered = dict(_offered(outcome.get("questions")))
    found: list[str] = []
    for question, answer in mapping_of(outcome.get("answers")).items():
        if question not in offered:
            continue
        labels, several = offered[question]
        found += [text for text in _texts(answer) if text.strip() and not _chosen(text, labels, several=several)]
    return found


def _offered(questions: object) -> Iterator[tuple[str, tuple[frozenset[str], bool]]]:
    for question in questions if isinstance(questions, list) else ():
        asked = mapping_of(question)
        options = asked.get("options")
        labels = (mapping_of(option).get("label") for option in options) if isinstance(options, list) else ()
        if text := asked.get("question"):
            yield str(text), (frozenset(label for label in labels if isinstance(label, str)), asked.get("multiSelect") is True)


def _texts(answer: object) -> list[str]:
    texts = (text_of(one) for one in (answer if isinstance(answer, list) else [answer]))
    return [text for text in texts if text]


def _chosen(text: str, labels: frozenset[str], *, several: bool) -> bool:
    """Whether the text consists of labels alone; a label may itself hold the separator."""
    if text in labels:
        return True
    return several and any(
        text.startswith(label + SEPARATOR) and _chosen(text[len(label + SEPARATOR) :], labels - {label}, several=True)
        for label in labels
        if label
    )
