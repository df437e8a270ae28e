"""The doctor on plug-ins and keys: what cannot be loaded, what rests, whether text can be redacted, whether sealed evidence can be opened."""

from __future__ import annotations

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.plugins.isolation import quarantined
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor_report import Part, counted, fail, ok, warn
from afl_core.spec.health import HealthLine
from afl_core.vault.keys import load_public
from afl_core.vault.keystores import holding
from afl_core.vault.seal import public_of

PROBE = "the password is hunter2 and the work goes on"


def examine_plugins(home: Home, registry: Registry) -> Part:
    """Lines for plug-ins that do not work. Asks health plug-ins."""
    lines = [fail("plug-ins", f"{one.name}: {one.problem}", "run: afl plugins list") for one in registry.plugins() if one.problem]
    resting = [entry for entry in registry.guard.ledger.all() if quarantined(entry, home.clock())]
    lines += [
        warn(
            "plug-ins",
            f"{one.plugin} rests after {counted(one.failures, 'failure')} in {one.call}: {one.last_error}",
            "run: afl plugins list",
        )
        for one in resting
    ]
    lines += [
        HealthLine(f"{plugin}: {line.name}", line.health, line.sentence, line.hint) for plugin, line in registry.health(home.paths.home)
    ]
    if not registry.redactors():
        lines.append(no_redactor())
    return Part(lines=tuple(lines))


def no_redactor() -> HealthLine:
    """Nothing goes on without one."""
    return fail("redaction", "no redactor is installed, so nothing can be kept or reviewed", "install afl-redactors, then run: afl install")


def examine_redaction(home: Home, registry: Registry) -> Part:
    """Run the whole chain over a sentence with a password in it."""
    if not registry.redactors():
        return Part()
    try:
        safe = home.redact(PROBE)
    except AflError as bad:
        return Part(lines=(fail("redaction", bad.sentence, bad.hint),))
    if "hunter2" in safe:
        return Part(
            lines=(
                warn("redaction", "a password in a plain sentence is not recognised by the redactors installed", "install afl-redactors"),
            )
        )
    number = len(registry.redactors())
    return Part(lines=(ok("redaction", f"{counted(number, 'redactor')} {'works' if number == 1 else 'work'}"),))


def examine_keystore(home: Home, registry: Registry) -> Part:
    """Which keystore holds the private key, whether it opens, and what it says about its safety."""
    try:
        half = load_public(home.paths)
        keystore = holding(registry.keystores(home.paths.keys), half.home_id, home.settings.keystore)
        viability = keystore.viable()
        if not viability.ok:
            return _keystore(
                keystore.name,
                fail("keystore", f"{keystore.name}: {viability.reason}", "capture goes on; reviews wait until it can be opened"),
            )
        secret = keystore.load(half.home_id)
    except AflError as bad:
        return _keystore(None, fail("keystore", bad.sentence, bad.hint))
    if secret is None:
        return _keystore(
            keystore.name,
            fail(
                "keystore",
                f"the keystore {keystore.name!r} does not hold this vault's private key",
                f"restore it, or {home.paths.keys} from a backup",
            ),
        )
    if public_of(secret) != half.public:
        return _keystore(
            keystore.name,
            fail(
                "keystore",
                f"the private key in the keystore {keystore.name!r} belongs to another vault",
                f"restore {home.paths.keys} from a backup",
            ),
        )
    if keystore.warning():
        return _keystore(keystore.name, warn("keystore", keystore.warning()))
    return _keystore(keystore.name, ok("keystore", f"the private key is kept by {keystore.name}"))


def _keystore(name: str | None, line: HealthLine) -> Part:
    return Part({"keystore": name}, (line,))
