"""The leaderboard: results of one suite ranked by score, and what is refused on entry, in one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.training.cli import run
from parlour_bench.leaderboard import MOST_BYTES, SHIPPED, leaderboard
from parlour_bench.results_file import ABILITIES, RESULTS
from told_abilities import told_abilities

SMALL = ("--quick", "--table", "werewolf-4")
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("heuristic", "random"):
        assert run(["benchmark", *SMALL, "--policy", name, "--out", str(folder / name), "--json"]) == 0
    return folder


def changed(runs: Path, folder: Path, change: Change) -> Path:
    """The results of the random player with a change."""
    data = json.loads((runs / "random" / RESULTS).read_text("utf-8"))
    change(data)
    path = folder / "changed.json"
    path.write_text(json.dumps(data))
    return path


def test_players_are_ranked_by_score_and_compared_with_the_first_on_the_same_deals(runs):
    board = leaderboard([runs / "random", runs / "heuristic" / RESULTS])
    names = [entry.result.name for entry in board.entries]
    assert names.index("heuristic") < names.index("random")
    assert {f"{name}{SHIPPED}" for name in ("trained", "heuristic", "random")} < set(names)
    values = [entry.score.value for entry in board.entries if entry.score]
    assert values == sorted(values, reverse=True)
    first, last = board.entries[0], board.entries[names.index("random")]
    assert first.below_first is None
    assert last.below_first is not None
    assert last.below_first.value == pytest.approx(last.score.value - first.score.value)


def test_a_player_without_own_decisions_has_no_rank(runs, tmp_path):
    def disown(data: dict[str, Any]) -> None:
        data["player"], data["scores"] = "nobody", None
        data["all decisions"]["own"] = 0

    board = leaderboard([runs / "heuristic", changed(runs, tmp_path, disown)])
    assert board.entries[-1].result.name == "nobody"
    assert board.entries[-1].score is None


HOSTILE: dict[str, tuple[Change, str]] = {
    "markup in the name": (lambda data: data.update(player="<script>alert(1)</script>"), "a name that is not accepted"),
    "a name of two lines": (lambda data: data.update(player="a\nb"), "a name that is not accepted"),
    "an endless name": (lambda data: data.update(player="a" * 1000), "a name that is not accepted"),
    "better scores": (lambda data: data["scores"]["overall"].update(mean=99.0), "do not follow from its points"),
    "no scores": (lambda data: data.update(scores=None), "do not follow from its points"),
    "more own decisions than decisions": (lambda data: data["all decisions"].update(own=10**9), "impossible counts"),
    "tokens below zero": (lambda data: data["all decisions"].update(prompt=-5), "impossible counts"),
    "no counts": (lambda data: data.pop("all decisions"), "impossible counts"),
    "a deal less": (lambda data: data["points"]["werewolf-4"]["heuristic"]["village"].pop(), "is not accepted"),
    "points that no game gives": (
        lambda data: data["points"]["werewolf-4"]["heuristic"].update(village=[77] * 16),
        "is not accepted",
    ),
    "another suite": (lambda data: data["suite"].update(sha256="0"), "is of another suite"),
    "another published suite": (lambda data: data["suite"].update(published="parlour-bench-9"), "is of another suite"),
    "a day that is none": (lambda data: data["suite"].update(day="<b>"), "is not accepted"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_is_refused_in_one_line(name, runs, tmp_path, error_of):
    change, reason = HOSTILE[name]
    path = changed(runs, tmp_path, change)
    errors = error_of(["benchmark", "leaderboard", str(path), "--out", str(tmp_path / "site")]).strip()
    assert reason in errors
    assert "\n" not in errors
    assert not (tmp_path / "site").exists()


def test_a_file_of_a_hundred_megabytes_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ParlourError, match=rf"has 100,000,000 bytes; accepted: at most {MOST_BYTES:,}"):
        leaderboard([path])


def test_two_players_of_one_name_and_two_suites_are_refused(runs, tmp_path):
    with pytest.raises(ParlourError, match="two players are called 'random'"):
        leaderboard([runs / "random", runs / "random"])
    day = tmp_path / "day"
    assert run(["benchmark", *SMALL, "--policy", "random", "--fresh", "2026-11-26", "--out", str(day), "--json"]) == 0
    with pytest.raises(
        ParlourError, match="is of suite parlour-bench-1, quick, deals of 2026-11-26; accepted: parlour-bench-1, quick"
    ):
        leaderboard([runs / "random", day])


def test_the_page_and_the_figures_are_written(runs, tmp_path, capsys):
    assert run(["benchmark", "leaderboard", str(runs / "heuristic"), "--out", str(tmp_path)]) == 0
    assert "Leaderboard of parlour-bench-1, quick" in capsys.readouterr().out
    assert "<h1>Leaderboard: parlour-bench-1, quick</h1>" in (tmp_path / "leaderboard.html").read_text("utf-8")
    assert json.loads((tmp_path / "leaderboard.json").read_text("utf-8"))["tables"] == ["werewolf-4"]


# -- runs on one page ----------------------------------------------------------------------------------------------------


@pytest.fixture
def measured(runs: Path, tmp_path: Path) -> Path:
    """A run with abilities."""
    folder = copytree(runs / "random", tmp_path / "a run")
    (folder / ABILITIES).write_text(json.dumps(told_abilities()))
    return folder


def page_of(tmp_path: Path, *runs: Path) -> str:
    """What `parlour benchmark page` writes."""
    page = tmp_path / "site" / "index.html"
    assert run(["benchmark", "page", *map(str, runs), "--html", str(page)]) == 0
    return page.read_text("utf-8")


def test_a_page_of_runs_has_their_scores_and_the_commands_that_make_them_again(runs, tmp_path):
    page = page_of(tmp_path, runs / "heuristic", runs / "random")
    assert "<h1>Benchmark parlour-bench-1, quick: heuristic, random</h1>" in page
    for name in ("heuristic", "random"):
        assert f"parlour benchmark --quick --table werewolf-4 --policy {name}<" in page
    assert "skill in deduction" not in page  # nobody measured it


def test_a_page_shows_the_abilities_of_a_run_where_they_were_measured(runs, tmp_path, measured):
    page = page_of(tmp_path, runs / "heuristic", measured)
    for figure in ("0.62, n=40", "0.13, n=40", "0.44, n=40", "0.21, n=40", "0.35, n=40"):
        assert figure in page


def test_a_page_has_no_deduction_of_who_answered_fewer_than_half(tmp_path, measured):
    """49 of 100: its skill is not its own; what its moves show stays."""
    (measured / ABILITIES).write_text(json.dumps(told_abilities(own=49)))
    page = page_of(tmp_path, measured)
    assert "0.62, n=40" not in page
    assert "0.44, n=40" in page


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"player": "me"}',
        json.dumps(told_abilities() | {"deception": {"onlooker": 3}}),
        json.dumps(told_abilities() | {"deception": {"onlooker": {"mean": "<b>"}}}),
    ],
)
def test_a_file_that_holds_no_abilities_is_refused_in_one_line(text, tmp_path, measured, error_of):
    (measured / ABILITIES).write_text(text)
    error = error_of(["benchmark", "page", str(measured), "--html", str(tmp_path / "page.html")]).strip()
    assert "holds no abilities; accepted: what `parlour benchmark abilities` wrote" in error
    assert "\n" not in error
    assert not (tmp_path / "page.html").exists()
