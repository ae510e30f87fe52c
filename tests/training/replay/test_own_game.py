"""A game from outside the registry on a replay page: what is known of it, steps and record at least; and pages of long games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parlour.training.cli import run
from parlour.training.cli.new import new_package


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a game, which `parlour new` wrote, on the import path."""
    new_package("game", "raffle", tmp_path / "package")
    monkeypatch.syspath_prepend(str(tmp_path / "package" / "raffle"))
    return tmp_path


def test_a_game_from_outside_has_steps_and_record(site, capsys, json_of):
    out = site / "games"
    assert run(["play", "raffle:GAME", "--policy", "heuristic", "--seed", "3", "--out", str(out)]) == 0
    (path,) = out.glob("*.jsonl")
    capsys.readouterr()
    page = Path(json_of(["replay", str(path), "--html", "--game", "raffle:GAME", "--json"])["page"]).read_text("utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [step["kind"] for step in data["steps"]] == ["toss", "promise", "guess", "end"]
    assert data["lines"][0]["to"] == [0]  # the coin, which its keeper alone sees
    assert len(data["lines"]) == 3
    assert not data.keys() & {"tables", "beliefs", "documents", "graphs", "alive"}
