"""docs/howto/retrievers.md says what is true: its blocks run, and print what they should; its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from parlour.envs.mediated_qa import retrievers
from parlour.envs.mediated_qa.actions import KINDS
from parlour.envs.mediated_qa.retrieve import STOPPING_SCORES

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "howto" / "retrievers.md").read_text("utf-8")
PARTS, ACTIONS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(block: str) -> None:
    exec(compile(block, "docs/howto/retrievers.md", "exec"), {"__name__": "page"})


def test_parts_of_ones_own(capsys):
    run(PARTS)
    assert capsys.readouterr().out == "Telby: Telby lies on the river Orra. -> Orra True\n"


def test_actions_of_ones_own(capsys):
    run(ACTIONS)
    lines = dict(line.rsplit(": ", 1) for line in capsys.readouterr().out.splitlines())
    earned = {name: float(utility) for name, utility in lines.items()}
    static = next(name for name in earned if name.startswith("best static"))
    assert list(earned)[:3] == ["learned mediator", "no retrieval", "always words, hasty, trust"]
    assert earned["no retrieval"] < earned[static] <= earned["oracle"]
    assert earned["learned mediator"] > earned["no retrieval"]


def test_the_numbers_of_the_page():
    assert f"k1 = {retrievers.K1}, b = {retrievers.B}" in PAGE
    assert f"from cosine {retrievers.LEAST}" in PAGE
    assert f"1 / ({retrievers.CONSTANT} + place)" in PAGE
    assert f"score {STOPPING_SCORES['shallow']:.2f} | to {STOPPING_SCORES['deep']:.2f}" in PAGE
    assert f"{retrievers.SENTENCES['shallow']} sentences | {retrievers.SENTENCES['deep']}" in PAGE
    for name in retrievers.NAMES:
        assert f"| `{name}` |" in PAGE
    for kind in (kind for kinds in KINDS for kind in kinds):
        assert f"`{kind}`" in PAGE
