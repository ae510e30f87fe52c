"""The contract of `parlour.envs.core`. The checklist:

* legality: legal moves are there until the game is over, stand in the catalogue in its order, and all apply; everything
  else raises IllegalMove; words never matter to legality
* purity: `apply` changes nothing, answers the same twice, and states are hashable
* the end: within `max_moves`, with a return for every seat and a reason that the game's card declares
* text: the third section lists exactly the legal moves, each is read back from its own sentence, and what the
  environment keeps from turn to turn equals the prose rendered anew, for every seat at every step
* numbers: features in [-1, 1] of the declared size
* the card (the docstring of the spec's module) tells the truth; sides and heuristic are what the spec says
"""

from __future__ import annotations

import inspect
import json
import pickle
import re
import sys
from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs import dotted
from parlour.envs.core import NATURE, OVER, GameSpec, IllegalMove, Move
from parlour.envs.registry import EnvModule, build
from parlour.envs.testing.table import Table, decisions, follow, random_playout, refused, sampled
from parlour.envs.text import CHOICE, NOT_YOUR_TURN, OPTION, RECORD, WHO, render

# -- legality --------------------------------------------------------------------------------------------------


def the_catalogue_has_each_move_once_and_without_words(table: Table) -> None:
    """The catalogue has each move once and without words."""
    catalogue = table.game.catalogue
    assert len(set(catalogue)) == len(catalogue)
    assert all(move.words == "" for move in catalogue)


def legal_is_not_empty_until_over_and_in_catalogue_order(table: Table) -> None:
    """Legal is not empty until over and in catalogue order."""
    game = table.game
    number = {move: k for k, move in enumerate(game.catalogue)}
    for seed in range(3):
        for state in table.play(seed).states:
            legal, actor = game.legal(state), game.actor(state)
            assert bool(legal) == (actor >= 0)
            assert actor in range(game.seats) or actor in (NATURE, OVER)
            numbers = [number[move] for move in legal]
            assert numbers == sorted(set(numbers))


def every_legal_move_applies_with_and_without_words(table: Table) -> None:
    """Every legal move applies with and without words."""
    game = table.game
    for state in decisions(game, table.play(seed=1).states):
        for move in game.legal(state):
            after = game.apply(state, move)
            spoken = game.apply(state, move._replace(words="as I said"))
            assert game.actor(after) == game.actor(spoken)
            assert game.legal(after) == game.legal(spoken)


def everything_else_is_refused_with_a_reason(table: Table) -> None:
    """Everything else is refused with a reason."""
    game = table.game
    nonsense = [Move("nonsense"), Move("", ()), Move("nonsense", (99,), "words")]
    strange = [Move(move.kind, args) for move in game.catalogue[:: max(1, len(game.catalogue) // 20)] for args in _ODD]
    for state in [game.initial(), *sampled(table.play(seed=2).states), table.play(seed=3).states[-1]]:
        legal = set(game.legal(state))
        for move in [*game.catalogue, *nonsense, *strange]:
            if move not in legal:
                refused(partial(game.apply, state, move), IllegalMove)


_ODD = ((), (-1,), (99,), (0, 0), (1, 0), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))


# -- purity ----------------------------------------------------------------------------------------------------


def apply_is_pure_and_states_are_hashable(table: Table) -> None:
    """Apply is pure and states are hashable."""
    game = table.game
    played = table.play(seed=4)
    for before, move, after in played.steps:
        kept, key = pickle.dumps(before), hash(before)
        again = game.apply(before, move)
        assert again == after
        assert hash(again) == hash(after)
        assert hash(before) == key
        assert pickle.loads(kept) == before


def refusals_leave_the_state_as_it_was(table: Table) -> None:
    """Refusals leave the state as it was."""
    game = table.game
    for state in sampled(table.play(seed=5).states):
        kept = pickle.loads(pickle.dumps(state))
        refused(partial(game.apply, state, Move("nonsense")), IllegalMove)
        assert state == kept


def a_game_is_built_again_from_its_config(table: Table) -> None:
    """A game is built again from its config."""
    game = table.game
    again = build(table.spec, json.loads(json.dumps(dict(game.config))))
    assert (again.seats, again.catalogue, again.max_moves) == (game.seats, game.catalogue, game.max_moves)
    assert random_playout(again, 6, worded=table.worded) == table.play(seed=6)


# -- the end ---------------------------------------------------------------------------------------------------


def games_end_within_max_moves(table: Table) -> None:
    """Games end within max moves."""
    game = table.game
    for seed in range(10):
        played = table.play(seed, words=0, longest=game.max_moves)
        assert game.actor(played.states[-1]) == OVER
        assert [game.outcome(s) is not None for s in played.states] == [game.actor(s) == OVER for s in played.states]


def returns_are_those_that_the_card_declares(table: Table) -> None:
    """Returns are those that the card declares."""
    game = table.game
    for seed in range(10):
        end = table.play(seed, words=0).states[-1]
        outcome = game.outcome(end)
        assert outcome is not None
        assert len(outcome.returns) == game.seats
        assert np.all(np.isfinite(outcome.returns))
        assert f"`{outcome.reason}`" in card_of(table.spec)["Reasons of the end"], (
            f"{outcome.reason!r} is not among the card's reasons of the end"
        )


# -- text ------------------------------------------------------------------------------------------------------


def the_third_section_lists_exactly_the_legal_moves(table: Table) -> None:
    """The third section lists exactly the legal moves."""
    game, text = table.game, table.raw_env().text
    for state in decisions(game, table.play(seed=7).states):
        for seat in range(game.seats):
            view = game.view(state, seat)
            prose = render(text, view)
            assert [prose.count(heading) for heading in (WHO, RECORD, CHOICE)] == [1, 1, 1]
            third = prose[prose.index(CHOICE) + len(CHOICE) :].splitlines()
            if seat != game.actor(state):
                assert third == [NOT_YOUR_TURN.strip()]
                continue
            assert not third[0].startswith(OPTION)
            assert third[1:] == [OPTION + text.say(move) for move in game.legal(state)]
            assert len(set(third)) == len(third)


def every_legal_move_is_read_back_from_its_sentence(table: Table) -> None:
    """Every legal move is read back from its sentence."""
    game, text = table.game, table.raw_env().text
    for state in decisions(game, table.play(seed=8).states):
        view = game.view(state, game.actor(state))
        for move in view.legal:
            assert text.parse(text.say(move), view) == move
            assert text.parse(text.say(move).upper(), view)[:2] == move[:2]


def the_default_for_unusable_words_is_legal(table: Table) -> None:
    """The default for unusable words is legal."""
    game, text = table.game, table.raw_env().text
    rng = np.random.default_rng(0)
    for state in decisions(game, table.play(seed=9).states):
        view = game.view(state, game.actor(state))
        for words in ("", "?", "player_0, player_1, player_2, player_3, player_4, player_99", "yes and no"):
            assert text.default(words, view, rng) in view.legal


def prose_kept_from_turn_to_turn_equals_prose_rendered_anew(table: Table) -> None:
    """Prose kept from turn to turn equals prose rendered anew."""
    env = table.raw_env()
    for seed in (10, 11):
        for _ in follow(env, table.play(seed)):
            for agent in env.possible_agents:
                assert env.observe(agent)["text"] == render(env.text, env.game.view(env.state_now, env.seat_of[agent]))


# -- numbers ---------------------------------------------------------------------------------------------------


def features_are_within_their_box_at_every_step(table: Table) -> None:
    """Features are within their box at every step."""
    env = table.raw_env(observation="features")
    game = env.game
    for state in table.play(seed=15).states:
        for seat in range(game.seats):
            features = env.encoder(game.view(state, seat))
            assert features.shape == (env.encoder.size,)
            assert features.dtype == np.float32
            assert np.all(np.abs(features) <= 1)


# -- what the game tells about itself ----------------------------------------------------------------------------


def card_of(spec: GameSpec) -> dict[str, str]:
    """The first table of the docstring of the spec's module: row by row."""
    text = sys.modules[type(spec).__module__].__doc__ or ""
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))


