"""What must come out of each scenario, whatever the host: the one table of rules."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from afl_core.model.event import EventKind, SignalKind

ANYTHING = frozenset({EventKind.MESSAGE, EventKind.TOOL_CALL, EventKind.TOOL_RESULT, EventKind.TURN_CUT})


@attrs.frozen
class Pointing:
    """The one signal: its kind is one of `kinds`, its words are those of this name, and it points at an event of the agent of one of `at`."""

    kinds: frozenset[SignalKind]
    words: str
    at: frozenset[EventKind] = ANYTHING


@attrs.frozen
class Rule:
    """What happened (`story`, for the author) and what must be stored. Names are those of `Recording.words`.

    `said`: everything a person said, in order. `answers`: an agent's message holds each. `machine`: never a person's words. `nowhere`: in no
    event at all. `signal`: the only one, or None. `epochs`: in which epoch words lie (1 when not named). `threads`: in which thread they
    belong (any when not named). `runs`: a tool ran and succeeded (True) or failed (False); `refused`: a tool was called and never ran.
    `reached`: a card given with the first prompt is proved to have reached the model.
    """

    story: str
    said: tuple[str, ...] = ("request",)
    answers: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
    signal: Pointing | None = None
    epochs: Mapping[str, int] = attrs.field(factory=dict)
    threads: Mapping[str, int] = attrs.field(factory=dict)
    runs: bool | None = None
    refused: bool = False
    reached: bool = False
    optional: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """Every name the recording must give."""
        return tuple(dict.fromkeys((*self.said, *self.answers, *self.machine, *self.nowhere)))


def _signal(words: str, *kinds: SignalKind, at: frozenset[EventKind] = ANYTHING) -> Pointing:
    return Pointing(frozenset(kinds), words, at)


RULES: Mapping[str, Rule] = {
    "plain": Rule("A person asks, the agent answers.", answers=("answer",), optional=False),
    "tool_success": Rule("The agent calls a tool, which succeeds.", runs=True, optional=False),
    "tool_failure": Rule("The agent calls a tool, which fails.", runs=False),
    "interrupted_then_corrected": Rule(
        "The person stops the agent while it answers or works, and says what is wrong.",
        said=("request", "correction"),
        signal=_signal("correction", SignalKind.INTERRUPTION),
    ),
    "interrupted_before_output": Rule(
        "The person stops the agent before anything of it is recorded, and says what is wrong; the stopped turn stays a turn.",
        said=("request", "correction"),
        signal=_signal("correction", SignalKind.INTERRUPTION, at=frozenset({EventKind.TURN_CUT})),
    ),
    "withdrawn": Rule(
        "The person takes a prompt back before any output and sends another instead; the agent had done nothing to object to.",
        said=("request", "instead"),
        answers=("answer",),
    ),
    "steering_additive": Rule(
        "The person adds words to a request while nothing of the agent contradicts them.", said=("request", "addition")
    ),
    "steering_corrective": Rule(
        "The person writes while the agent works, and the running turn takes the words up.",
        said=("request", "correction"),
        signal=_signal("correction", SignalKind.STEERING, SignalKind.POSSIBLE_STEERING),
    ),
    "rejected_with_words": Rule(
        "The person refuses a tool and says in the same breath what to do instead.",
        said=("request", "correction"),
        signal=_signal("correction", SignalKind.REJECTION, at=frozenset({EventKind.TOOL_CALL})),
        refused=True,
    ),
    "rejected_without_words": Rule(
        "The person refuses a tool without a word, and then says what is wrong.",
        said=("request", "correction"),
        signal=_signal(
            "correction", SignalKind.INTERRUPTION, SignalKind.REJECTION, at=frozenset({EventKind.TOOL_CALL, EventKind.TOOL_RESULT})
        ),
        refused=True,
    ),
    "complaint": Rule("The agent finished; then the person complains.", said=("request", "complaint"), answers=("answer",), optional=False),
    "compacted": Rule(
        "The context is compacted between two prompts; the summary is nobody's words.",
        said=("before", "after"),
        nowhere=("summary",),
        epochs={"after": 2},
    ),
    "resumed": Rule("A session is left and resumed later.", said=("request", "later"), answers=("answer",)),
    "rewound": Rule(
        "The person goes back to an earlier point after an answer and asks something else.",
        said=("request", "undone", "instead"),
        signal=_signal("instead", SignalKind.REWIND),
    ),
    "forked": Rule(
        "A session is forked: what both share happened once, what follows belongs to the fork.",
        said=("shared", "new"),
        answers=("answer",),
        threads={"shared": 0, "new": 1},
    ),
    "subagent": Rule(
        "The agent hands a task to a subagent, which works and reports; only the person's words are a person's.",
        machine=("task",),
        nowhere=("work",),
    ),
    "injected": Rule("A hook's text is put into the model's context.", nowhere=("context",), reached=True),
    "machine_prompts": Rule("The host itself writes into the conversation as if it were the user.", machine=("prompt",)),
    "same_text_twice": Rule("A person says the same thing in two turns.", said=("request", "request"), optional=False),
}
"""By scenario."""
