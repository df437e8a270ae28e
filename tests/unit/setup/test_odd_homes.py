"""Odd settings, odd places, odd names: install and uninstall give back the same bytes, or say what stands in the way and change nothing."""

from __future__ import annotations

import json
import os
import stat

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
VARIABLES = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME"}
PROMPT = {"claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
BOM = b"\xef\xbb\xbf"


@pytest.fixture(params=FILES)
def host(request):
    return request.param


@pytest.fixture
def odd(home):
    """A home whose name needs quotes everywhere."""
    made = home / 'it\'s é "q" $HOME'
    made.mkdir()
    return made


def install(home, *hosts, **environ):
    with Home(str(home), {"HOME": str(home), "PATH": os.defpath, **environ}) as opened:
        return apply_install(plan_install(opened, hosts=hosts or None))


def uninstall(home, **environ):
    with Home(str(home), {"HOME": str(home), "PATH": os.defpath, **environ}) as opened:
        return apply_uninstall(plan_uninstall(opened))


def troubles(home, name):
    with Home(str(home), {"HOME": str(home), "PATH": os.defpath}) as opened:
        return [line.sentence for line in doctor(opened).lines if line.name == name and line.health.name == "FAIL"]


def seen(home):
    """Everything but our own three directories: kind, mode, and what is in it."""
    found = {}
    for path in sorted(home.rglob("*")):
        if ".agent" not in path.relative_to(home).parts:
            what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else stat.S_IFMT(path.lstat().st_mode)
            found[str(path.relative_to(home))] = (stat.S_IMODE(path.lstat().st_mode), what)
    return found


def back_and_forth(home, host, **environ):
    """Install and uninstall, each twice; everything is as it was."""
    before = seen(home)
    assert install(home, host, **environ).changed
    assert seen(home) != before
    assert not install(home, host, **environ).changed
    assert uninstall(home, **environ).changed
    assert seen(home) == before
    assert not uninstall(home, **environ).changed


def refused(home, *hosts, **environ):
    """The error of an install that changes nothing at all."""
    before = seen(home)
    with pytest.raises(SetupError) as bad:
        install(home, *hosts, **environ)
    assert seen(home) == before
    assert not (home / ".agent").exists()
    assert not uninstall(home, **environ).changed
    return bad.value


def file_of(home, host, content=None):
    path = home / FILES[host]
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n\n",
        b'{\r\n\t"a": 1\r\n}\r\n',
        b'{\r"a":1\r}\r',
        b'{"a":1}',
        b'{"a":"\xe9"}',
        b'{"a":"\\ud800"}',
        b'{"a":' + b"9" * 6000 + b"}",
        b'{"hooks":{},"hooks":{"Stop":[]}}',
        b'{"hooks":{"Stop":[null, 7, {"hooks":null}, {"hooks":[null,{"type":"command"}]}],"AfterAgent":[null]}}',
    ],
    ids=range(10),
)
def test_settings_of_any_shape_that_can_be_read_come_back_byte_for_byte(odd, host, content):
    path = file_of(odd, host, content)
    back_and_forth(odd, host)
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [BOM, BOM + b'{"a": 1}\r\n'])
def test_a_byte_order_mark_comes_back_or_is_refused_where_the_host_does_not_start_with_it(odd, host, content):
    file_of(odd, host, content)
    if host == "gemini":
        assert "byte order mark" in refused(odd, host).sentence
    else:
        back_and_forth(odd, host)


def test_comments_come_back_or_are_refused_where_the_host_ignores_a_file_with_them(odd, host):
    file_of(odd, host, b'// c\n{\n  /* x */ "a": 1 // y\n}\n')
    if host == "gemini":
        back_and_forth(odd, host)
    else:
        assert "a comment is not JSON" in refused(odd, host).sentence


@pytest.mark.parametrize(
    "content", [b'{"a": 1,}', b'{"a": ', b"[]", b"null", b"\0", b"{} x", '{"a":1}'.encode("utf-16"), b'{"hooks":null}']
)
def test_what_cannot_be_read_is_refused_before_anything_is_written(odd, host, content):
    file_of(odd, host, content)
    bad = refused(odd, host)
    assert FILES[host] in bad.sentence
    assert "afl install --host" not in bad.hint


