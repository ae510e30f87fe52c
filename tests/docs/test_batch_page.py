"""docs/howto/batch.md says what is true: its blocks run as printed."""

from __future__ import annotations

import re

import pytest

from tests import ROOT

PAGE = (ROOT / "docs" / "howto" / "batch.md").read_text("utf-8")
TABLES, STATE, SEAT = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
NEEDED = {TABLES: ("numba", "torch"), STATE: ("numba",), SEAT: ("numba", "sb3_contrib")}
PRINTED = {TABLES: "True True\n", STATE: "True\n", SEAT: "32\n"}


@pytest.mark.parametrize("block", [TABLES, STATE, SEAT], ids=["tables", "state", "seat"])
def test_each_block_runs_as_printed(block, capsys):
    for module in NEEDED[block]:
        pytest.importorskip(module)
    exec(compile(block, "docs/howto/batch.md", "exec"), {})
    assert capsys.readouterr().out == PRINTED[block]
