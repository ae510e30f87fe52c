"""Re-deals (`parlour.envs.testing.redeal`): twins are what they are said to be, and what tells them apart is found.

What a View of Avalon may hold is written down here besides, apart from the code under test (rule sheet: "character roles").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs import registry
from parlour.envs.avalon.vocabulary import BALLOT, CARD, DEALT, EXPOSED, FAILS, GUESS, VOTES
from parlour.envs.core import NATURE
from parlour.envs.registry import lookup
from parlour.envs.testing.forms import Aec
from parlour.envs.testing.redeal import differ, redeals
from parlour.envs.testing.table import ConfiguredGame
from parlour.envs.testing.twins import Played, Twins, new_events, redealt
from parlour.envs.werewolf.rules import Werewolf
from pettingzoo.utils.wrappers import BaseWrapper

from tests.envs.murder_mystery.table import path

TABLES: list[tuple[str, dict[str, Any]]] = [
    ("werewolf_v0", {"num_players": 8}),
    ("werewolf_v0", {"num_players": 10, "rules": "reference", "max_days": 2}),
    ("werewolf_v0", {"num_players": 5, "rules": "official"}),
    ("werewolf_v0", {"num_players": 6, "talk": False}),
    ("werewolf_v0", {"num_players": 5, "speaking": "bids"}),
    ("werewolf_v0", {"num_players": 6, "votes": "as_cast"}),
    ("werewolf_v0", {"num_players": 9, "roles": "hunter", "seer": "character"}),
    ("avalon_v0", {"num_players": 7, "rules": "official"}),
    ("avalon_v0", {"num_players": 5, "speaking": "bids"}),
    ("mediated_qa_v0", {"questions": 2}),
    ("murder_mystery_v0", {"case": "seed:3", "rounds": 1, "hearing": "two"}),
    ("murder_mystery_v0", {"case": path("tower_en"), "rounds": 1}),
    ("murder_mystery_v0", {"case": path("letter_en"), "rounds": 1, "hearing": "two"}),
    ("template_v0", {}),
]
by_table = pytest.mark.parametrize(("name", "options"), TABLES, ids=str)


def table_of(name: str, options: dict[str, Any]) -> ConfiguredGame:
    return ConfiguredGame(lookup(name).spec, tuple(options.items()))


def known(played: Played, seat: int) -> list[Any]:
    """What a seat is shown and does, in order."""
    game, state, events = played.game, played.game.initial(), list[Any]()
    for move in played.moves:
        if game.actor(state) == seat:
            events.append(("own", move))
        after = game.apply(state, move)
        events += new_events(state, after, seat)
        state = after
    return events


def twins_of(table: ConfiguredGame, seed: int) -> list[tuple[int, Played, Played]]:
    """A random game, and a twin for each seat."""
    rng, game = np.random.default_rng(seed), table.game
    played = Played(game, tuple(table.play(seed).moves))
    return [
        (j, played, Twins(table.text, played, j, rng).find(redealt(table.spec, game, j, played.moves, rng)))
        for j in range(game.seats)
    ]


@by_table
def test_a_twin_shows_the_seat_the_same_and_lets_it_do_the_same(name, options):
    table = table_of(name, options)
    for seat, played, twin in twins_of(table, seed=1):
        assert twin.moves
        assert known(twin, seat) == known(played, seat)[: len(known(twin, seat))]


@by_table
def test_twins_differ_in_what_the_seat_cannot_see(name, options):
    table = table_of(name, options)
    pairs = [pair for seed in range(4) for pair in twins_of(table, seed)]
    other = [twin for _, played, twin in pairs if twin.moves != played.moves[: len(twin.moves)]]
    assert len(other) >= len(pairs) / 4  # who sees everything, such as the keeper of the coin, has no other twin


@pytest.mark.parametrize("name", ["werewolf_v0", "avalon_v0"])
def test_roles_are_dealt_anew_to_the_others(name):
    """In half of the twins or more another seat has another role; the seat itself and who it knows have theirs."""
    table = table_of(name, {})
    game, other, pairs = table.game, 0, [pair for seed in range(4) for pair in twins_of(table, seed)]
    for seat, played, twin in pairs:
        first, second = (game.apply(game.initial(), moves[0]) for moves in (played.moves, twin.moves))
        assert game.view(first, seat) == game.view(second, seat)
        other += first.standing.roles != second.standing.roles
    assert other >= len(pairs) / 2


@pytest.mark.slow
@by_table
def test_nothing_that_reaches_a_seat_tells_twins_apart(name, options):
    """In every form, once; `scripts/harden` does it by the hundred thousand."""
    result = redeals(table_of(name, options), np.random.default_rng(5), seats=1, twins=1, others=None)
    assert result.leaks == []


# -- the test can fail -----------------------------------------------------------------------------------------


def leaks_of(table: ConfiguredGame) -> Iterator[str]:
    """In which forms leaks are found, as they are found."""
    for seed in range(4):
        yield from (leak.form for leak in redeals(table, np.random.default_rng(seed), seats=1, twins=2).leaks)


@pytest.mark.slow
def test_nights_that_last_as_long_as_wolves_act_are_found(monkeypatch):
    """The parallel form as it was: who decides at the same moment steps, and nobody waits for those who are dead."""
    monkeypatch.setattr(Werewolf, "hidden_cycles", lambda self, view: 0)
    assert any(form.startswith("cycles") for form in leaks_of(table_of("werewolf_v0", {})))


@pytest.mark.slow
def test_a_view_with_one_hidden_number_is_found(monkeypatch):
    honest = Werewolf.view

    def leaky(self: Werewolf, state: Any, seat: int) -> Any:
        roles = state.standing.roles
        return honest(self, state, seat)._replace(max_days=1 + sum(j * role for j, role in enumerate(roles, 1)) % 97)

    monkeypatch.setattr(Werewolf, "view", leaky)
    assert "the AEC form" in leaks_of(table_of("werewolf_v0", {"num_players": 9}))


class Marking(BaseWrapper):
    """A careless wrapper: it tells every seat who is to move."""

    def observe(self, agent: str) -> Any:
        return {**super().observe(agent), "to move": self.env.agent_selection}


def test_a_wrapper_that_tells_a_seat_whose_turn_it_is_is_found():
    table, form = table_of("werewolf_v0", {"num_players": 10}), Aec("marking", wrap=Marking)
    apart = [
        differ(*(form.trace(table.spec, record, seat) for record in (played, twin)))
        for seat, played, twin in twins_of(table, seed=1)
    ]
    assert any(apart)


MORDRED_AND_OBERON = ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Mordred", "Oberon"]
EVERYBODY = ["Merlin", "Percival", *["Loyal Servant"] * 4, "Morgana", "Assassin", "Mordred", "Oberon"]
AVALON: list[dict[str, Any]] = [
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


# -- what a view holds -----------------------------------------------------------------------------------------


@given(number=st.integers(0, len(AVALON) - 1), seed=st.integers(0, 10**6))
def test_a_view_is_own_role_the_night_and_the_record(playout, number, seed):
    """Each field of a View is public, the seat's own, or the night's; nothing else could tell of another's role."""
    game = registry["avalon_v0"].raw_env(**AVALON[number]).game
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


@given(number=st.integers(0, len(AVALON) - 1), seed=st.integers(0, 10**6))
def test_secret_moves_are_shown_to_nobody_but_their_maker(playout, number, seed):
    """Votes before the count and the cards of others appear in no seat's events; the deal in nobody's."""
    game = registry["avalon_v0"].raw_env(**AVALON[number]).game
    end = playout(game, seed).states[-1]
    for seat in range(game.seats):
        events = game.view(end, seat).events
        assert not [e for e in events if e.move.kind in (DEALT, BALLOT)]
        assert all(e.seat == seat for e in events if e.move.kind in (CARD, GUESS))
    public = [e for e in end.log if e.to is None]
    assert [e.move.kind for e in public if e.seat == NATURE and e.move.kind in (CARD, GUESS)] == []
    assert all(e.move.kind != VOTES or len(e.move.args) == game.seats + 1 for e in public)
    assert all(len(e.move.args) == 3 for e in public if e.move.kind in (FAILS, EXPOSED))
