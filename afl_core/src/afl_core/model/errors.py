"""The one family of errors: a code, a sentence, a cause and the next step. Raising is everywhere, printing only in `cli`."""

from __future__ import annotations


class AflError(Exception):
    """Base of every error this product raises on purpose.

    `code` is stable (`AFL-STORE-003`) and documented in docs/reference/errors.md; `sentence` says what happened and where;
    `hint` is the next command or step; the cause is the chained exception. `exit_code`: what the command ends with that it stops; 1, unless
    the command's own 1 means something else.
    """

    code = "AFL-000"
    exit_code = 1

    def __init__(self, sentence: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        if code is not None:
            self.code = code

    @property
    def logged(self) -> str:
        """The sentence as a log may have it."""
        return self.sentence

    def lines(self) -> list[str]:
        """What a person is shown: one line of what happened and, when there is one, one line of what to do."""
        shown = [f"afl: {self.code}: {self.sentence}"]
        if self.hint:
            shown.append(f"  next: {self.hint}")
        return shown


class ModelError(AflError):
    """A value that does not have the shape it must have."""

    code = "AFL-MODEL-001"


class SettingsError(AflError):
    """A setting that is unknown, of the wrong type or out of range."""

    code = "AFL-SETTINGS-001"

    @property
    def logged(self) -> str:
        """Without what stands in quotes: that is what somebody set, which may be anything."""
        import re  # the front imports this file and needs no patterns

        return re.sub(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", "…", self.sentence)


class PathError(AflError):
    """A directory or file whose owner, mode or kind is not what it must be."""

    code = "AFL-PATH-001"


class StoreError(AflError):
    """The database cannot be opened, is foreign, is newer, is locked or is full."""

    code = "AFL-STORE-001"


class VaultError(AflError):
    """A key is missing or a sealed record cannot be opened."""

    code = "AFL-VAULT-001"


class PluginError(AflError):
    """A plug-in is missing, broken, quarantined or speaks another contract version."""

    code = "AFL-PLUGIN-001"


class RedactionError(AflError):
    """A redactor failed; the text it was given may neither be stored in the index nor sent."""

    code = "AFL-REDACT-001"


class CaptureError(AflError):
    """A transcript cannot be read safely."""

    code = "AFL-CAPTURE-001"


class ProcessError(AflError):
    """A child process could not be started, was stopped or printed too much."""

    code = "AFL-PROCESS-001"


class ReviewError(AflError):
    """A review cannot go on; `reason` is the reason code that is stored with it."""

    code = "AFL-REVIEW-001"

    def __init__(self, sentence: str, *, reason: str, code: str | None = None, hint: str = "") -> None:
        super().__init__(sentence, code=code, hint=hint)
        self.reason = reason


class ChangeError(AflError):
    """A change was refused by a gate, or its inverse no longer holds."""

    code = "AFL-CHANGE-001"


class SetupError(AflError):
    """Install, uninstall or an edit of a host's settings was refused; nothing was changed."""

    code = "AFL-SETUP-001"


class WorkerError(AflError):
    """The worker is not reachable or answered what cannot be read."""

    code = "AFL-WORKER-001"
