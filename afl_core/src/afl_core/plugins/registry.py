"""The typed face over pluggy: which plug-ins there are and what they registered. Implementations are called one at a time, through the guard."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import pluggy

from afl_core.model.errors import PluginError
from afl_core.plugins.discovery import Found
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.spec import hooks
from afl_core.spec.command import CommandSpec
from afl_core.spec.health import HealthLine
from afl_core.spec.host import HostAdapter
from afl_core.spec.keystore import Keystore
from afl_core.spec.marker import API_VERSION, PROJECT
from afl_core.spec.redactor import Redactor
from afl_core.spec.reviewer import Reviewer
from afl_core.spec.selector import Selector


@attrs.frozen
class Loaded:
    """A plug-in as `afl plugins list` shows it. `problem` is '' when it works."""

    name: str
    module: str
    distribution: str
    version: str
    kinds: tuple[str, ...]
    problem: str = ""


class Registry:
    """All plug-ins of one process. Build it once: calls are cheap, loading is not."""

    def __init__(self, found: Iterable[Found], guard: Guard | None = None) -> None:
        self.guard = guard or Guard(MemoryLedger())
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hooks)
        self._loaded: list[Loaded] = []
        self._cache: dict[str, list[tuple[str, Any]]] = {}
        self._lost: dict[str, set[str]] = {}
        for one in found:
            self._load(one)

    def _load(self, one: Found) -> None:
        name, problem = one.name, ""
        kinds: tuple[str, ...] = ()
        try:
            module = self.guard.call(name, "import", lambda: importlib.import_module(one.module.partition(":")[0]), verbatim=True)
            asked = getattr(module, "AFL_API_VERSION", None)
            if not isinstance(asked, int) or not 1 <= asked <= API_VERSION:
                problem = f"was written for plug-in contract {asked!r}; this version of afl_core has {API_VERSION}: upgrade " + (
                    "afl_core" if isinstance(asked, int) and asked > API_VERSION else one.distribution or one.name
                )
            else:
                self._manager.register(module, name=name)
                kinds = self._kinds(module)
        except PluginError as bad:
            problem = bad.sentence
        except (ValueError, pluggy.PluginValidationError) as bad:
            self._manager.unregister(name=name)
            problem = f"has a hook that does not fit its specification: {bad}"
        self._loaded.append(
            Loaded(name=name, module=one.module, distribution=one.distribution, version=one.version, kinds=kinds, problem=problem)
        )

    def _kinds(self, module: object) -> tuple[str, ...]:
        callers = self._manager.get_hookcallers(module) or []
        return tuple(sorted(caller.name.removeprefix("afl_") for caller in callers))

    def plugins(self) -> list[Loaded]:
        """Every plug-in found, the broken ones with their problem."""
        return list(self._loaded)

    def _each(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """(plug-in, item) of every list an implementation of `hook` returned; a failing implementation is counted and left out."""
        items: list[tuple[str, Any]] = []
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            accepted = {name: value for name, value in arguments.items() if name in implementation.argnames}

            def ask(function: Callable[..., Any] = implementation.function, accepted: dict[str, Any] = accepted) -> Any:
                return function(**accepted)

            try:
                result = self.guard.call(implementation.plugin_name, hook, ask, verbatim=True)
            except PluginError as bad:
                self._note(implementation.plugin_name, bad.sentence)
                self._lost.setdefault(hook, set()).add(implementation.plugin_name)
                continue
            self._lost.get(hook, set()).discard(implementation.plugin_name)
            items.extend((implementation.plugin_name, item) for item in result or ())
        return items

    def _registered(self, hook: str) -> list[tuple[str, Any]]:
        if hook not in self._cache:
            found = self._each(hook)
            if self._lost.get(hook):
                return found  # asked again next time: what failed once may work then
            self._cache[hook] = found
        return self._cache[hook]

    def _note(self, plugin: str, problem: str) -> None:
        self._loaded = [attrs.evolve(one, problem=problem) if one.name == plugin else one for one in self._loaded]

    def hosts(self) -> dict[str, HostAdapter]:
        """Host adapters by name."""
        return self._by_name("afl_hosts")

    def reviewers(self) -> dict[str, Reviewer]:
        """Reviewers by name."""
        return self._by_name("afl_reviewers")

    def selectors(self) -> dict[str, Selector]:
        """Selectors by name."""
        return self._by_name("afl_selectors")

    def keystores(self, keys_dir: str) -> list[Keystore]:
        """Keystores for one keys directory, highest priority first."""
        return sorted((item for _, item in self._each("afl_keystores", keys_dir=keys_dir)), key=lambda one: -one.priority)

    def redactors(self) -> list[tuple[str, Redactor]]:
        """(plug-in, redactor) in the order they run: by redactor name."""
        return sorted(self._registered("afl_redactors"), key=lambda one: one[1].name)

    def missing_redactors(self, expected: Iterable[str]) -> list[str]:
        """Plug-ins whose redactors cannot be used: those that failed to register theirs, and those of `expected` that did not load or are gone."""
        working = {plugin for plugin, _ in self.redactors()}
        return sorted({*self._lost.get("afl_redactors", ()), *(name for name in expected if name not in working)})

    def commands(self) -> list[CommandSpec]:
        """Commands that plug-ins add, by name."""
        return sorted((item for _, item in self._registered("afl_commands")), key=lambda one: one.name)

    def health(self, home: str) -> list[tuple[str, HealthLine]]:
        """(plug-in, line) of every health plug-in, asked anew."""
        return self._each("afl_health", home=home)

    def _by_name(self, hook: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for plugin, item in self._registered(hook):
            if item.name in found:
                self._note(plugin, f"registers {item.name!r}, which another plug-in already registered")
                continue
            found[item.name] = item
        return found

    def tell(self, hook: str, **arguments: Mapping[str, Any]) -> None:
        """Tell observers; what they raise is counted, never felt."""
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            accepted = {name: value for name, value in arguments.items() if name in implementation.argnames}

            def inform(function: Callable[..., Any] = implementation.function, accepted: dict[str, Any] = accepted) -> None:
                function(**accepted)

            try:
                self.guard.call(implementation.plugin_name, hook, inform)
            except PluginError as bad:
                self._note(implementation.plugin_name, bad.sentence)
