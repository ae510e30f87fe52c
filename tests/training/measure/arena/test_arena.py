"""The arena: every player on every side of the same deals, ratings, cycles, and a directory that goes on.

Ratings are held to known answers: a table of games whose odds are known, chances that a symmetry fixes, and how often
intervals cover the truth.
"""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.arena import report
from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.arena.games import GAMES, ArenaGame, play_games
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.arena.run import arena
from parlour.training.measure.arena.strengths import fit, strengths
from parlour.training.play import rollout, seeds
from parlour.training.play.failures import Failures
from scipy.special import expit

NOBODY = (Decisions(), Decisions())
SIDES = ("good", "evil")


# -- ratings -----------------------------------------------------------------------------------------------------------


def test_strengths_are_found_again_where_every_cell_has_the_share_that_they_say():
    """Ten million games a cell, each won as often as its chance says: good 0.3 ahead; 1.0, 0.3, -1.3 as good; 0.5, 0.4, -0.9."""
    first, second = np.array([1.0, 0.3, -1.3]), np.array([0.5, 0.4, -0.9])
    games = 10_000_000
    won = games * expit(0.3 + first[:, None] - second[None]).ravel()
    fitted = fit(won[None], games, 3)[0]
    assert fitted == pytest.approx([0.3, 1.0, 0.3, 0.5, 0.4], abs=1e-5)


def test_who_wins_all_games_has_a_finite_rating_which_a_symmetry_fixes():
    """Two players win all games as good, the third none, whoever is evil: no difference as evil, so that the three rows are
    three coins. Jeffreys' prior adds in all as many half games as there are parameters, 5, a third of them to each row: of
    50 x 3 games 150 + 5/6 of 150 + 5/3 are won."""
    games = np.ones((50, 3, 3))
    games[:, 2] = 0
    estimate = strengths(games, 100, np.random.default_rng(0))
    assert estimate.expected[0] == pytest.approx([(150 + 5 / 6) / (150 + 5 / 3)] * 3, abs=1e-9)
    assert estimate.expected[2][0] == pytest.approx(5 / 6 / (150 + 5 / 3), abs=1e-9)
    assert [player.second.value for player in estimate.players] == [0.0, 0.0, 0.0]
    assert [player.ranks for player in estimate.players] == [(1, 1), (1, 1), (3, 3)]


def test_a_rating_is_the_mean_of_both_sides_and_all_ratings_add_up_to_zero():
    games = (np.random.default_rng(3).random((40, 4, 4)) < 0.6).astype(float)
    estimate = strengths(games, 100, np.random.default_rng(0))
    for player in estimate.players:
        assert player.rating.value == pytest.approx((player.first.value + player.second.value) / 2, abs=1e-5)
        assert player.rating.low < player.rating.value < player.rating.high
    for side in ("rating", "first", "second"):
        assert sum(getattr(player, side).value for player in estimate.players) == pytest.approx(0, abs=1e-4)


def test_a_side_that_everybody_wins_makes_nobody_stronger():
    """Good wins nine of ten of 1800 games, whoever plays; the prior adds five half games: odds of 1622.5 to 182.5, which are
    400 x log10(8.890) = 379.6 points."""
    games = np.ones((200, 3, 3))
    games[::10] = 0
    estimate = strengths(games, 100, np.random.default_rng(0))
    assert [player.rating.value for player in estimate.players] == [0.0, 0.0, 0.0]
    assert estimate.advantage.value == pytest.approx(379.6, abs=0.05)


def test_a_draw_is_half_a_win_for_each():
    drawn = strengths(np.full((10, 2, 2), 0.5), 100, np.random.default_rng(0))
    assert drawn.advantage.value == 0.0
    assert [player.rating.value for player in drawn.players] == [0.0, 0.0]


# -- what the games say ------------------------------------------------------------------------------------------------


def made(winners: dict, deals: int = 8, own: dict | None = None) -> ArenaResult:
    """An arena in which the winner of each cell is a function of the deal, and players decide so much of 20 moves themselves."""
    of_game = {name: Decisions(first=count, heuristic={"invalid": 20 - count}) for name, count in (own or {}).items()}
    names = tuple(dict.fromkeys(name for cell in winners for name in cell))
    config = ArenaConfig(players=names, games=deals, resamples=100)
    cells = {(a, b): winners.get((a, b), lambda k: SIDES[k % 2]) for a in names for b in names}
    played = [
        ArenaGame(k, a, b, of(k), 30, (of_game.get(a, NOBODY[0]), of_game.get(b, NOBODY[1])))
        for k in range(deals)
        for (a, b), of in cells.items()
    ]
    return ArenaResult(config, SIDES, tuple(played))


