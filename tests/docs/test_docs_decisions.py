"""Decision records are numbered without a gap, have the same four parts, and stand in their index."""

from __future__ import annotations

import re

PARTS = ["Context", "Decision", "Why", "What else was considered"]


def test_records_are_numbered_from_one_and_say_the_same_four_things(root, page):
    paths = sorted((root / "docs/decisions").glob("0*.md"))
    assert len(paths) >= 9
    for number, path in enumerate(paths, 1):
        read = page(str(path.relative_to(root)))
        level, title = read.headings[0]
        assert (level, path.name[:4]) == (1, f"{number:04}")
        assert title.startswith(f"{number}. ")
        assert path.stem[5:] == re.sub(r"[^a-z ]", "", title.partition(". ")[2].lower()).replace(" ", "-").removeprefix("the-")
        assert [name for _, name in read.headings[1:]] == PARTS


def test_the_index_names_every_record_in_order(root, page):
    told = re.findall(r"^(\d+)\. \[(.+)\]\((.+)\)$", page("docs/decisions/README.md").text, re.MULTILINE)
    paths = sorted((root / "docs/decisions").glob("0*.md"))
    assert [target for _, _, target in told] == [path.name for path in paths]
    assert [f"{number}. {title}" for number, title, _ in told] == [page(f"docs/decisions/{target}").headings[0][1] for _, _, target in told]


def test_the_guarded_command_in_its_record_is_the_one_that_install_writes(page):
    from afl_core.setup.render import command_for

    command = command_for("<hook>", "<python>", "HOST", "EVENT").replace("HOST EVENT", "<host> <Event>")
    assert f"`{command}`" in page("docs/decisions/0002-guarded-command.md").text
