"""Avalon's heuristic over arrays does in each state what the scalar one does, as often, and its sides win as often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.language import speech
from parlour.policies.heuristic.avalon import AvalonPlayer, AvalonStyle
from scipy.stats import chi2_contingency

pytest.importorskip("numba")
batch = pytest.importorskip("parlour.envs.batch")
pytestmark = pytest.mark.slow  # kernels are compiled once for each number of players

DRAWS = 150
TABLES = [
    {"num_players": 5, "rules": "official", "talk": False},
    {"num_players": 5, "rules": "official", "talk": True},
    {"num_players": 6, "rules": "official", "talk": True},
    {
        "num_players": 7,
        "rules": "reference",
        "roles": (
            *(game.MERLIN, game.PERCIVAL, game.SERVANT, game.SERVANT),
            *(game.MORDRED, game.ASSASSIN, game.OBERON),
        ),
    },
]


USUAL = AvalonStyle()
BOLD = AvalonStyle(cover=0.9, dirty=0.6, clean=0.1, first=0.8, picky=0.7)


def choose(tables: Any, style: AvalonStyle = USUAL) -> Any:
    from parlour.policies.heuristic.batch.avalon import choose

    actions = np.zeros(tables.num_envs, np.int32)
    choose(tables, np.ones(tables.num_envs), actions, style)
    return actions


def played_alike(options: dict[str, Any], deal: int, style: AvalonStyle = USUAL) -> list[tuple[str, float]]:
    """Kind of move and p value of every decision of one game by heuristic: what both draw from the same distribution.

    All tables hold the same game, so that the kernel draws `DRAWS` times from the same state.
    """
    tables = batch.make("avalon_v0", num_envs=DRAWS, features="belief", **options)
    tables.reset(seed=deal)
    rng = np.random.default_rng(deal)
    state = tables.game.initial()
    dealt = tables.game.nature(state, rng)
    turns = tables.deal(np.tile(dealt.args, (DRAWS, 1)))
    state = tables.game.apply(state, dealt)
    players: dict[int, AvalonPlayer] = {}
    teams = []
    while (seat := tables.game.actor(state)) != OVER:
        view = tables.game.view(state, seat)
        player = players.setdefault(seat, AvalonPlayer(view, np.random.default_rng((deal, seat)), None, style))
        scalar = [player.act(view) for _ in range(DRAWS)]
        chosen = choose(tables, style)
        assert turns.mask[0][np.unique(chosen)].all()
        batched = [tables.game.catalogue[number] for number in tables.frame.order[seat, chosen]]
        teams.append(
            (
                view.legal[0].kind,
                p_value(*([alike(player, view.side, move) for move in moves] for moves in (scalar, batched))),
            )
        )
        move = player.act(view)
        state = tables.game.apply(state, move)
        turns = tables.step(np.full(DRAWS, tables.frame.own[seat, numbers_of(tables)[move]]))
        if tables.game.actor(state) == NATURE:
            return teams  # each table draws a team of its own
    return teams


def numbers_of(tables: Any) -> dict[Move, int]:
    return {move: number for number, move in enumerate(tables.game.catalogue)}


def alike(player: AvalonPlayer, side: str, move: Move) -> Any:
    """The move; of a speech about a seat and of a team of good, how suspected the seats are.

    Of seats alike the scalar player takes any. The kernels take chances for alike that differ by less than a millionth.
    """
    if move.kind not in (speech.ACCUSE, speech.RECOMMEND) and (move.kind != game.TEAM or side == game.EVIL):
        return move
    belief = player.onlooker if side == game.EVIL and move.kind == speech.ACCUSE else player.belief
    chances = belief.evil_chance()
    seats = move.args if move.kind == game.TEAM else move.args[:1]
    return move.kind, *sorted(round(float(chances[seat]), 5) for seat in seats)


def p_value(first: list[Any], other: list[Any]) -> float:
    kinds = sorted({*first, *other}, key=str)
    counts = np.array([[drawn.count(kind) for kind in kinds] for drawn in (first, other)])
    return 1.0 if len(kinds) == 1 else float(chi2_contingency(counts).pvalue)


@pytest.mark.parametrize(
    ("options", "style"),
    [
        pytest.param(TABLES[0], USUAL, id="five"),
        pytest.param(TABLES[1], USUAL, id="five-talk"),
        pytest.param(TABLES[2], USUAL, id="six-talk", marks=pytest.mark.nightly),
        pytest.param(TABLES[3], USUAL, id="seven-reference", marks=pytest.mark.nightly),
        pytest.param(TABLES[0], BOLD, id="five-bold"),
    ],
)
def test_in_the_same_state_it_does_the_same_as_often(options, style):
    moves = [move for deal in range(2) for move in played_alike(options, deal, style)]
    kinds = {kind for kind, _ in moves}
    assert {game.TEAM, game.BALLOT, game.CARD} <= kinds
    # some states of which many are decided by chance: the smallest of 500 p values is below 1e-6 once in 2,000
    assert len(moves) > 50
    assert min(p for _, p in moves) > 1e-6, [(kind, p) for kind, p in moves if p < 1e-6]
    assert np.mean([p < 0.01 for _, p in moves]) < 0.05


def test_without_beliefs_it_says_so():
    tables = batch.make("avalon_v0", num_envs=1, num_players=5, rules="official", talk=False)
    tables.reset(seed=0)
    with pytest.raises(ParlourError, match="needs tables with beliefs; accepted: beliefs=True"):
        choose(tables)
