"""What redactors are asked to do beyond what they do unasked: the setting `redact_options`, read and given to each that knows the name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afl_core.model.errors import PluginError, SettingsError
from afl_core.plugins.isolation import Guard
from afl_core.spec.redactor import HasOptions, Redactor


def option_names(text: str) -> tuple[str, ...]:
    """The names in the setting, sorted, each once."""
    return tuple(sorted({name.strip() for name in text.split(",")} - {""}))


def known_options(redactors: Sequence[tuple[str, Redactor]]) -> dict[str, str]:
    """Every option that these redactors have, with its sentence."""
    return {name: told for _, redactor in redactors for name, told in sorted(_options_of(redactor).items())}


def with_options(redactors: Sequence[tuple[str, Redactor]], names: Sequence[str], guard: Guard) -> list[tuple[str, Redactor]]:
    """The redactors with these options on, each with those it has. Raises `SettingsError` for a name that none has, or that its own refuses."""
    known = known_options(redactors)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SettingsError(
            f"redact_options: no redactor has the option {unknown[0]!r}",
            code="AFL-SETTINGS-006",
            hint="there are: " + (", ".join(known) or "none; take the setting away"),
        )
    return [(plugin, _asked(plugin, redactor, names, guard)) for plugin, redactor in redactors]


def _options_of(redactor: object) -> Mapping[str, str]:
    return redactor.options if isinstance(redactor, HasOptions) else {}


def _asked(plugin: str, redactor: Redactor, names: Sequence[str], guard: Guard) -> Redactor:
    own = [name for name in names if name in _options_of(redactor)]
    if not own or not isinstance(redactor, HasOptions):
        return redactor
    asking = redactor
    try:
        made: object = guard.call(plugin, "with_options", lambda: asking.with_options(own), verbatim=True)
    except PluginError as bad:
        raise SettingsError(
            f"redact_options: plug-in {plugin!r} refuses {', '.join(own)}", code="AFL-SETTINGS-006", hint="run: afl plugins list"
        ) from bad
    if not isinstance(made, Redactor):
        raise SettingsError(
            f"redact_options: plug-in {plugin!r} gave no redactor for {', '.join(own)}",
            code="AFL-SETTINGS-006",
            hint="run: afl plugins list",
        )
    return made
