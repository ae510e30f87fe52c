"""The benchmark: fixed deals from both sides, one number with its interval, a file that is the same when it is run again.

Runs here are of the quick suite, mostly of its smallest table: Werewolf of four, 32 games.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.decisions import Decisions
from parlour.training.cli import run
from parlour.training.report.result_table import markdown_table
from parlour.training.report.verdicts import SIGN
from parlour_bench.cli import score_parts
from parlour_bench.compare import compare
from parlour_bench.played import Candidate, play_suite
from parlour_bench.result import Part, points_of, scores, strata_of
from parlour_bench.results_file import (
    REFERENCE_PLAYERS,
    RESULTS,
    BenchmarkResult,
    read_result,
    reference_file,
    references,
)
from parlour_bench.strata import stratified_mean
from parlour_bench.suite import (
    EARLIER,
    FULL,
    HEURISTIC,
    QUICK,
    STRANGERS,
    SUITES,
    VERSION,
    BenchmarkTable,
    Suite,
)
from parlour_bench.verdict import expectation, half, verdict_of

from tests.policies.llm.servers import KEY, Answer, Call, Server

DOCS = Path(__file__).parents[1] / "docs" / "score.md"
DIGESTS = {
    ("full", 2): "c8c3aefbf6366bd799be80e5dd19d85f81e665246e5e9e57fc73f4221cce25c0",
    ("quick", 2): "eed0ac03432959d189f0d901c8d278141287601e2173edc7b1c57c02813309cc",
    ("strangers", 3): "ce87b09ffa31b0fe4d1245b3145ad7fb985c797c38c9b98b33ab1d0ee766ea15",
    ("full", 1): "43c6fd4c777ff553c36e379be9e30fcefe5f207cee80e9be2f0f5faacaded003",
    ("quick", 1): "14d1d54f74cb656d56f17a711f9c8bd477d902afdcbff73c80ff473e089744a4",
}
"""By version. Whoever changes a suite gives it a new version, keeps the old one and runs benchmark_rows.py."""
SMALL = ("--quick", "--table", "werewolf-4")


def bench(out: Path, *words: str) -> dict:
    """Run the command; the results file."""
    assert run(["benchmark", *words, "--out", str(out), "--json"]) == 0
    return json.loads((out / RESULTS).read_text())


# -- the deals of a day ------------------------------------------------------------------------------------------------


def test_the_deals_of_a_day_are_the_same_for_everybody_and_others_than_those_of_the_suite_and_of_other_days():
    fresh, again, other = QUICK.fresh("2026-11-26"), QUICK.fresh("2026-11-26"), QUICK.fresh("2026-11-27")
    assert fresh == again
    assert fresh.digest == again.digest
    firsts = [next(iter(suite.tables[0].numbers())) for suite in (QUICK, fresh, other)]
    assert firsts == [2_197_483_648, 2_392_167_570, next(iter(other.tables[1].numbers()))]
    assert len({QUICK.digest, fresh.digest, other.digest}) == len(set(firsts)) == 3
    assert fresh.usual == QUICK
    assert str(fresh) == "parlour-bench-1, quick, deals of 2026-11-26"


@pytest.mark.parametrize("day", ["2026-13-01", "20261126", "today", ""])
def test_what_is_no_day_is_refused_in_one_line(day):
    with pytest.raises(ParlourError, match="accepted: YYYY-MM-DD"):
        QUICK.fresh(day)


def test_results_of_a_day_are_read_again_and_compared_with_none_of_another(tmp_path, capsys, error_of):
    for day in ("26", "27"):
        bench(tmp_path / day, *SMALL, "--policy", "random", "--fresh", f"2026-11-{day}")
    result = read_result(tmp_path / "26")
    assert result.suite == QUICK.fresh("2026-11-26").only(["werewolf-4"])
    assert shlex.split(json.loads((tmp_path / "26" / RESULTS).read_text())["command"])[2:5] == [
        *("--quick", "--fresh", "2026-11-26")
    ]
    assert references(result.suite) == []
    capsys.readouterr()
    assert run(["benchmark", "compare", str(tmp_path / "26"), str(tmp_path / "26")]) == 0
    for other, reason in ((str(tmp_path / "27"), "no table in common"), ("heuristic", "two results of that day")):
        assert reason in error_of(["benchmark", "compare", str(tmp_path / "26"), other])


# -- the number --------------------------------------------------------------------------------------------------------

TWO_GAMES = Suite(
    "two",
    (
        BenchmarkTable("a", "avalon_v0", {}, 2, (HEURISTIC, "expert")),
        BenchmarkTable("b", "avalon_v0", {}, 2, (HEURISTIC,)),
        BenchmarkTable("c", "werewolf_v0", {}, 4, (HEURISTIC,)),
    ),
)


def both(good: tuple[float, ...], evil: tuple[float, ...]) -> dict:
    return {"good": good, "evil": evil}


POINTS = {
    "a": {"heuristic": both((100.0, 0.0), (100.0, 0.0)), "expert": both((0.0, 0.0), (0.0, 100.0))},
    "b": {"heuristic": both((100.0, 100.0), (100.0, 50.0))},
    "c": {"heuristic": {"village": (0.0, 0.0, 0.0, 0.0), "werewolf": (100.0, 0.0, 0.0, 0.0)}},
}


def test_each_game_counts_the_same_and_in_it_each_table_and_in_it_each_deal():
    """Table a: deals (100 + 100 + 0 + 0) / 4 = 50 and 25, mean 37.5; b: 100 and 75, 87.5; Avalon 62.5. c: 50, 0, 0, 0, mean
    12.5. Score (62.5 + 12.5) / 2."""
    scored = scores(TWO_GAMES, POINTS)
    assert {part: score.value for part, score in scored.items()} == {
        "overall": 37.5,
        "avalon_v0": 62.5,
        "avalon_v0 as good": (25 + 100) / 2,
        "avalon_v0 as evil": (50 + 75) / 2,
        "a": 37.5,
        "a against heuristic": 50.0,
        "a against expert": 25.0,
        "b": 87.5,
        "b against heuristic": 87.5,
        "werewolf_v0": 12.5,
        "werewolf_v0 as village": 0.0,
        "werewolf_v0 as werewolf": 25.0,
        "c": 12.5,
        "c against heuristic": 12.5,
    }
    assert scored["overall"].n == 8  # deals, not games
    assert all(0 <= score.low <= score.value <= score.high <= 100 for score in scored.values())
    assert scored["werewolf_v0 as village"].high > 0  # four deals that went alike do not say how all others go


def test_a_comparison_is_of_the_same_deals():
    """What both players have lies in no difference: c, which is the same for both, counts as zero on each deal."""
    other = {**POINTS, "a": {"heuristic": both((0.0, 0.0), (0.0, 0.0)), "expert": both((0.0, 0.0), (0.0, 0.0))}}
    scored = scores(TWO_GAMES, POINTS, other)
    assert scored["a"].value == 37.5
    assert scored["overall"].value == 37.5 / 4
    assert scored["c"].value == 0.0
    assert scored["c"].low == -scored["c"].high < 0
    turned = scores(TWO_GAMES, other, POINTS)
    assert {part: -row.value for part, row in turned.items()} == {part: score.value for part, score in scored.items()}


def test_parts_are_named_as_tables_show_them():
    assert [
        part.name for part in (Part(), Part("g"), Part("g", side="s"), Part("g", "t"), Part("g", "t", opponent="o"))
    ] == [*("overall", "g", "g as s", "t", "t against o")]


# -- the suites --------------------------------------------------------------------------------------------------------


def test_a_suite_is_what_its_version_says():
    assert {(suite.name, suite.version): suite.digest for suite in (*SUITES.values(), *EARLIER)} == DIGESTS


@pytest.mark.parametrize("suite", [FULL, QUICK])
def test_avalon_is_played_at_the_games_default_table(suite):
    (avalon,) = (table for table in suite.tables if table.game == "avalon_v0")
    assert avalon.configured() == BenchmarkTable("default", "avalon_v0", {}, 1, (HEURISTIC,)).configured()


def test_strangers_are_of_two_kinds():
    met = {opponent for table in STRANGERS.tables for opponent in table.opponents}
    assert met == {"mixed"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--suite", "stranger"), "suite 'stranger' is not accepted; accepted: full, quick, strangers"),
        (("--suite", "strangers", "--quick"), "--quick goes without --suite strangers; accepted: one of them"),
    ],
)
def test_a_suite_that_is_none_is_refused_in_one_line(words, message, error_of):
    assert message in error_of(["benchmark", "--policy", "random", *words])


def test_the_command_of_strangers_gives_the_same_file_and_names_the_expert(tmp_path):
    first = bench(tmp_path / "a", "--suite", "strangers", "--table", "avalon-6", "--policy", "random")
    again = shlex.split(first["command"])[2:]
    assert again[:2] == ["--suite", "strangers"]
    bench(tmp_path / "b", *again)
    assert (tmp_path / "a" / RESULTS).read_bytes() == (tmp_path / "b" / RESULTS).read_bytes()
    assert list(first["sha256"]) == ["avalon-6-talk-selfplay"]
    assert (tmp_path / "a" / "games" / "avalon-6" / "mixed").is_dir()


def test_the_deals_of_the_quick_suite_are_the_first_of_the_full_one():
    full = {table.name: table for table in FULL.tables}
    for table in QUICK.tables:
        assert (table.game, table.options) == (full[table.name].game, full[table.name].options)
        assert list(table.numbers()) == list(full[table.name].numbers())[: table.deals]


@pytest.mark.parametrize("name", SUITES)
def test_random_heuristic_and_trained_players_are_told_apart(name):
    scored = {
        reference.name: scores(reference.suite, reference.points)["overall"] for reference in references(SUITES[name])
    }
    assert list(scored) == ["trained", "heuristic", "random"]
    assert scored["random"].high < scored["heuristic"].low < scored["heuristic"].high < scored["trained"].low


@pytest.mark.parametrize("name", [name for name in REFERENCE_PLAYERS if name != "trained"])
def test_the_rows_that_come_with_parlour_are_what_the_quick_suite_gives_today(name, tmp_path):
    result = bench(tmp_path / "run", "--quick", "--policy", name)
    stored = json.loads(reference_file(QUICK, name).read_text())
    assert {**result, "versions": None} == {**stored, "versions": None}


def test_the_networks_that_the_suites_were_published_with_give_the_same_points_today(tmp_path):
    words = (
        "--table",
        "avalon-6",
        "--table",
        "werewolf-8",
        "--policy",
        "expert:style=selfplay",
        "--otherwise",
        "expert",
    )
    result = bench(tmp_path / "run", "--quick", *words)
    stored = json.loads(reference_file(QUICK, "trained").read_text())
    assert result["points"] == {name: stored["points"][name] for name in ("avalon-6", "werewolf-8")}
    assert result["sha256"] == stored["sha256"]


def test_a_player_against_itself_has_half_of_the_points():
    """Both sides of a deal are one game, seen from two sides."""
    for name in SUITES:
        own = next(reference for reference in references(SUITES[name]) if reference.name == "heuristic")
        scored = scores(own.suite, own.points)
        assert all(score.value == 50.0 for part, score in scored.items() if part.endswith("against heuristic"))


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_command_in_a_results_file_gives_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = bench(tmp_path / "first", *SMALL, "--policy", "random")
    again = shlex.split(first["command"])
    assert again[:2] == ["parlour", "benchmark"]
    bench(tmp_path / "second", *again[2:])
    assert (tmp_path / "first" / RESULTS).read_bytes() == (tmp_path / "second" / RESULTS).read_bytes()
    assert first["deals"] == {"werewolf-4": [2**31 + 50_000_000, 16]}
    assert first["suite"] == {
        "published": "parlour-bench-1",
        "name": "quick",
        "version": VERSION,
        "sha256": QUICK.only(["werewolf-4"]).digest,
    }
    assert first["all decisions"]["own"] == first["all decisions"]["decisions"] > 100


def test_a_run_that_was_killed_goes_on_to_the_same_file(tmp_path):
    out = tmp_path / "run"
    bench(out, *SMALL, "--policy", "random")
    whole = (out / RESULTS).read_bytes()
    games = sorted((out / "games").rglob("*.jsonl"))
    assert len(games) == 32
    (out / RESULTS).unlink()
    games[3].write_bytes(games[3].read_bytes()[:700])
    for game in games[9:]:
        game.unlink()
    bench(out, *SMALL, "--policy", "random")
    assert (out / RESULTS).read_bytes() == whole
    assert sorted((out / "games").rglob("*.jsonl")) == games


def test_other_settings_need_another_folder(tmp_path, capsys):
    bench(tmp_path / "run", *SMALL, "--policy", "random")
    assert run(["benchmark", *SMALL, "--policy", "heuristic", "--out", str(tmp_path / "run")]) == 2
    assert 'holds a run with another configuration (policy "random"' in capsys.readouterr().err


def test_processes_do_not_change_the_file(tmp_path):
    bench(tmp_path / "one", *SMALL, "--policy", "random")
    bench(tmp_path / "two", *SMALL, "--policy", "random", "--workers", "2")
    assert (tmp_path / "one" / RESULTS).read_bytes() == (tmp_path / "two" / RESULTS).read_bytes()


def test_the_files_that_play_are_in_the_file_by_their_hashes(tmp_path):
    from hashlib import sha256

    from parlour.policies.experts.catalogue import DATA

    stored = json.loads(reference_file(QUICK, "trained").read_text())
    hashed = {name: sha256((DATA / f"{name}.npz").read_bytes()).hexdigest() for name in stored["sha256"]}
    assert stored["sha256"] == hashed
    assert set(hashed) == {"avalon-6-talk-selfplay", "werewolf-8-paper-selfplay"}
    file = tmp_path / "habits.json"
    file.write_text("{}")
    from parlour_bench.results_file import _paths

    assert _paths(f"heuristic:habits={file}") == [str(file)]
    assert _paths("heuristic") == []


# -- faults ------------------------------------------------------------------------------------------------------------

MUMBLER = '''
class Mumbler:
    """Says what no table can read."""

    name, wants = "mumbler", "text"

    def reset(self, seat, seed):
        pass

    def act(self, observation, info):
        return "Hm?!"
'''


def test_words_that_no_table_can_read_are_counted_and_lose(tmp_path, monkeypatch):
    (tmp_path / "mumbling.py").write_text(MUMBLER)
    monkeypatch.syspath_prepend(tmp_path)
    result = bench(tmp_path / "run", *SMALL, "--policy", "mumbling:Mumbler")
    made = result["all decisions"]
    assert made["own"] == 0
    assert made["replaced"]
    assert made["refused"]["unreadable"] > made["decisions"]  # it is asked again before the table decides
    assert result["scores"] is None
    assert sum(map(sum, result["points"]["werewolf-4"]["heuristic"].values())) < 30 * 32


# -- a score rests on the player's own decisions -----------------------------------------------------------------------


class Useless(Server):
    """A model that never answers with anything a question can use."""

    def completion(self, call: Call) -> Answer:
        return Answer(self.completed({"role": "assistant", "content": "Hm?!"}))


@pytest.fixture(scope="module")
def useless(tmp_path_factory) -> Path:
    """The run of a model that never answers usefully."""
    out = tmp_path_factory.mktemp("useless")
    with Useless() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        model = ("--model", server.MODEL, "--base-url", server.base_url, "--concurrency", "4")
        with redirect_stdout(StringIO()) as shown:
            assert run(["benchmark", *SMALL, *model, "--out", str(out)]) == 2  # no answer was its own
        assert server.asked
    (out / "shown.txt").write_text(shown.getvalue())
    return out


def run_again(result: Path, out: Path, own: int) -> Path:
    """A results file whose player made so many of its decisions itself."""
    data = json.loads((result / RESULTS).read_text())
    data["all decisions"]["own"] = own
    (out / RESULTS).write_text(json.dumps(data))
    return out


@pytest.mark.slow
def test_a_model_that_never_answers_usefully_has_no_score_in_the_results_file(useless):
    data = json.loads((useless / RESULTS).read_text())
    made = data["all decisions"]
    assert made["own"] == 0 < made["decisions"]
    assert data["scores"] is None
    assert data["no_score"] == f"No score: chat @ tester decided 0 of {made['decisions']} moves itself."


@pytest.mark.slow
@pytest.mark.parametrize("form", ["report.md", "report.html"])
def test_a_report_shows_a_dash_and_the_reason_instead_of_a_score(form, useless):
    text = (useless / form).read_text()
    reason = json.loads((useless / RESULTS).read_text())["no_score"]
    assert text.index(reason) < text.index("werewolf_v0")  # the verdict comes first
    assert text.count(reason) == 2  # and the table says it below
    cells = re.sub(r"</?(?:bdi|td)[^>]*>", "|", text).replace(" ", "").replace("||", "|").replace("||", "|")
    assert re.search(r"\|overall\|16\|-\|\d", cells)
    assert "<svg" not in text  # no picture of a score


@pytest.mark.slow
def test_the_terminal_shows_a_dash_and_the_reason_instead_of_a_score(useless):
    shown = " ".join((useless / "shown.txt").read_text().split())
    reason = read_result(useless).no_score
    assert shown.endswith(reason)
    assert shown.count(reason) == 2
    assert re.search(r"overall \W*16 \W*- \W*\d", shown)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_a_comparison_with_a_player_without_a_score_says_so_and_has_no_number(turned, useless, output_of, json_of):
    names = ["heuristic", str(useless)] if turned else [str(useless), "heuristic"]
    output = json_of(["benchmark", "compare", *names, "--json"])
    assert output["differences"] is None
    assert output["verdict"] == read_result(useless).no_score
    assert output_of(["benchmark", "compare", *names]).strip() == read_result(useless).no_score


def test_below_nineteen_in_twenty_a_score_has_a_sign_beside_it(tmp_path, capsys, json_of):
    bench(tmp_path, *SMALL, "--policy", "random")
    sure = read_result(tmp_path)
    decisions = sure.own[1]
    doubtful = read_result(run_again(tmp_path, tmp_path, decisions * 9 // 10))
    for result, signed in ((sure, False), (doubtful, True)):
        table = next(part for part in score_parts(result, Decisions(), "") if not isinstance(part, str))
        assert all((SIGN in row[2]) == signed for row in table.texts())
        assert ("of the decisions of random were its own" in verdict_of(result)) == signed
    capsys.readouterr()
    output = json_of(["benchmark", "compare", str(tmp_path), "heuristic", "--json"])
    assert run(["benchmark", "compare", str(tmp_path), "heuristic"]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if re.search("[│]", line)]
    assert shown
    assert all(SIGN in line for line in shown)
    assert output["differences"]["overall"]["n"] == 16
    assert "of the decisions of random were its own" in output["verdict"]


# -- comparing ---------------------------------------------------------------------------------------------------------


def test_two_results_are_compared_by_file_folder_or_name(tmp_path, capsys, output_of, json_of):
    bench(tmp_path / "run", *SMALL, "--policy", "random")
    capsys.readouterr()
    output = json_of(["benchmark", "compare", str(tmp_path / "run"), "heuristic", "--json"])
    assert output["tables"] == ["werewolf-4"]
    assert output["differences"]["overall"]["high"] < 0
    assert output["differences"]["overall"]["p"] < 0.05
    assert run(["benchmark", "compare", "heuristic", str(tmp_path / "run" / RESULTS), "--json"]) == 0
    turned = json.loads(capsys.readouterr().out)["differences"]["overall"]
    assert turned["mean"] == -output["differences"]["overall"]["mean"]
    assert "Benchmark parlour-bench-1, quick, same deals: heuristic less random" in " ".join(
        output_of(["benchmark", "compare", "heuristic", str(tmp_path / "run")]).split()
    )


def test_results_of_two_suites_cannot_be_compared():
    quick, full = (next(iter(references(SUITES[name]))) for name in ("quick", "full"))
    with pytest.raises(ParlourError, match="no table in common; accepted: two results of one suite"):
        compare(quick, full)


def test_a_player_is_no_better_than_itself():
    own = references(QUICK)[0]
    _, differences = compare(own, BenchmarkResult("again", own.suite, own.points))
    assert all(
        (difference.value, difference.low, difference.p) == (0.0, -difference.high, 1.0)
        for difference in differences.values()
    )


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "there is nobody to measure; accepted: --model NAME, or --policy PLAYER"),
        ("--policy human", "policy 'human' is not accepted in a benchmark"),
        ("--policy random --otherwise human", "policy 'human' is not accepted in a benchmark"),
        (
            "--policy random --table chess",
            "table 'chess' is not accepted; accepted: avalon-6, werewolf-4, werewolf-8",
        ),
        ("--policy expert", "there is no expert for werewolf_v0"),
        ("--policy nobody --otherwise random", "policy 'nobody' is not accepted"),
        (
            "--policy random --on-failure skip-game",
            "on_failure 'skip-game' is not accepted in a benchmark of common deals",
        ),
        ("compare heuristic random", "'heuristic' and 'random' tell no suite"),
        ("compare missing random", "there is no results file 'missing'"),
    ],
)
def test_what_a_benchmark_does_not_accept(words, why, tmp_path, monkeypatch, error_of):
    monkeypatch.chdir(tmp_path)
    quick = [] if words.startswith("compare ") else ["--quick"]
    assert why in error_of(["benchmark", *quick, *words.split()], notes="skip-game" in words)
    assert not (tmp_path / "runs").exists()


def of_version_1(out: Path, player: str) -> Path:
    """A results file of the quick suite's version 1: werewolf-4 with 12 deals, all lost."""
    suite = next(suite for suite in EARLIER if suite.name == "quick").only(["werewolf-4"])
    lost = {"village": [0] * 12, "werewolf": [0] * 12}
    data = {
        "player": player,
        "suite": {"name": suite.name, "version": suite.version, "sha256": suite.digest},
        "tables": ["werewolf-4"],
        "points": {"werewolf-4": {"heuristic": lost}},
    }
    out.mkdir()
    (out / RESULTS).write_text(json.dumps(data))
    return out


