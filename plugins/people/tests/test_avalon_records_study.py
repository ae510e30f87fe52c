"""`parlour reproduce avalon-records`: the published games' figures, recomputed from the records themselves."""

from __future__ import annotations

import json
import math

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.model import OfflineModel
from parlour.training.papers.cells import ReproductionSetting, StudySetting
from parlour.training.papers.report import report_of
from parlour.training.papers.reproduce import reproduce
from parlour.training.records.avalon.importing import import_records
from parlour_people.analysis.run import AnalysisSettings, analyse
from parlour_people.clone.choices import CloneConfig
from parlour_people.papers import avalon_records
from parlour_people.papers.avalon_records import COMPARISON, LOG, LOSS, compared_cells

from tests.reference_data import DATA, reference


@pytest.fixture(scope="module")
def records():
    """The published games as they lie in their files."""
    folder = reference("gpt51_avalon")
    return [json.loads(row) for path in sorted(folder.glob("*.jsonl")) for row in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def counted(records, tmp_path_factory):
    """What is counted of all games, by the usual habits, without continuations and pictures."""
    folder = tmp_path_factory.mktemp("counted")
    import_records(DATA / "gpt51_avalon", folder / "transcripts")
    settings = AnalysisSettings(pictures=False)
    analysis = analyse(folder / "transcripts", folder / "analysis", settings)
    return {
        (compared_cell.row, compared_cell.of, compared_cell.measure): compared_cell
        for compared_cell in compared_cells("avalon-records", analysis)
    }


@pytest.fixture(scope="module")
def study(records, tmp_path_factory):
    """The whole study of six games: those that were played to compare low and medium reasoning effort."""
    few = tmp_path_factory.mktemp("few")
    for effort in ("low", "medium"):
        file = f"{COMPARISON}-{effort}.jsonl"
        (few / file).write_bytes((DATA / "gpt51_avalon" / file).read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(avalon_records, "SETTINGS", AnalysisSettings(pictures=False))
        patch.setattr(avalon_records, "FOLDS", 2)
        patch.setattr(avalon_records, "CLONING", CloneConfig(folds=2, hidden=0, members=2, steps=5))
        out = tmp_path_factory.mktemp("study")
        made = reproduce("avalon-records", StudySetting(data=few, out=out))
    return made, out


def test_the_guesses_are_those_of_the_records(records, counted):
    """22 of 47 guesses named Merlin; the heuristic at the same Views 32, both 15; a good seat at random 13.9."""
    cells = counted
    guessed = [record["assassin_phase"] for record in records if record.get("assassin_phase")]
    theirs = cells["gpt-5.1", "", "right guesses"].ours
    assert (theirs.hits, theirs.n) == (sum(row["correct"] for row in guessed), len(guessed)) == (22, 47)
    ours = cells["heuristic, usual habits", "", "right guesses"]
    assert round(ours.ours.value * 47) == 32
    assert ours.difference.value == pytest.approx(10 / 47)
    assert ours.difference.low > 0
    assert cells["both, heuristic, usual habits", "", "right guesses"].ours.hits == 15
    good = [sum(seat["is_good"] for seat in record["players"]) for record in records if record.get("assassin_phase")]
    chance = cells["a good seat at random", "", "right guesses"].ours.value
    assert chance == pytest.approx(sum(1 / count for count in good) / 47)


def test_the_votes_are_those_of_the_records(records, counted):
    """A good seat's vote is right if it approves a team without an evil member or rejects one with."""
    right = votes = 0
    for record in records:
        good = {player["name"]: player["is_good"] for player in record["players"]}
        for proposal in (each for mission in record["missions"] for each in mission["proposals"]):
            clean = all(good[name] for name in proposal["team_members"])
            of_good = [vote["vote"] for vote in proposal["votes"] if good[vote["player"]]]
            right += sum((vote == "approve") == clean for vote in of_good)
            votes += len(of_good)
    cells = counted
    assert cells["gpt-5.1", "", "right votes of good seats"].ours.value == pytest.approx(right / votes)
    assert votes == 2070


def test_what_the_publishers_print_stands_beside_what_is_counted(counted):
    cells = counted
    low, medium, high = (cells["gpt-5.1", f"{effort} effort", "right guesses"] for effort in ("low", "medium", "high"))
    assert [cell.paper for cell in (low, medium, high)] == [67, 75, 100]
    assert (low.ours.hits, low.ours.n, medium.ours.hits, medium.ours.n) == (20, 44, 2, 3)
    assert high.ours is None  # none of the three games of high effort came to a guess
    wrong = cells["gpt-5.1", "wrong guesses", "hit a plain good seat"]
    assert (wrong.paper, wrong.ours.hits, wrong.ours.n) == (90, 22, 25)
    shown = {key: cell.paper for key, cell in cells.items() if cell.paper is not None}
    assert shown == {key: value for key, (value, _) in avalon_records.PUBLISHED.items()}


def test_the_table_is_as_others_are(study, capsys):
    """No two cells are the same, and the table can be shown."""
    made, _ = study
    cells = {(cell.row, cell.of, cell.measure): cell for cell in made.cells}
    assert len(cells) == len(made.cells)
    rates = [cell.ours for cell in made.cells if cell.ours is not None and cell.ours.hits is not None]
    assert all(0 <= rate.low <= rate.value <= rate.high <= 1 for rate in rates)
    report = report_of(made, OfflineModel())
    json.dumps(report.as_json(), allow_nan=False)
    report.show()
    text = " ".join(capsys.readouterr().out.split())
    assert "6 recorded games of gpt-5.1; ours played by heuristics (no language model)" in text
    assert all(remark[:30] in text for remark in made.remarks)


def test_every_belief_is_told_beside_chance_and_the_usual_habits(study):
    """Five players have ten evil sides: who thinks them all alike loses log 10 at each quest."""
    made, _ = study
    losses = {cell.row: cell for cell in made.cells if cell.measure == LOSS and not cell.of}
    assert losses["chance"].ours.value == pytest.approx(math.log(10))
    assert losses["usual habits"].ours.value < math.log(10)
    assert {"learned habits", "learned habits, words"} < set(losses)
    assert all(loss.difference is not None for row, loss in losses.items() if row.startswith("learned"))


def test_decisions_are_foretold_by_the_clone_and_by_others(study):
    """Of two ballots chance foretells one in two: a log likelihood of -log 2."""
    made, _ = study
    votes = {(cell.row, cell.measure): cell for cell in made.cells if cell.of == "vote"}
    assert votes["chance", LOG].ours.value == pytest.approx(-math.log(2))
    assert votes["clone", LOG].difference is None
    apart = votes["chance", LOG].difference.value
    assert apart == pytest.approx(votes["chance", LOG].ours.value - votes["clone", LOG].ours.value)


def test_the_report_says_where_everything_is(study):
    _, out = study
    text = (out / "report.md").read_text("utf-8")
    assert text.startswith("# avalon-records: 6 recorded games of gpt-5.1\n")
    for path, _ in avalon_records.STAGES:
        assert f"]({path})" in text
        assert (out / path).exists()


def test_the_study_needs_records(tmp_path):
    with pytest.raises(ParlourError, match="accepted: --data DIR"):
        reproduce("avalon-records", ReproductionSetting(out=tmp_path))
