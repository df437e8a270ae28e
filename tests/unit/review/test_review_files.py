"""The files of a running review: for their owner only, and gone afterwards."""

from __future__ import annotations

import os
import pathlib
import stat
import subprocess
import sys
import textwrap

import pytest

from afl_core.model.errors import PathError, ReviewError
from afl_core.review import prompt
from afl_core.review.context import review_files, sweep
from afl_core.settings.paths import Paths


def everything(paths) -> list[str]:
    return sorted(os.listdir(paths.contexts)) if os.path.exists(paths.contexts) else []


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_the_files_are_private_and_go_when_the_review_ends_even_badly(home):
    paths = Paths(home)
    with pytest.raises(LookupError), review_files(paths, "r1", 3, '{"a":1}', "do this") as files:
        assert os.path.basename(files.context) == "r1.3.json"
        assert pathlib.Path(files.context).read_text("utf-8") == '{"a":1}'
        assert pathlib.Path(files.prompt).read_text("utf-8") == "do this"
        assert os.listdir(files.workdir) == []
        assert [mode(path) for path in (paths.contexts, files.context, files.prompt, files.workdir)] == [0o700, 0o600, 0o600, 0o700]
        pathlib.Path(files.workdir, "left").write_text("by the child", "utf-8")
        raise LookupError
    assert everything(paths) == []


def test_a_sweep_leaves_a_living_review_alone(home):
    paths = Paths(home)
    with review_files(paths, "r1", 1, "{}", "x") as files:
        assert sweep(paths) == 0
        assert os.path.exists(files.context)
        assert os.path.exists(files.prompt)


def test_a_sweep_removes_what_a_killed_process_left(home):
    paths = Paths(home)
    program = f"""
        import os, signal
        from afl_core.review.context import review_files
        from afl_core.settings.paths import Paths
        with review_files(Paths({str(home)!r}), "r1", 1, "secret", "x"):
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert everything(paths) == ["r1.1.json", "r1.1.work"]
    assert sweep(paths) == 1
    assert everything(paths) == []
    assert sweep(paths) == 0


def test_a_left_work_directory_alone_is_swept_too(home):
    paths = Paths(home)
    os.makedirs(os.path.join(paths.contexts, "r1.1.work", "empty"))
    assert sweep(paths) == 1
    assert everything(paths) == []


def test_a_link_in_the_place_of_a_file_is_removed_and_not_followed(home):
    paths = Paths(home)
    os.makedirs(paths.contexts)
    kept = home / "kept"
    kept.write_text("mine", "utf-8")
    os.symlink(kept, os.path.join(paths.contexts, "r1.1.json"))
    assert sweep(paths) == 1
    assert kept.read_text("utf-8") == "mine"


def test_a_link_in_the_place_of_the_directory_is_refused(home):
    paths = Paths(home)
    os.makedirs(paths.data)
    os.symlink("/tmp", paths.contexts)
    with pytest.raises(PathError), review_files(paths, "r1", 1, "{}", "x"):
        pytest.fail("a link was accepted")


def test_the_shipped_prompt_and_rules_are_used_until_the_person_edits_them(home):
    paths = Paths(home)
    shipped = prompt.instructions(paths, "zh")
    assert prompt.packaged(prompt.PROMPT).strip() in shipped
    assert prompt.packaged(prompt.RULES).strip() in shipped
    os.makedirs(os.path.dirname(paths.prompt_file))
    pathlib.Path(paths.prompt_file).write_text("my own prompt", "utf-8")
    edited = prompt.instructions(paths, "zh")
    assert edited.startswith("my own prompt\n")
    assert prompt.packaged(prompt.RULES).strip() in edited


def test_the_report_has_the_language_of_the_setting_and_cards_that_of_the_complaint(home):
    paths = Paths(home)
    assert "`report_content` in Chinese" in prompt.instructions(paths, "zh")
    assert "`report_content` in pt-BR" in prompt.instructions(paths, "pt-BR")
    automatic = prompt.instructions(paths, "auto")
    assert "`report_content` in the language of the complaint" in automatic
    assert "card" in automatic.rpartition("## Language")[2]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (prompt.MAX_PROMPT_BYTES + 1)])
def test_an_edited_prompt_that_cannot_be_used_is_named(home, content):
    paths = Paths(home)
    os.makedirs(os.path.dirname(paths.prompt_file))
    pathlib.Path(paths.prompt_file).write_bytes(content)
    with pytest.raises(ReviewError) as caught:
        prompt.instructions(paths, "zh")
    assert caught.value.reason == "reviewer_settings"
    assert paths.prompt_file in caught.value.sentence
