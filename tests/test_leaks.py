"""No seat learns what it may not know (DESIGN.md section 6, rule sheet of Avalon: "character roles").

The re-deal test: take a game, a seat, and another deal of the roles in which that seat holds the same role and saw the
same night. Play the same visible moves: the same speeches, teams and votes, and secret cards and refusals chosen so that
what the moderator tells comes out the same. Then the seat's prose, numbers, mask and info must be the same, byte for
byte, at every step; and so must everything that is shown to the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs import registry
from parlour.envs.aec import GameEnv
from parlour.envs.avalon.vocabulary import BALLOT, CARD, DEALT, EXPOSED, FAILS, GUESS, PASS, ROLES, VOTES
from parlour.envs.core import NATURE, Move
from parlour.envs.testing.leaks import everything

MORDRED_AND_OBERON = ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Mordred", "Oberon"]
EVERYBODY = ["Merlin", "Percival", *["Loyal Servant"] * 4, "Morgana", "Assassin", "Mordred", "Oberon"]
TABLES: list[dict[str, Any]] = [
    {"num_players": 5, "rules": "paper"},
    {"num_players": 5, "rules": "reference"},
    {"num_players": 5, "rules": "official"},
    {"num_players": 6, "rules": "paper"},
    {"num_players": 6, "rules": "reference"},
    {"num_players": 7, "rules": "paper", "roles": MORDRED_AND_OBERON},
    {"num_players": 7, "rules": "official", "roles": MORDRED_AND_OBERON},
    {"num_players": 7, "rules": "reference", "roles": MORDRED_AND_OBERON, "talk": False},
    {"num_players": 8, "rules": "paper"},
    {"num_players": 10, "rules": "official", "roles": EVERYBODY, "talk": False},
    {"num_players": 10, "rules": "reference", "roles": EVERYBODY},
]
DEALS = 3
"""Other deals that are tried for a seat and a game."""


# -- other worlds ----------------------------------------------------------------------------------------------


def night_of(names: tuple[str, ...], seat: int) -> tuple[Any, ...]:
    """What a seat sees by the rule sheet, written down apart from the code under test: (role, seats shown)."""
    evil = {"Morgana", "Assassin", "Mordred", "Oberon", "Minion"}
    shown = {
        "Merlin": evil - {"Mordred"},
        "Percival": {"Merlin", "Morgana"},
        **dict.fromkeys(evil - {"Oberon"}, evil - {"Oberon"}),
    }.get(names[seat], set())
    return names[seat], tuple(j for j, other in enumerate(names) if j != seat and other in shown)


def other_deals(names: tuple[str, ...], seat: int, rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """Deals that the seat cannot tell from this one, in random order, each once."""
    n = len(names)
    if n <= 6:
        deals = sorted({d for d in permutations(names) if d != names and night_of(d, seat) == night_of(names, seat)})
        rng.shuffle(deals)
        yield from (tuple(deal) for deal in deals)
        return
    seen = {names}
    for _ in range(1000):
        deal = list(names)
        moved = rng.permutation(n)[: rng.integers(2, n + 1)]
        for to, source in zip(moved, np.roll(moved, 1), strict=True):
            deal[to] = names[source]
        if tuple(deal) not in seen and night_of(tuple(deal), seat) == night_of(names, seat):
            seen.add(tuple(deal))
            yield tuple(deal)


def same_to_the_eye(
    game: Any, moves: list[Move], names: tuple[str, ...], seat: int, rng: np.random.Generator
) -> list[Move] | None:
    """The moves of a game on another deal that the seat cannot tell from `moves`; None if there are none."""
    dealt = Move(DEALT, (*(game.role_names.index(name) for name in names), moves[0].args[-1]))
    original, other = game.apply(game.initial(), moves[0]), game.apply(game.initial(), dealt)
    found = [dealt]
    at = 1
    while at < len(moves):
        stretch = _stretch(game, original, moves, at)
        replies = _replies(game, other, stretch, original, seat, rng)
        if replies is None:
            return None
        for mine, theirs in zip(stretch, replies, strict=True):
            original, other = game.apply(original, mine), game.apply(other, theirs)
        found += replies
        at += len(stretch)
    return found


def _stretch(game: Any, state: Any, moves: list[Move], at: int) -> list[Move]:
    """One public move, or all the votes or cards that are given before the moderator speaks."""
    kind = moves[at].kind
    length = {CARD: len(state.team), BALLOT: game.seats}.get(kind, 1)
    return moves[at : at + length]


def _replies(
    game: Any, other: Any, stretch: list[Move], original: Any, seat: int, rng: np.random.Generator
) -> list[Move] | None:
    kind = stretch[0].kind
    if kind == CARD:
        return _cards(game, other, stretch, seat, rng)
    if kind == BALLOT and len(stretch) < game.seats:  # never shown: everybody else may have voted otherwise
        return [move if k == seat else Move(BALLOT, (int(rng.integers(2)),)) for k, move in enumerate(stretch)]
    if kind != GUESS:
        return stretch
    if stretch == [PASS]:  # whoever is the Assassin in that world refuses there
        return stretch
    right = [game.role_names[s.standing.roles[stretch[0].args[0]]] == "Merlin" for s in (original, other)]
    return stretch if original.actor == other.actor and right[0] == right[1] else None


def _cards(game: Any, other: Any, stretch: list[Move], seat: int, rng: np.random.Generator) -> list[Move] | None:
    """Cards with the same number of fails, and the seat's own card."""
    team = other.team
    complete = len(stretch) == len(team)
    fails = sum(move.args == (0,) for move in stretch)
    mine = dict(zip(team, stretch, strict=False)).get(seat)
    may_fail = [j for j in team if j != seat and (game.rules.good_may_fail or evil_at(game, other, j))]
    fails -= mine is not None and mine.args == (0,)
    if complete and fails > len(may_fail):
        return None
    failing = set(rng.permutation(may_fail)[: fails if complete else rng.integers(len(may_fail) + 1)].tolist())
    cards = [mine if mine and j == seat else Move(CARD, (int(j not in failing),)) for j in team]
    return cards[: len(stretch)]


