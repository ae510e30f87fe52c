"""The Python and the commands of the pages of docs/integrations, which the test of each library runs."""

from __future__ import annotations

import re
from typing import Any, Final

from tests import ROOT

PAGES: Final = ROOT / "docs" / "integrations"


def blocks_of(name: str) -> list[str]:
    """The blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", (PAGES / f"{name}.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands_of(name: str) -> list[str]:
    """The commands of a page, in order, each in one line."""
    text = re.sub(r"\\\n\s*", "", (PAGES / f"{name}.md").read_text("utf-8"))
    return re.findall(r"^    ((?:pip|python|parlour) .*)$", text, re.MULTILINE)


def page_code(name: str, **smaller: str) -> str:
    """The only block of a page; numbers that stand there once are replaced by smaller ones (`n_60_000="320"`)."""
    (block,) = blocks_of(name)
    for number, other in smaller.items():
        assert block.count(number.removeprefix("n_")) == 1
        block = block.replace(number.removeprefix("n_"), other)
    return block


def run_page(name: str) -> dict[str, Any]:
    """Run the blocks of a page one after the other; the names that they leave."""
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks_of(name):
        exec(compile(block, f"{name}.md", "exec"), names)
    return names
