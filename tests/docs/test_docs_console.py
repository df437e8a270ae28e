"""What the README and the tutorial tell somebody to type ends as they say and prints what they show, in order, in a home of its own."""

from __future__ import annotations

import re

import pytest


@pytest.mark.parametrize("path", ["README.md", "docs/tutorial.md", "docs/memory.md", "docs/redaction.md"])
def test_every_command_of_a_page_does_what_the_page_says(page, path, run_console):
    count = sum(fence.text.count("\nafl ") + fence.text.startswith("afl ") for fence in page(path).fences if fence.language == "console")
    assert count > 4
    assert run_console(page(path)) == count


def test_console_blocks_stand_only_in_pages_that_are_run(pages, root):
    run = {"README.md", "docs/tutorial.md", "docs/memory.md", "docs/redaction.md", "docs/reference/errors.md"}
    assert {str(one.path.relative_to(root)) for one in pages if any(fence.language == "console" for fence in one.fences)} == run


def test_every_command_that_a_text_names_exists(pages, page, code):
    known = {code(title)[0] for level, title in page("docs/reference/commands.md").headings if level == 2 and title.startswith("`afl")}
    groups = {name for name in known if any(other.startswith(f"{name} ") for other in known)}
    for one in pages:
        for text in [
            *code(one.text),
            *(line for fence in one.fences if fence.language in ("console", "sh") for line in fence.text.splitlines()),
        ]:
            if not re.match(r"afl [a-z]", text):
                continue
            words = re.match(r"afl(?: [a-z-]+)*", text)[0].split()
            name = " ".join(words[:3] if " ".join(words[:2]) in groups else words[:2])
            assert name in known, f"{one.path.name} names {text!r}"
