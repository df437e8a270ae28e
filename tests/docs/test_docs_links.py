"""Every relative link of every page leads to a file that exists, and every anchor to a heading."""

from __future__ import annotations

import re

import pytest

OUTSIDE = re.compile(r"[a-z]+:")


def test_every_link_and_anchor_resolves(pages, page, root):
    broken = []
    for one in pages:
        for target in one.links:
            if OUTSIDE.match(target):
                continue
            path, _, anchor = target.partition("#")
            file = (one.path.parent / path).resolve() if path else one.path
            if not file.exists() or not file.is_relative_to(root) or (anchor and anchor not in page(str(file.relative_to(root))).anchors):
                broken.append((one.path.name, target))
    assert broken == []


def test_every_page_is_reached_from_the_readme(pages, page, root):
    seen, waiting = set(), [root / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in seen or path.suffix != ".md":
            continue
        seen.add(path)
        waiting += [
            (path.parent / target.partition("#")[0]).resolve()
            for target in page(str(path.relative_to(root))).links
            if not OUTSIDE.match(target) and not target.startswith("#")
        ]
    documentation = {one.path for one in pages if one.path.is_relative_to(root / "docs") or one.path == root / "README.md"}
    assert documentation - {root / "docs/README.md"} - seen == set()


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("# Why it *works*\n", {"why-it-works"}),
        ("## `AFL-STORE`\n", {"afl-store"}),
        ("## Twice\n## Twice\n", {"twice", "twice-1"}),
        ("## The pack: `.agent/feedback-loop`\n", {"the-pack-agentfeedback-loop"}),
    ],
)
def test_anchors_are_made_as_the_pages_are_shown(tmp_path, page, text, anchors):
    (tmp_path / "page.md").write_text(text, "utf-8")
    assert type(page("README.md"))(tmp_path / "page.md").anchors == anchors