def test_results_of_an_earlier_version_still_open_and_compare_with_each_other(tmp_path, output_of):
    first, other = (of_version_1(tmp_path / name, name) for name in ("one", "other"))
    result = read_result(first)
    assert scores(result.suite, result.points)["overall"].value == 0.0
    assert references(result.suite) == []
    assert verdict_of(result).startswith("one scores 0.0 points of 100 [0.0, ")
    assert "version 1" in " ".join(output_of(["benchmark", "compare", str(first), str(other)]).split())


@pytest.mark.parametrize("turned", [False, True])
def test_results_of_two_versions_are_not_compared(tmp_path, error_of, turned):
    names = [str(of_version_1(tmp_path / "old", "old")), "heuristic"]
    error = error_of(["benchmark", "compare", *(names[::-1] if turned else names)])
    assert "'old' played version 1" in error or "'old' version 1" in error
    assert "accepted: two results of one version" in error


def test_a_file_of_an_unknown_version_is_refused(tmp_path):
    data = json.loads(reference_file(QUICK, "random").read_text())
    (tmp_path / RESULTS).write_text(json.dumps({**data, "suite": {**data["suite"], "version": 0}}))
    with pytest.raises(
        ParlourError, match=r"another suite or version of it; accepted: parlour-bench-1, full, .*version 1$"
    ):
        read_result(tmp_path)


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_the_quick_suite_says_how_long_its_interval_will_be_and_which_difference_it_can_show(tmp_path, capsys):
    bench(tmp_path, *SMALL, "--policy", "random")
    errors = capsys.readouterr().err
    small = QUICK.only(["werewolf-4"])
    assert expectation(small) in errors
    assert expectation(small).startswith("Benchmark parlour-bench-1, quick: 32 games.")
    longest = max(half(scores(QUICK, reference.points)["overall"]) for reference in references(QUICK))
    assert f"will be {ceil(longest)} points to each side or more" in expectation(QUICK)
    # 28 deals show 15.9 points, so 5 points take 28 x (15.9 / 5)^2 = 284, up to 290 deals; 290 / 28 x 80 games = 829
    assert "about 16 points. To show 5 points would take about 830 games." in expectation(QUICK)
    assert run(["benchmark", "--help"]) == 0
    assert f"score is {ceil(longest)} to 16 points" in " ".join(re.sub("[│]", " ", capsys.readouterr().out).split())


