"""Which service manager there is, whose home this is, and which PATH the daemon gets. Reads, changes nothing."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Mapping

from afl_core.processes.environment import DEFAULT_PATH
from afl_core.settings.paths import Paths
from afl_core.setup.schedule.job import Manager
from afl_core.setup.schedule.launchd import Launchd
from afl_core.setup.schedule.systemd import Systemd
from afl_core.setup.schedule.windows import WindowsTask


def manager_of(paths: Paths, environ: Mapping[str, str], system: str = "", own_home: str = "") -> Manager | None:
    """The service manager of this system, None where there is none that we know. `system`, `own_home`: of whoever runs this, unless given."""
    system, own_home = system or platform.system(), own_home or users_home()
    if system == "Darwin":
        return Launchd(environ, os.path.join(own_home, "Library", "LaunchAgents"))
    if system == "Windows":
        return WindowsTask(environ, paths.pack)
    if system == "Linux":
        configured = environ.get("XDG_CONFIG_HOME", "")
        return Systemd(
            environ, os.path.join(configured if os.path.isabs(configured) else os.path.join(own_home, ".config"), "systemd", "user")
        )
    return None


def users_home() -> str:
    """The home of whoever runs this, as the system knows it: `HOME` may say another one for a moment."""
    if os.name != "posix":
        return os.path.expanduser("~")
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def is_own_home(home: str) -> bool:
    """Whether `home` is that home."""
    return os.path.realpath(home) == os.path.realpath(users_home())


def search_path(environ: Mapping[str, str], remembered: str, binaries: Iterable[str]) -> str:
    """The PATH for the daemon: the remembered one while every host's command is found where it is found now, else this one.

    So a shell with another PATH does not change the schedule, and a host that moved (another nvm version) does.
    """
    if remembered and all(shutil.which(os.path.basename(one), path=remembered) == one for one in binaries):
        return remembered
    parts = [part for part in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(part)]
    return os.pathsep.join(dict.fromkeys(parts)) or DEFAULT_PATH