def evil_at(game: Any, state: Any, seat: int) -> bool:
    return game.role_names[state.standing.roles[seat]] in ROLES[3:]


# -- what a seat gets ------------------------------------------------------------------------------------------


def play_side_by_side(one: GameEnv, two: GameEnv, moves: list[Move], others: list[Move], seat: int) -> int:
    """Play two games in step and compare what the seat gets. Returns how often it was compared."""
    for env, played in ((one, moves), (two, others)):
        env.reset(options={"nature": [m for m in played if m.kind in ("deal", "draw")]})
    compared = 0
    pairs = [(a, b) for a, b in zip(moves, others, strict=True) if a.kind not in ("deal", "draw")]
    for mine, theirs in pairs:
        assert everything(one, seat) == everything(two, seat)
        compared += 1
        one.play(mine)
        two.play(theirs)
    assert everything(one, seat) == everything(two, seat)
    return compared + 1


@pytest.mark.parametrize("options", TABLES, ids=lambda o: f"{o['num_players']}-{o['rules']}-{len(o)}")
def test_what_a_seat_cannot_know_changes_nothing_that_it_gets(options, playout):
    settings = {"observation": "both", "info": "full", "render_mode": "ansi"}
    one, two = (registry["avalon_v0"].raw_env(**options, **settings) for _ in range(2))
    game = one.game
    rng = np.random.default_rng(0)
    compared = dict.fromkeys(range(game.seats), 0)
    for seed in range(4 if game.seats < 8 else 2):
        played = playout(game, seed)
        moves = played.moves[: int(rng.integers(len(played.moves) // 3, len(played.moves) + 1))]
        names = tuple(game.role_names[role] for role in moves[0].args[:-1])
        for seat in range(game.seats):
            tried = 0
            for deal in other_deals(names, seat, rng):
                others = same_to_the_eye(game, moves, deal, seat, rng)
                if others is not None:
                    compared[seat] += play_side_by_side(one, two, moves, others, seat)
                    tried += 1
                if tried == DEALS:
                    break
    # somebody always has something to be deceived about; a seat that knows all (Merlin of five) may have nothing
    assert sum(count > 0 for count in compared.values()) >= game.seats - 1, compared


def test_the_test_sees_a_leak(playout, monkeypatch):
    """A renderer that lets slip who is evil is caught: the comparison itself can fail."""
    settings = {"observation": "both", "info": "full", "render_mode": "ansi"}
    one, two = (registry["avalon_v0"].raw_env(num_players=6, **settings) for _ in range(2))
    game = one.game
    assert game is two.game  # environments share their rules, and other tests these: they must be honest again
    monkeypatch.setattr(game, "view", partial(leaky_view, game.view))
    moves = playout(game, seed=1).moves[:40]
    names = tuple(game.role_names[role] for role in moves[0].args[:-1])
    rng = np.random.default_rng(0)
    caught = 0
    for seat in range(6):
        for deal in other_deals(names, seat, rng):
            others = same_to_the_eye(game, moves, deal, seat, rng)
            if others is not None:
                with pytest.raises(AssertionError):
                    play_side_by_side(one, two, moves, others, seat)
                caught += 1
                break
    assert caught >= 4


def leaky_view(honest: Any, state: Any, seat: int) -> Any:
    return honest(state, seat)._replace(counted=sum(j * role for j, role in enumerate(state.standing.roles, 1)))


# -- what a view holds -----------------------------------------------------------------------------------------


@given(number=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 10**6))
def test_a_view_is_own_role_the_night_and_the_record(playout, number, seed):
    """Each field of a View is public, the seat's own, or the night's; nothing else could tell of another's role."""
    game = registry["avalon_v0"].raw_env(**TABLES[number]).game
    rng = np.random.default_rng(seed)
    states = playout(game, seed).states
    state = states[int(rng.integers(1, len(states)))]
    names = tuple(game.role_names[role] for role in state.standing.roles)
    public = [game.view(state, seat) for seat in range(game.seats)]
    for view in public:
        own = {"seat", "legal", "events", "role", "side", "knows"}
        assert {f: getattr(view, f) for f in view._fields if f not in own} == {
            f: getattr(public[0], f) for f in view._fields if f not in own
        }
        assert sorted(view.roles) == sorted(names)
        assert view.roles == game.roles  # in the order of the box, not of the seats
        role, shown = night_of(names, view.seat)
        assert view.role == role
        assert tuple(j for fact in view.knows for j in fact.seats) == shown
        assert all(event.to is None or view.seat in event.to for event in view.events)
        assert all(event.seat == view.seat for event in view.events if event.to is not None)


@given(number=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 10**6))
def test_secret_moves_are_shown_to_nobody_but_their_maker(playout, number, seed):
    """Votes before the count and the cards of others appear in no seat's events; the deal in nobody's."""
    game = registry["avalon_v0"].raw_env(**TABLES[number]).game
    end = playout(game, seed).states[-1]
    for seat in range(game.seats):
        events = game.view(end, seat).events
        assert not [e for e in events if e.move.kind in (DEALT, BALLOT)]
        assert all(e.seat == seat for e in events if e.move.kind in (CARD, GUESS))
    public = [e for e in end.log if e.to is None]
    assert [e.move.kind for e in public if e.seat == NATURE and e.move.kind in (CARD, GUESS)] == []
    assert all(e.move.kind != VOTES or len(e.move.args) == game.seats + 1 for e in public)
    assert all(len(e.move.args) == 3 for e in public if e.move.kind in (FAILS, EXPOSED))


def test_before_the_count_nobody_can_tell_how_another_voted(avalon_env):
    """Until the seventh ballot is in, a seat's world is the same whatever the six before it chose."""
    worlds = []
    for votes in ((1, 1, 1, 1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 0, 1, 0, 1, 0)):
        env = avalon_env(7, "official", talk=False, observation="both", info="full", render_mode="ansi")
        env.reset(seed=5)
        env.play(env.game.legal(env.state_now)[0])
        for vote in votes:
            env.play(Move(BALLOT, (vote,)))
        worlds.append([everything(env, seat) for seat in range(7)])
    assert worlds[0] == worlds[1] == worlds[2]