def test_a_verdict_names_no_player_with_fewer_than_half_own_decisions_and_figures_are_marked():
    always = {pair: (lambda k: "good") for pair in (("x", "y"), ("y", "x"), ("z", "x"), ("z", "y"))}
    result = made(always, own={"x": 20, "y": 18, "z": 9})
    said = report.verdict(result)
    assert "highest rating of 2 players" in said
    assert re.search(r"No score: z decided [\d,]+ of [\d,]+ moves itself\.", said)
    assert "Only 90.0 % of the decisions of y were its own." in said
    ratings = {row[3].partition(" ")[0]: row[4:] for row in report.standing_table(result).texts()}
    assert not any(of.endswith("†") for of in ratings["x"])
    assert all(of.endswith("] †") for of in ratings["y"])
    assert ratings["z"] == ("†",) * 3
    page = report.report_of(result).markdown()
    assert re.search(r"\| x \| y \| 8 \| [-+\d.]+  (-|\[.*\]) † \|", page)
    assert re.search(r"\| x \| z \| 8 \| † \| † \|", page)
    alone = report.verdict(made(always, own={"x": 20, "y": 9, "z": 9}))
    assert alone.endswith("Fewer than two players have a score.")


def wins(a: str, b: str) -> dict:
    """`a` wins against `b` on both sides of every deal."""
    return {(a, b): lambda _: "good", (b, a): lambda _: "evil"}


def test_a_cycle_is_named_and_so_it_is_where_each_wins_every_game():
    ring = made({**wins("a", "b"), **wins("b", "c"), **wins("c", "a")})
    assert ring.pairs.cycles() == [("a", "b", "c")]
    assert "Cycle: a beats b beats c beats a." in report.remarks(ring)
    assert [player.rating.value for player in ring.strengths.players] == pytest.approx([0, 0, 0], abs=1e-4)
    line = made({**wins("a", "b"), **wins("b", "c"), **wins("a", "c")})
    assert line.pairs.cycles() == []
    assert [name for name, _ in line.standing] == ["a", "b", "c"]


def test_points_of_a_pair_are_over_both_sides_of_the_same_deals():
    """a wins as good always, and as evil in the even ones of eight deals: (2 + 0) / 2 by turns, half a point in the mean."""
    result = made({("a", "b"): lambda _: "good", ("b", "a"): lambda k: SIDES[(k + 1) % 2]})
    assert result.pairs.difference("a", "b").value == 0.5
    assert result.pairs.difference("b", "a").n == 8
    assert (result.cell("a", "b").hits, result.cell("b", "a").hits, result.cell("a", "a").n) == (8, 4, 8)


def test_the_cell_that_ratings_tell_worst_is_named():
    """In a ring of winners all ratings are level, and each cell between two players is off by half."""
    a, b, share, expected = made({**wins("a", "b"), **wins("b", "c"), **wins("c", "a")}).largest_miss
    assert a != b
    assert share in (0.0, 1.0)
    assert expected == pytest.approx(0.5, abs=0.01)


# -- games -------------------------------------------------------------------------------------------------------------


def played(game: str = "template_v0", names: tuple[str, ...] = ("random", "heuristic"), games: int = 3, **how):
    env = rollout.table(game, **how)
    spec, settings = env.game_env.spec.id, dict(env.game_env.game.config)
    config = ArenaConfig(players=names, game=spec, options=settings, games=games, resamples=100)
    makers = {name: (lambda name=name: make_policy(name, spec, settings)) for name in names}
    return env, config, makers


def test_every_player_meets_every_player_and_itself_on_both_sides_of_each_deal(tmp_path):
    games = play_games(*played(games=3), tmp_path)
    assert [game.seed for game in games] == [seeds.HELD_OUT[k] for k in range(3) for _ in range(4)]
    cells = [(a, b) for a in ("random", "heuristic") for b in ("random", "heuristic")]
    assert [(game.first, game.second) for game in games] == cells * 3


