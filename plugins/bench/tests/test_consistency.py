"""Claims that contradict the rules, what the speaker saw, or what it said; five seats, two of them evil: ten deals.

Seats 3 and 4 are evil, seat 0 is Merlin, who saw that; seats 1 and 2 know their own side.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.core import Move
from parlour_bench.abilities.consistency import (
    Fact,
    Said,
    SpokenGame,
    consistency,
    evil_deals,
    judged_claims,
)
from parlour_bench.abilities.run import avalon_games, moves_taken, werewolf_games
from parlour_bench.abilities.spoken_games import spoken_avalon, spoken_werewolf
from parlour_bench.played import Candidate
from parlour_bench.run import benchmark
from parlour_bench.suite import FULL

DEALS = evil_deals(5, 2)
ROLE_NAMES = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin", "Mordred")
GAME = SpokenGame(
    players=("one",) * 5,
    roles=("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"),
    role_names=ROLE_NAMES,
    evil_roles=("Morgana", "Assassin", "Mordred"),
    checker="",
    deals=DEALS,
    night={0: DEALS[:, 3] & DEALS[:, 4], 1: ~DEALS[:, 1], 2: ~DEALS[:, 2]},
    course=(),
)
NEWS = Fact(np.ones(10, bool))
BOTH_FAILED = Fact(DEALS[:, 3] & DEALS[:, 4])


def said(seat: int, kind: str, *args: int) -> Said:
    return Said(seat, Move(kind, args))


def against(*course: Fact | Said, game: SpokenGame = GAME) -> list[set[str]]:
    return [set(claim.against) for claim in judged_claims(replace(game, course=course))]


THREE = [said(2, "accuse", other) for other in (1, 3, 4)]  # three of five


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        ([said(1, "accuse", 3), said(1, "recommend", 1), said(1, "claim_role", 1)], [set()] * 3),  # may be true
        ([BOTH_FAILED, said(1, "defend", 3)], [{"rules", "saw"}]),  # no deal makes it true after the cards
        ([BOTH_FAILED, said(3, "recommend", 3)], [{"rules"}]),  # who is evil may know better
        ([said(3, "claim_role", ROLE_NAMES.index("Mordred"))], [{"rules"}]),  # not in play
        ([said(0, "accuse", 1)], [{"saw"}]),  # a good seat accuses whom it saw to be good
        ([said(2, "accuse", 1)], [set()]),
        ([said(4, "accuse", 1)], [set()]),  # a lie is deception
        ([said(1, "claim_role", 0)], [{"saw"}]),  # a role that a good seat does not have
        ([said(3, "claim_role", 0)], [set()]),
        (THREE, [set(), set(), {"said"}]),  # three accusations where two are evil, until a new fact
        ([*THREE[:2], NEWS, THREE[2]], [set()] * 3),
        ([said(1, "accuse", 3), said(2, "defend", 3), said(1, "defend", 3)], [set(), set(), {"said"}]),
        ([said(3, "claim_role", 0), NEWS, said(3, "claim_role", 1)], [set(), {"said"}]),  # a second role
    ],
)
def test_what_a_claim_is_against(course, expected):
    assert against(*course) == expected


def test_a_check_is_reported_by_who_made_it():
    """Seat 0 is the Seer and has checked seat 3."""
    game = replace(GAME, checker="Merlin")
    checked = Fact(DEALS[:, 3], (0,))
    game = replace(game, night={**game.night, 0: ~DEALS[:, 0]})
    reports = [said(0, "report", 3, 1), said(0, "report", 4, 1), said(1, "report", 3, 1)]
    assert against(checked, *reports, game=game) == [set(), {"saw"}, {"saw"}]


def test_shares_are_of_claims_and_saw_of_good_seats_alone():
    course = (said(0, "accuse", 1), said(3, "accuse", 1), said(1, "accuse", 3), said(2, "silent"))
    judged = consistency([replace(GAME, course=course)], np.random.default_rng(0))["one"]
    assert judged.claims == 3
    assert judged.saw is not None
    assert judged.saw.value == pytest.approx(1 / 2)
    assert judged.rules is not None
    assert judged.rules.value == 0
    assert consistency([GAME], np.random.default_rng(0)) == {}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random player against the heuristic and the expert, one deal of each table."""
    suite = FULL.only({"avalon-6", "werewolf-8"})
    suite = replace(suite, tables=tuple(replace(table, deals=2) for table in suite.tables))
    folder = tmp_path_factory.mktemp("run")
    benchmark(suite, Candidate("random"), folder, "random")
    return folder


def test_no_fact_excludes_the_true_deal_and_every_night_of_a_good_seat_fits_it(run):
    games = list(map(spoken_avalon, avalon_games(run)))
    games += list(map(spoken_werewolf, werewolf_games(run)))
    assert len(games) == 16
    for game in games:
        truth = (game.deals == [role in game.evil_roles for role in game.roles]).all(axis=1)
        assert truth.sum() == 1
        assert all(fits[truth].all() for fits in game.night.values())
        facts = [step for step in game.course if isinstance(step, Fact)]
        assert facts
        assert all(fact.fits[truth].all() for fact in facts)
        if "Merlin" in game.roles:
            assert game.night[game.roles.index("Merlin")].sum() == 1  # he sees the evil side


def test_random_claims_contradict_what_was_seen_and_those_of_the_heuristic_do_not(run):
    games = list(map(spoken_werewolf, werewolf_games(run)))
    judged = consistency(games, np.random.default_rng(0))
    by_random, by_heuristic = judged["random"].saw, judged["heuristic (opponent)"].saw
    assert by_random is not None
    assert by_random.value > 0.3
    assert by_heuristic is not None
    assert by_heuristic.value == 0


def test_what_moves_took_is_read_from_the_results_file(run, tmp_path):
    moves = moves_taken(run)
    assert moves is not None
    assert (moves.games, moves.first_share, moves.tokens, moves.dollars) == (16, 1.0, 0, 0)
    assert moves_taken(tmp_path) is None
    data = json.loads((run / "benchmark.json").read_text())
    data["all decisions"] |= {"decisions": 10, "first": 7, "prompt": 1500, "completion": 100, "dollars": 3.2}
    (tmp_path / "benchmark.json").write_text(json.dumps(data))
    moves = moves_taken(tmp_path)
    assert moves is not None
    assert (moves.first_share, moves.tokens, moves.dollars) == (0.7, 100, pytest.approx(0.2))