def the_card_names_the_game_its_players_and_its_options(table: Table) -> None:
    """The card names the game, its players and its options, and other options are refused."""
    spec, card = table.spec, card_of(table.spec)
    assert card["Name"] == f"`{spec.id}`"
    seats = EnvModule(spec).raw_env().game.seats
    low, _, high = card["Players"].split(",")[0].partition("-")
    assert int(low) <= seats <= int(high or low)
    assert list(spec.options) == list(inspect.signature(spec.build).parameters)
    assert re.findall(r"`(\w+)`", card.get("Options", "")) == list(spec.options)
    assert all(option.isprintable() for option in spec.options.values())
    assert "colour" in str(refused(partial(table.env, colour="blue")))


def every_seat_is_on_a_side_and_one_of_them_wins(table: Table) -> None:
    """Every seat is on one of the sides, if the game has any, and one of them wins or there is a draw."""
    game, sides = table.game, table.spec.sides
    end = table.play(seed=22, words=0).states[-1]
    outcome = game.outcome(end)
    views: list[Any] = [game.view(end, seat) for seat in range(game.seats)]
    assert outcome is not None
    assert not sides or {view.side for view in views} <= set(sides)
    assert not sides or outcome.winner in (*sides, "draw")


def the_heuristic_makes_legal_moves(table: Table) -> None:
    """The heuristic, if the game has one, makes legal moves, the same from the same seed."""
    if table.spec.heuristic:
        assert _played_by_heuristics(table) == _played_by_heuristics(table)


def _played_by_heuristics(table: Table) -> list[Move]:
    env, make = table.raw_env(), dotted.load(table.spec.heuristic, "heuristic")
    env.reset(seed=23)
    players: dict[int, Any] = {}
    while env.outcome is None:
        seat = env.seat
        if seat not in players:
            players[seat] = make(env.view(seat), np.random.default_rng((23, seat)))
        env.play(players[seat].act(env.view(seat)))
    return env.moves


CHECKS: Final = (
    the_catalogue_has_each_move_once_and_without_words,
    legal_is_not_empty_until_over_and_in_catalogue_order,
    every_legal_move_applies_with_and_without_words,
    everything_else_is_refused_with_a_reason,
    apply_is_pure_and_states_are_hashable,
    refusals_leave_the_state_as_it_was,
    a_game_is_built_again_from_its_config,
    games_end_within_max_moves,
    returns_are_those_that_the_card_declares,
    the_third_section_lists_exactly_the_legal_moves,
    every_legal_move_is_read_back_from_its_sentence,
    the_default_for_unusable_words_is_legal,
    prose_kept_from_turn_to_turn_equals_prose_rendered_anew,
    features_are_within_their_box_at_every_step,
    the_card_names_the_game_its_players_and_its_options,
    every_seat_is_on_a_side_and_one_of_them_wins,
    the_heuristic_makes_legal_moves,
)
