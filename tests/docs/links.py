"""Links of Markdown pages: to files and, behind `#`, to headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Each relative link of a page: the file, which is the page itself where none is named, and the heading or nothing."""
    for target, anchor in _LINK.findall(_prose(page)):
        yield (page.parent / target).resolve() if target else page, anchor


def dead_links(page: Path) -> list[str]:
    """The links of a page whose file or heading does not exist."""
    return [
        f"{page.name}: {file.name}#{anchor}".removesuffix("#")
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ]


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(_prose(page)))
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in plain}


def _prose(page: Path) -> str:
    return _BLOCK.sub("", page.read_text("utf-8"))
