"""`parlour reproduce avalon-records`: the published games' figures, recomputed from the records themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.model import OfflineModel
from parlour.training.avalon.analysis.run import AnalysisSettings
from parlour.training.cli import reproduce as command
from parlour.training.reproduce import ReproductionSetting, avalon_records, reproduce
from parlour.training.reproduce.cells import printed

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "gpt51_avalon"


@pytest.fixture(scope="module")
def records():
    """The published games as they lie in their files."""
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is not there: the published games are not part of this repository")
    return [json.loads(line) for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def study(records, tmp_path_factory):
    """The study of all games, without continuations and pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(avalon_records, "SETTINGS", AnalysisSettings("none", pictures=False))
        out = tmp_path_factory.mktemp("study")
        made = reproduce("avalon-records", ReproductionSetting(data=DATA, out=out))
    return {(one.row, one.of, one.measure): one for one in made.cells}, out, made


def test_the_guesses_are_those_of_the_records(records, study):
    """22 of 47 guesses named Merlin; the heuristic at the same Views 32, both 15; a good seat at random 13.9."""
    cells, _, _ = study
    guessed = [one["assassin_phase"] for one in records if one.get("assassin_phase")]
    theirs = cells["gpt-5.1", "", "right guesses"].ours
    assert (theirs.hits, theirs.n) == (sum(one["correct"] for one in guessed), len(guessed)) == (22, 47)
    ours = cells["heuristic, usual habits", "", "right guesses"]
    assert round(ours.value.value * 47) == 32
    assert ours.value_difference.value == pytest.approx(10 / 47)
    assert ours.value_difference.low > 0
    assert cells["both", "", "right guesses"].ours.hits == 15
    good = [sum(player["is_good"] for player in one["players"]) for one in records if one.get("assassin_phase")]
    chance = cells["a good seat at random", "", "right guesses"].value.value
    assert chance == pytest.approx(sum(1 / count for count in good) / 47)


def test_the_votes_are_those_of_the_records(records, study):
    """A good seat's vote is right if it approves a team without an evil member or rejects one with."""
    right = votes = 0
    for one in records:
        good = {player["name"]: player["is_good"] for player in one["players"]}
        for proposal in (each for mission in one["missions"] for each in mission["proposals"]):
            clean = all(good[name] for name in proposal["team_members"])
            of_good = [vote["vote"] for vote in proposal["votes"] if good[vote["player"]]]
            right += sum((vote == "approve") == clean for vote in of_good)
            votes += len(of_good)
    cells, _, _ = study
    assert cells["gpt-5.1", "", "right votes of good seats"].value.value == pytest.approx(right / votes)
    assert votes == 2070


def test_what_the_publishers_print_stands_beside_what_is_counted(study):
    cells, _, _ = study
    low, medium, high = (cells["gpt-5.1", f"{effort} effort", "right guesses"] for effort in ("low", "medium", "high"))
    assert [one.paper for one in (low, medium, high)] == [67, 75, 100]
    assert (low.ours.hits, low.ours.n, medium.ours.hits, medium.ours.n) == (20, 44, 2, 3)
    assert high.ours is None  # none of the three games of high effort came to a guess
    wrong = cells["gpt-5.1", "wrong guesses", "hit a plain good seat"]
    assert (wrong.paper, wrong.ours.hits, wrong.ours.n) == (90, 22, 25)


def test_the_table_is_as_others_are(study, capsys):
    """Every figure that is printed stands in a cell, no two cells are the same, and the table can be shown."""
    cells, _, made = study
    assert len(cells) == len(made.cells)
    shown = {key: one.paper for key, one in cells.items() if one.paper is not None}
    assert shown == {key[1:]: value for key, (value, _) in printed().items() if key[0] == made.name}
    for one in made.cells:
        assert one.ours is None or 0 <= one.ours.low <= one.ours.rate <= one.ours.high <= 1
    json.dumps(made.as_json(), allow_nan=False)
    command.show_reproduction(made, OfflineModel())
    told = " ".join(capsys.readouterr().out.split())
    assert "94 recorded games of gpt-5.1; ours played by heuristics (no language model)" in told
    assert all(one[:30] in told for one in made.remarks)


def test_the_report_says_where_everything_is(study):
    _, out, _ = study
    text = (out / "report.md").read_text("utf-8")
    assert text.startswith("# 94 recorded games of gpt-5.1\n")
    for path in ("transcripts", "analysis/report.md"):
        assert f"]({path})" in text
        assert (out / path).exists()
    assert "| gpt-5.1 | wrong guesses | 90 % | 88.0 % [70.0, 95.8] | 25 |" in text


def test_the_study_needs_records(tmp_path):
    with pytest.raises(ParlourError, match="accepted: --data DIR"):
        reproduce("avalon-records", ReproductionSetting(out=tmp_path))
