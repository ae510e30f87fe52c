"""No seat of Werewolf learns what it may not know (DESIGN.md section 6; SPEC 7, "visibility").

The re-deal test takes a game, a seat, and another deal in which the seat holds the same role, with
the same fellows if it is a wolf; by night the others act there as they like, as long as the seat is shown the same. Then
all that reaches the seat (prose, numbers, mask, info, what is rendered) is the same, byte for byte, at every moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs import registry
from parlour.envs.aec import GameEnv
from parlour.envs.core import NATURE, OVER, Move
from parlour.envs.werewolf.vocabulary import DEALT, DRAWN, VOTES, WHISPERS

SETTINGS = {"observation": "both", "info": "full", "render_mode": "ansi"}
TABLES: list[dict[str, Any]] = [
    {"num_players": 8, "rules": "paper"},
    {"num_players": 8, "rules": "reference"},
    {"num_players": 8, "rules": "official"},
    {"num_players": 5, "rules": "official"},
    {"num_players": 6, "rules": "paper", "talk": False},
    {"num_players": 11, "rules": "reference", "talk": False},
]
DEALS = 2
"""Other deals that are tried for a seat and a game."""
TRIES = 80
"""Nights that are tried in another deal until the seat is shown the same."""
NIGHT_KINDS = ("hunt", "protect", "save", "poison", "check", *WHISPERS)


# -- what a seat gets ------------------------------------------------------------------------------------------


def everything(env: GameEnv, seat: int) -> tuple[Any, ...]:
    """All that reaches a seat."""
    agent = env.possible_agents[seat]
    seen, info = env.observe(agent), env.infos[agent]
    return (
        seen["text"],
        seen["observation"].tobytes(),
        seen["action_mask"].tobytes(),
        info["action_mask"].tobytes(),
        {key: value for key, value in info.items() if key != "action_mask"},
        env.view(seat),
        env.render(),
        env.rewards[agent] if env.outcome is None else None,  # the result tells who won, and so it should
    )


Trace = dict[tuple[int, bool, bool], tuple[Any, ...]]
"""How many events the seat has seen, whether it is its turn, whether it is night -> all that reaches it."""


def traces(options: dict[str, Any], moves: list[Move], seats: list[int]) -> dict[int, Trace]:
    """What reaches each seat in the course of a game. As long as it is shown nothing, nothing may change for it."""
    env = registry["werewolf_v0"].raw_env(**options, **SETTINGS)
    env.reset(options={"nature": [m for m in moves if m.kind in (DEALT, DRAWN)]})
    found: dict[int, Trace] = {seat: {} for seat in seats}
    for move in [None, *(m for m in moves if m.kind not in (DEALT, DRAWN))]:
        if move is not None:
            env.play(move)
        for seat in seats:
            view, now = env.view(seat), everything(env, seat)
            key = len(view.events), bool(view.legal), view.night
            assert found[seat].setdefault(key, now) == now
    return found


def alike(trace: Trace, two: Trace) -> bool:
    """Whether two traces are the same, but for moments of the night in which the seat only waits: whether there is
    one between its own act and the dawn depends on who lives to act after it, and is told by nothing but the clock."""
    waits = {key for key in trace.keys() ^ two.keys() if key[1:] == (False, True)}
    return all(trace.get(key) == two.get(key) for key in trace.keys() | two.keys() if key not in waits)


# -- other worlds ----------------------------------------------------------------------------------------------


def shown(game: Any, before: Any, after: Any, seat: int) -> tuple[Any, ...]:
    """What a seat was shown between two states, and whether the game is over."""
    new = after.log[len(before.log) :]
    return tuple(e for e in new if e.to is None or seat in e.to), game.actor(after) == OVER


def other_deals(game: Any, deal: Move, end: Any, seat: int, rng: np.random.Generator) -> Iterator[Move]:
    """Deals that the seat cannot tell from this one: its role, its fellows, what was revealed and what it checked."""
    n = game.seats
    roles, order = deal.args[:n], deal.args[n:]
    events = game.view(end, seat).events
    fixed = {seat} | {e.move.args[0] for e in events if e.move.kind == "revealed"}
    sides = {e.move.args[0] for e in events if e.move.kind == "checked"}
    sides |= set(range(n)) if roles[seat] == game.wolf else set()
    seen = {roles}
    for _ in range(400):
        dealt = list(roles)
        moved = rng.permutation(n)[: rng.integers(2, n + 1)]
        for to, source in zip(moved, np.roll(moved, 1), strict=True):
            dealt[to] = roles[source]
        same = all(dealt[j] == roles[j] for j in fixed) and all(
            (dealt[j] == game.wolf) == (roles[j] == game.wolf) for j in sides
        )
        if same and tuple(dealt) not in seen:
            seen.add(tuple(dealt))
            yield Move(DEALT, (*dealt, *order))


def same_to_the_eye(game: Any, moves: list[Move], deal: Move, seat: int, rng: np.random.Generator) -> list[Move] | None:
    """The moves of a game on another deal that the seat cannot tell from `moves`; None if none were found."""
    original, other = game.apply(game.initial(), moves[0]), game.apply(game.initial(), deal)
    found, at = [deal], 1
    while at < len(moves):
        if game.actor(other) == OVER:
            return None
        if game.legal(original)[0].kind in NIGHT_KINDS and game.view(original, seat).night:
            length = 0
            now = original
            while game.actor(now) != OVER and game.view(now, seat).night and at + length < len(moves):
                now = game.apply(now, moves[at + length])
                length += 1
            replies = another_night(game, other, original, now, moves[at : at + length], seat, rng)
            if replies is None:
                return None
            original = now
        else:
            if game.actor(other) != game.actor(original):
                return None
            original, length, replies = game.apply(original, moves[at]), 1, [moves[at]]
        for move in replies:
            other = game.apply(other, move)
        found += replies
        at += length
    return found


def another_night(
    game: Any, other: Any, before: Any, after: Any, played: list[Move], seat: int, rng: np.random.Generator
) -> list[Move] | None:
    """Moves of a night after which the seat has been shown the same as between `before` and `after`."""
    wanted = shown(game, before, after, seat)
    dead = [j for e in wanted[0] if e.move.kind == "dawn" for j in e.move.args[1:]]
    mine, state = [], before
    for move in played:
        if game.actor(state) == seat:
            mine.append(move)
        state = game.apply(state, move)
    for _ in range(TRIES):
        s, moves, own = other, [], list(mine)
        while game.actor(s) != OVER and game.view(s, seat).night:
            if game.actor(s) == NATURE:
                move = game.nature(s, rng)
            elif game.actor(s) == seat:
                if not own:
                    break
                move = own.pop(0)
            else:
                move = proposal(game, s, before, played, dead, rng)
            if game.actor(s) >= 0 and move._replace(words="") not in game.legal(s):
                break
            s = game.apply(s, move)
            moves.append(move)
        if not own and shown(game, other, s, seat) == wanted:
            return moves
    return None


def proposal(game: Any, s: Any, before: Any, played: list[Move], dead: list[int], rng: np.random.Generator) -> Move:
    """What another seat may do by night: the same as in the original, what leads to the same deaths, or anything."""
    legal, actor = game.legal(s), game.actor(s)
    state, same = before, []
    for move in played:
        if game.actor(state) == actor and move.kind in {m.kind for m in legal}:
            same.append(move)
        state = game.apply(state, move)
    fitting = [m for m in legal if m.args and m.args[0] in dead and m.kind in ("hunt", "poison")]
    ways = [same, fitting, [legal[0]], list(legal)]
    way = [w for w in ways if w][int(rng.integers(sum(map(bool, ways))))]
    return way[int(rng.integers(len(way)))]


def cut_by_day(game: Any, played: Any, rng: np.random.Generator) -> list[Move]:
    """A game up to some moment of a day, its pending votes among the moves; the end is left out."""
    by_day = [k for k, s in enumerate(played.states) if game.actor(s) >= 0 and not game.view(s, 0).night]
    later = [k for k in by_day if k > len(played.moves) // 3] or by_day
    return played.moves[: later[int(rng.integers(len(later)))]]


@pytest.mark.parametrize("options", TABLES, ids=lambda o: f"{o['num_players']}-{o['rules']}-{len(o)}")
def test_what_a_seat_cannot_know_changes_nothing_that_it_gets(options, playout):
    game = registry["werewolf_v0"].raw_env(**options, **SETTINGS).game
    rng = np.random.default_rng(0)
    compared = dict.fromkeys(range(game.seats), 0)
    roles: set[int] = set()
    for seed in range(2):
        played = playout(game, seed)
        moves = cut_by_day(game, played, rng)
        end = played.states[len(moves)]
        first = traces(options, moves, list(range(game.seats)))
        for seat in range(game.seats):
            tried = 0
            for deal in other_deals(game, moves[0], end, seat, rng):
                others = same_to_the_eye(game, moves, deal, seat, rng)
                if others is not None:
                    assert alike(traces(options, others, [seat])[seat], first[seat])
                    tried += 1
                if tried == DEALS:
                    break
            compared[seat] += tried
            if tried:
                roles.add(moves[0].args[seat])
    assert roles == set(range(len(game.role_names))), roles
    assert sum(count > 0 for count in compared.values()) >= game.seats - 1, compared


def test_the_test_sees_a_leak(playout, monkeypatch):
    """A view that lets slip who is a wolf is caught: the comparison itself can fail."""
    options = TABLES[0]
    game = registry["werewolf_v0"].raw_env(**options, **SETTINGS).game
    rng = np.random.default_rng(0)
    played = playout(game, seed=1)
    moves = cut_by_day(game, played, rng)
    end = played.states[len(moves)]
    found = {}
    for seat in range(8):
        for deal in other_deals(game, moves[0], end, seat, rng):
            others = same_to_the_eye(game, moves, deal, seat, rng)
            if others is not None:
                found[seat] = others
                break
    # environments share their rules, and other tests these: they must be honest again
    monkeypatch.setattr(game, "view", partial(leaky_view, game.view))
    for seat, others in found.items():
        assert not alike(*(traces(options, played, [seat])[seat] for played in (moves, others)))
    assert len(found) >= 5


def leaky_view(honest: Any, state: Any, seat: int) -> Any:
    return honest(state, seat)._replace(max_days=sum(j * role for j, role in enumerate(state.standing.roles, 1)) % 97)


# -- what a view holds -----------------------------------------------------------------------------------------


@given(number=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 10**6))
def test_a_view_is_own_role_own_powers_fellows_and_the_record(playout, number, seed):
    """Each field of a View is public or the seat's own; nothing else could tell of another's role."""
    game = registry["werewolf_v0"].raw_env(**TABLES[number]).game
    rng = np.random.default_rng(seed)
    states = playout(game, seed).states
    state = states[int(rng.integers(1, len(states)))]
    names = tuple(game.role_names[role] for role in state.standing.roles)
    views = [game.view(state, seat) for seat in range(game.seats)]
    own = {"seat", "legal", "events", "role", "side", "knows", "antidote", "poison", "guarded", "checks"}
    for view in views:
        assert {f: getattr(view, f) for f in view._fields if f not in own} == {
            f: getattr(views[0], f) for f in view._fields if f not in own
        }
        assert view.roles == game.roles  # in the order of the box, not of the seats
        assert view.role == names[view.seat]
        wolves = tuple(j for j, role in enumerate(names) if role == "Werewolf" and j != view.seat)
        assert view.knows == (((("Werewolf",), wolves),) if view.role == "Werewolf" else ())
        assert (view.antidote is None) == (view.poison is None) == (view.role != "Witch")
        assert view.guarded is None or view.role == "Guard"
        assert view.checks == () or view.role == "Seer"
        assert all(event.to is None or view.seat in event.to for event in view.events)
    # what is public is in the record: who lives and what day it is can be counted up from it
    public = [e.move for e in state.log if e.to is None]
    dead = {j for m in public if m.kind == "dawn" for j in m.args[1:]} | {
        j for m in public if m.kind == "executed" for j in m.args
    }
    assert views[0].alive == tuple(j not in dead for j in range(game.seats))
    assert views[0].day == max(m.args[0] for m in public if m.kind == "night")


@given(number=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 10**6))
def test_secret_moves_are_shown_to_nobody_but_their_maker(playout, number, seed):
    """The night's acts in their maker's events only, the wolves' words in living wolves', the deal in nobody's."""
    game = registry["werewolf_v0"].raw_env(**TABLES[number]).game
    end = playout(game, seed).states[-1]
    roles = end.standing.roles
    public_votes = game.rules.votes_shown == "as_cast"
    holder = {"attacked": "Witch", "checked": "Seer", "wolves": "Werewolf", "hunt": "Werewolf", "recommend": "Werewolf"}
    holder |= {"protect": "Guard", "save": "Witch", "poison": "Witch", "check": "Seer"}
    for event in end.log:
        kind = event.move.kind
        assert kind not in (DEALT, DRAWN)
        assert kind != "vote" or public_votes
        if kind in holder:
            assert event.to
            assert all(game.role_names[roles[j]] == holder[kind] for j in event.to)
            if kind in ("protect", "save", "poison", "check"):
                assert event.to == (event.seat,)
        if kind == VOTES:
            assert len(event.move.args) == game.seats + 1