@pytest.mark.parametrize(("suite", "drawn_from"), [(FULL, FULL), (QUICK, FULL), (STRANGERS, STRANGERS)], ids=str)
def test_intervals_cover_the_score_of_a_player_whose_deals_are_drawn_from_a_reference_players(suite, drawn_from):
    """400 draws of a suite from the deals of the full one or its own: 90 to 98 of 100 within three standard errors."""
    rng = np.random.default_rng(3)
    for reference in references(drawn_from):
        of, weights = strata_of(suite, reference.points)
        truth = float(np.dot(weights, [x.mean() for x in of]))
        covered = 0
        for _ in range(400):
            chosen = [x[rng.integers(len(x), size=t.deals)] for x, t in zip(of, suite.tables, strict=True)]
            low, high = stratified_mean(chosen, weights, (0.0, 100.0)).ends
            covered += low - 1e-9 <= truth <= high + 1e-9
        assert 0.86 < covered / 400 < 0.995, reference.name


@pytest.mark.parametrize("where", ["suite", "tables", "points", "player"])
def test_a_damaged_results_file_is_refused_in_one_line(where, tmp_path):
    data = json.loads(reference_file(QUICK, "random").read_text())
    file = tmp_path / RESULTS
    for wrong in (None, 7, [], {}, ["werewolf-4"], {"name": "quick", "version": 0, "sha256": ""}):
        if where == "player":
            file.write_text(json.dumps({key: value for key, value in data.items() if key != where}))
        else:
            file.write_text(json.dumps({**data, where: wrong}))
        with pytest.raises(ParlourError, match=r"accepted: ") as refused:
            read_result(file)
        assert "\n" not in str(refused.value)


