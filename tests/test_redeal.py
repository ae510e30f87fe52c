"""Re-deals (`parlour.envs.testing.redeal`): twins are what they are said to be, and what tells them apart is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.registry import lookup
from parlour.envs.testing.forms import Aec, Cycles, forms
from parlour.envs.testing.redeal import differ, redeals
from parlour.envs.testing.table import ConfiguredGame
from parlour.envs.testing.twins import Played, Twins, new_events, redealt
from parlour.envs.werewolf.rules import Werewolf
from pettingzoo.utils.wrappers import BaseWrapper

TABLES: list[tuple[str, dict[str, Any]]] = [
    ("werewolf_v0", {"num_players": 8}),
    ("werewolf_v0", {"num_players": 10, "rules": "reference", "max_days": 2}),
    ("avalon_v0", {"num_players": 7, "rules": "official"}),
    ("mediated_qa_v0", {"questions": 2}),
    ("murder_mystery_v0", {"case": "seed:3", "rounds": 1, "hearing": "two"}),
    ("template_v0", {}),
]
by_table = pytest.mark.parametrize(("name", "options"), TABLES, ids=str)


def table_of(name: str, options: dict[str, Any]) -> ConfiguredGame:
    return ConfiguredGame(lookup(name).spec, tuple(options.items()))


def known(played: Played, seat: int) -> list[Any]:
    """What a seat is shown and does, in order."""
    game, state, found = played.game, played.game.initial(), list[Any]()
    for move in played.moves:
        if game.actor(state) == seat:
            found.append(("own", move))
        after = game.apply(state, move)
        found += new_events(state, after, seat)
        state = after
    return found


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
        one, two = (game.apply(game.initial(), moves[0]) for moves in (played.moves, twin.moves))
        assert game.view(one, seat) == game.view(two, seat)
        other += one.standing.roles != two.standing.roles
    assert other >= len(pairs) / 2


def test_the_case_of_a_murder_mystery_is_made_anew_for_all_but_the_seat():
    table = table_of("murder_mystery_v0", {"case": "seed:3", "rounds": 1})
    for seat, played, twin in twins_of(table, seed=2):
        for j, (one, two) in enumerate(zip(played.game.case.characters, twin.game.case.characters, strict=True)):
            assert (one == two) == (j == seat)


@by_table
def test_nothing_that_reaches_a_seat_tells_twins_apart(name, options):
    """In every form, once; `scripts/harden` does it by the hundred thousand."""
    found = redeals(table_of(name, options), np.random.default_rng(5), seats=1, twins=1, others=None)
    assert found.leaks == []


# -- the test can fail -----------------------------------------------------------------------------------------


def leaks_of(table: ConfiguredGame, games: int = 4) -> set[str]:
    """In which forms leaks are found."""
    return {
        leak.form
        for seed in range(games)
        for leak in redeals(table, np.random.default_rng(seed), seats=3, twins=2).leaks
    }


def test_nights_that_last_as_long_as_wolves_act_are_found(monkeypatch):
    """The parallel form as it was: who decides at the same moment steps, and nobody waits for those who are dead."""
    monkeypatch.setattr(Werewolf, "hidden_cycles", lambda self, view: 0)
    assert any(form.startswith("cycles") for form in leaks_of(table_of("werewolf_v0", {})))


def test_a_view_with_one_hidden_number_is_found(monkeypatch):
    honest = Werewolf.view

    def leaky(self: Werewolf, state: Any, seat: int) -> Any:
        roles = state.standing.roles
        return honest(self, state, seat)._replace(max_days=1 + sum(j * role for j, role in enumerate(roles, 1)) % 97)

    monkeypatch.setattr(Werewolf, "view", leaky)
    assert "the AEC form" in leaks_of(table_of("werewolf_v0", {"num_players": 9}), games=2)


class Marking(BaseWrapper):
    """A careless wrapper: it tells every seat who is to move."""

    def observe(self, agent: str) -> Any:
        return {**super().observe(agent), "to move": self.env.agent_selection}


def test_a_wrapper_that_tells_a_seat_whose_turn_it_is_is_found():
    table, form = table_of("werewolf_v0", {"num_players": 10}), Aec("marking", wrap=Marking)
    apart = [
        differ(*(form.trace(table.spec, one, seat) for one in (played, twin)))
        for seat, played, twin in twins_of(table, seed=1)
    ]
    assert any(apart)


def test_every_game_has_all_forms_and_quest_rewards_are_avalons():
    for name, options in TABLES:
        table = table_of(name, options)
        names = [form.name for form in forms(table.spec, table.game)]
        assert len(set(names)) == len(names)
        assert {"SeatEnv", "LearnerSeats", "cycles", "TextActions"} <= set(names)
        assert ("QuestRewards" in names) == (name == "avalon_v0")
        assert all(f"cycles, {kind} features" in names for kind in table.spec.features[1:])
    assert Cycles("cycles").name == "cycles"