def test_hooks_of_other_people_with_names_like_ours_stay(odd, host):
    ours = "/x/feedback-loop/hook/hook.py"
    commands = [
        f"python3 {ours} {host} Stop",
        f"test -r '{ours}2' && 'p' '{ours}2' {host} Stop 2>/dev/null || :",
        f"test -r '{ours}' && 'p' '{ours}' another Stop 2>/dev/null || :",
        f"test -r '{ours}' && 'p' '{ours}' {host} Stop",
        f"echo {ours} {host} Stop 2>/dev/null || :",
        "agent-feedback-loop",
    ]
    groups = [{"hooks": [{"type": "command", "command": command} for command in commands]}]
    path = file_of(odd, host, json.dumps({"hooks": {PROMPT[host]: groups}}, indent=1).encode())
    install(odd, host)
    assert json.loads(path.read_bytes())["hooks"][PROMPT[host]][0] == groups[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # touched since: our entries are taken out one by one
    uninstall(odd)
    assert json.loads(path.read_bytes()) == {"hooks": {PROMPT[host]: groups}}


def test_a_link_into_another_folder_stays_a_link_and_its_file_comes_back_with_its_mode(odd, host):
    target = odd / "dot files" / "x.json"
    target.parent.mkdir()
    target.write_bytes(b'{\n  "a": 1\n}\n')
    target.chmod(0o640)
    path = file_of(odd, host)
    path.symlink_to("../dot files/x.json")
    back_and_forth(odd, host)
    assert os.readlink(path) == "../dot files/x.json"
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b'{\n  "a": 1\n}\n', 0o640)


def test_a_configuration_directory_that_is_a_link_is_followed(odd, host):
    (odd / "dot files").mkdir()
    (odd / FILES[host]).parent.symlink_to("dot files")
    back_and_forth(odd, host)
    assert (odd / FILES[host]).parent.is_symlink()
    assert list((odd / "dot files").iterdir()) == []


def links_nowhere(path):
    path.symlink_to("nowhere/x.json")


def links_to_itself(path):
    path.symlink_to(path.name)


def is_a_directory(path):
    path.mkdir()


def is_a_pipe(path):
    os.mkfifo(path)


def is_a_device(path):
    path.symlink_to("/dev/null")


def is_read_only(path):
    path.write_bytes(b"{}")
    path.chmod(0o444)


def stands_in_a_read_only_directory(path):
    path.parent.chmod(0o555)


def has_a_file_for_its_directory(path):
    path.parent.rmdir()
    path.parent.write_text("x")


def has_a_link_to_nowhere_for_its_directory(path):
    path.parent.rmdir()
    path.parent.symlink_to("nowhere")


@pytest.mark.parametrize(
    "make",
    [
        links_nowhere,
        links_to_itself,
        is_a_directory,
        is_a_pipe,
        is_a_device,
        is_read_only,
        stands_in_a_read_only_directory,
        has_a_file_for_its_directory,
        has_a_link_to_nowhere_for_its_directory,
    ],
)
def test_what_cannot_be_edited_is_refused_before_anything_is_written(odd, host, make):
    path = file_of(odd, host)
    make(path)
    bad = refused(odd, host)
    assert bad.code in ("AFL-SETUP-013", "AFL-SETUP-014")
    assert str(path.parent) in bad.sentence
    assert bad.hint


@pytest.mark.parametrize(
    "spelled", ["rel/conf", "./conf", "~/conf", "{home}/conf/", "{home}//conf/.", "{home}/not/there/", "", "{home}/é sp", "a\nb"]
)
def test_however_the_configuration_directory_is_spelled_it_comes_back(odd, host, spelled):
    (odd / "conf").mkdir()
    before = seen(odd)
    back_and_forth(odd, host, **{VARIABLES[host]: spelled.replace("{home}", str(odd))})
    assert seen(odd) == before


def test_a_home_that_is_spelled_with_more_than_it_needs_is_the_same_home(odd, host):
    file_of(odd, host, b"{}")
    install(odd, host)
    with Home(f"{odd}/./", {"HOME": f"{odd}/", "PATH": os.defpath}) as opened:
        assert not plan_install(opened).changes
        apply_uninstall(plan_uninstall(opened))
    assert (odd / FILES[host]).read_bytes() == b"{}"