# -- a model at a server -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of `parlour serve endpoint` in a process of its own, answered by heuristics."""
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "parlour.training.cli", "serve", "endpoint", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield re.search(r"http://\S+/v1", process.stdout.readline())[0]
        finally:
            process.terminate()


@pytest.mark.slow
def test_a_model_at_parlours_own_server_has_the_same_file_twice_with_its_questions_and_tokens(
    served, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    model = (*SMALL, "--model", "heuristic", "--base-url", served)
    result = bench(tmp_path / "one", *model)
    bench(tmp_path / "two", *model, "--concurrency", "2")
    assert (tmp_path / "one" / RESULTS).read_bytes() == (tmp_path / "two" / RESULTS).read_bytes()
    assert result["player"] == "chat @ heuristic"
    made = result["all decisions"]
    assert made["own"] == made["decisions"] > 0
    assert made["requests"] == made["questions"]["chat.take_turn"]["asked"] > 100
    assert made["prompt"] > 0 < made["completion"]
    assert made["dollars"] is None  # no price is known for it
    assert result["model"]["base_url"] == served
    assert not {"cache", "key_env", "concurrency"} & set(result["model"])
    # the heuristic of `chat` is any option, and the heuristic has 50 points here
    rule = read_result(tmp_path / "one")
    _, less = compare(rule, read_result(reference_file(QUICK, "heuristic")))
    assert less["overall"].value < -25


# -- the page ----------------------------------------------------------------------------------------------------------


def reference_table() -> str:
    """The table of docs/score.md."""
    rows = []
    for suite in SUITES.values():
        for reference in references(suite):
            scored = scores(suite, reference.points)
            parts = [
                scored[part].value if part in scored else None
                for part in ("avalon_v0", "werewolf_v0", "murder_mystery_v0")
            ]
            shown = ["-" if mean is None else f"{mean:.1f}" for mean in parts]
            overall = f"{scored['overall'].value:.1f} {scored['overall'].interval('.1f')}"
            rows.append((suite.name, f"`{reference.name}`", overall, *shown))
    return markdown_table(("suite", "player", "score", "Avalon", "Werewolf", "murder mystery"), rows)


def test_the_page_shows_the_rows_that_come_with_parlour():
    assert reference_table() in DOCS.read_text()


def test_a_whole_run_without_a_folder_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = Suite("small", (BenchmarkTable("coins", "werewolf_v0", {"num_players": 4}, 2, (HEURISTIC,)),))
    played = play_suite(small, Candidate("random"))
    assert len(points_of(played)["coins"]["heuristic"]["village"]) == 2
    assert list(tmp_path.iterdir()) == []