def test_a_run_goes_on_behind_the_last_game_and_with_more_deals(tmp_path):
    env, config, makers = played(games=2)
    arena(env, config, makers, tmp_path / "short")
    longer = ArenaConfig(players=config.players, game=config.game, options=config.options, games=4, resamples=100)
    arena(env, longer, makers, tmp_path / "short")
    arena(env, longer, makers, tmp_path / "whole")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert {"games.jsonl", "cells.csv", "pairs.csv", "standing.csv", "summary.json", "report.md"} <= set(names)
    for name in names:
        assert (tmp_path / "short" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    kept = (tmp_path / "whole" / GAMES).read_bytes()
    assert len(kept.splitlines()) == 1 + 16
    fewer = arena(env, config, makers, tmp_path / "whole")
    assert len(fewer.played) == 8
    assert (tmp_path / "whole" / GAMES).read_bytes() == kept  # games that were played are kept


def test_a_folder_of_another_arena_is_refused(tmp_path):
    env, config, makers = played(games=1)
    arena(env, config, makers, tmp_path)
    other = ArenaConfig(players=config.players[::-1], game=config.game, options=config.options, games=1, resamples=100)
    with pytest.raises(ParlourError, match="another configuration"):
        arena(env, other, makers, tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('[2147483648, "random", "nobody", "keeper", 5, [{}, {}]]', "line 2 is of another game"),
        ('[2147483649, "random", "random", "keeper", 5, [{}, {}]]', "line 2 is of another game"),
        ('[2147483648, "random", "random", "good", 5, [{}, {}]]', "line 2 is of another game"),
        ('[2147483648, "random", "random", "keeper", 5, [{}, 3]]', "accepted: what a run of the arena left"),
        ('[2147483648, "random", "random", "keeper", 5]', "accepted: what a run of the arena left"),
        ('{"seed": 3}', "accepted: what a run of the arena left"),
        ("[2147483648,", "accepted: what a run of the arena left"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(line, message, tmp_path):
    env, config, makers = played(games=1)
    arena(env, config, makers, tmp_path)
    head = (tmp_path / GAMES).read_text().splitlines()[0]
    (tmp_path / GAMES).write_text(f"{head}\n{line}\n")
    with pytest.raises(ParlourError, match=message):
        arena(env, config, makers, tmp_path)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"players": ("random",)}, "1 player in the arena; accepted: two or more"),
        ({"players": ("random", "random")}, "'random' is in the arena twice; accepted: each player once"),
        ({"games": 0}, "games 0 is not accepted"),
        ({"seed": 2**31 - 3, "games": 4}, "seed 2147483645 is not accepted; accepted: 0..2147483644"),
        ({"seed": 10**30}, "is not accepted; accepted: 0..2147483548"),
        ({"games": 2**31 + 1}, "games 2147483649 is not accepted"),
        ({"resamples": 10}, "resamples 10 is not accepted"),
        (
            {"failures": Failures(on_failure="skip-game")},
            "on_failure 'skip-game' is not accepted in an arena of common deals",
        ),
    ],
)
def test_what_is_no_arena_is_refused(how, why):
    with pytest.raises(ParlourError, match=why):
        ArenaConfig(**{"players": ("random", "heuristic"), **how})


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_rates_all_players_and_the_result_does_not_depend_on_the_workers(tmp_path, output_of, json_of):
    words = ["arena", "template_v0", "--games", "4", "--resamples", "100"]
    output = json_of([*words, "--json", "--out", str(tmp_path / "one")])
    assert output["games"] == 16
    assert {row["player"] for row in output["standing"]} == {"random", "heuristic"}
    assert output["sides"] == ["keeper", "guesser"]
    shown = output_of([*words, "--workers", "2", "--out", str(tmp_path / "two")])
    assert "template_v0: 4 deals, 16 games" in shown
    assert "as keeper" in shown
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    with (tmp_path / "one" / "cells.csv").open() as file:
        assert next(csv.reader(file))[:4] == ["keeper", "guesser", "n", "first_won"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("mediated_qa_v0 --policy random --policy heuristic", "accepted: a game of two sides"),
        ("avalon_v0 --policy random --policy human", "policy 'human' is not accepted in an arena"),
        ("avalon_v0 --ray local --workers 2", "--workers 2 goes without --ray"),
    ],
)
def test_what_the_command_does_not_accept_is_one_line(words, why, error_of):
    assert why in error_of(["arena", *words.split()])