def test_a_name_that_is_too_long_for_the_file_system_is_refused(odd, host):
    bad = refused(odd, host, **{VARIABLES[host]: str(odd / ("x" * 300))})
    assert "File name too long" in bad.sentence


@pytest.mark.parametrize("make", [links_nowhere, links_to_itself, is_a_directory, is_a_pipe, has_a_file_for_its_directory])
def test_what_a_person_put_in_the_place_of_the_file_keeps_uninstall_from_nothing(odd, host, make):
    path = file_of(odd, host, b"{}")
    other = next(name for name in FILES if name != host)
    install(odd, host, other)
    path.unlink()
    make(path)
    before = seen(odd)
    uninstall(odd)
    assert seen(odd) == {name: what for name, what in before.items() if not name.startswith(os.path.dirname(FILES[other]))}
    assert not (odd / FILES[other]).exists()


def test_a_file_of_ours_that_was_moved_behind_a_link_stays_there_without_our_hooks(odd, host):
    path = file_of(odd, host)
    install(odd, host)
    path.rename(odd / "moved.json")
    path.symlink_to("../moved.json")
    uninstall(odd)
    assert path.is_symlink()
    assert json.loads((odd / "moved.json").read_bytes()) == {}
    assert not uninstall(odd).changed


def test_a_plug_in_whose_file_was_moved_behind_a_link_loses_only_our_hooks(odd):
    file_of(odd, "claude")
    with Home(str(odd), {"HOME": str(odd), "PATH": os.defpath}) as opened:
        apply_install(plan_install(opened, hosts=["claude"], plugins=["claude"]))
    path = odd / ".claude/skills/agent-feedback-loop/hooks/hooks.json"
    path.rename(odd / "moved.json")
    path.symlink_to(odd / "moved.json")
    uninstall(odd)
    assert json.loads((odd / "moved.json").read_bytes()) == {}
    assert path.is_symlink()


def test_a_directory_in_the_place_of_what_a_host_trusts_keeps_uninstall_from_nothing(odd):
    file_of(odd, "codex")
    install(odd, "codex")
    (odd / ".codex/config.toml").mkdir()
    uninstall(odd)
    assert set(seen(odd)) == {".codex", ".codex/config.toml"}


@pytest.mark.parametrize("shared", ["one directory", "two links"])
def test_two_hosts_whose_hooks_would_stand_in_one_file_are_refused_by_their_names(odd, shared):
    file_of(odd, "claude")
    path = file_of(odd, "gemini", b"{}")
    variables = {"CLAUDE_CONFIG_DIR": str(path.parent)} if shared == "one directory" else {}
    if not variables:
        (odd / FILES["claude"]).symlink_to(path)
    bad = refused(odd, "claude", "gemini", **variables)
    assert (bad.code, "Claude Code and Gemini CLI" in bad.sentence, str(path) in bad.sentence) == ("AFL-SETUP-051", True, True)
    install(odd, "claude", **variables)
    with pytest.raises(SetupError, match="in one file"):
        install(odd, "gemini", **variables)
    uninstall(odd, **variables)
    back_and_forth(odd, "gemini", **variables)


def test_a_host_in_whose_way_something_stands_is_named_and_another_can_be_connected_alone(odd):
    file_of(odd, "claude", b"{")
    file_of(odd, "gemini", b"{}")
    assert "to connect another host alone: afl install --host NAME" in refused(odd, "claude", "gemini").hint
    install(odd, "gemini")
    assert (odd / FILES["claude"]).read_bytes() == b"{"


@pytest.mark.parametrize(
    ("switch", "stops"), [({"disableAllHooks": True}, "claude"), ({"hooksConfig": {"enabled": False}}, "gemini"), ({"hooksConfig": 3}, "")]
)
def test_a_switch_is_told_only_of_the_host_that_has_it(odd, host, switch, stops):
    file_of(odd, host, json.dumps(switch).encode())
    install(odd, host)
    assert any("switches all hooks off" in sentence for sentence in troubles(odd, f"host {host}")) is (host == stops)
