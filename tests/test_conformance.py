"""Every registered game keeps the contract of `parlour.envs.core` (DESIGN.md sections 2, 3 and 6). The checklist:

* legality: legal moves are there until the game is over, stand in the catalogue in its order, and all apply; everything
  else raises IllegalMove; words never matter to legality
* purity: `apply` changes nothing, answers the same twice, and states are hashable
* the end: within `max_moves`, with a return for every seat as the game's card declares
* text: the third section lists exactly the legal moves, each is read back from its own sentence, and what the
  environment keeps from turn to turn equals the prose rendered anew, for every seat at every step
* numbers: features in [-1, 1] of the declared size, the mask is legality in the observation and in info
* the card (the package's docstring) tells the truth; spaces contain observations; copies of an environment go on alike
"""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.aec import GameEnv
from parlour.envs.avalon.presets import PLAYERS, PRESETS
from parlour.envs.avalon.vocabulary import EVIL_ROLES
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, ParlourError
from parlour.envs.registry import GAMES, build
from parlour.envs.text import CHOICE, NOT_YOUR_TURN, OPTION, RECORD, WHO, render


def sampled(states: list[Any], count: int = 12) -> list[Any]:
    """Some states, from all parts of the game, the first and the last among them."""
    return [states[int(k)] for k in np.unique(np.linspace(0, len(states) - 1, count).astype(int))]


def decisions(game: Any, states: list[Any], count: int = 12) -> list[Any]:
    """Some states in which a seat is to move, at least one for each phase that was played."""
    to_move = [s for s in states if game.actor(s) >= 0]
    first_of_kind = {game.legal(s)[0].kind: s for s in reversed(to_move)}
    return [*first_of_kind.values(), *sampled(to_move, count)]


def follow(env: GameEnv, played: Any) -> Any:
    """Play a game again in an environment; yields before each move of a seat, and at the end."""
    moves = [(env.game.actor(before), move) for before, move, _ in played.steps]
    env.reset(options={"nature": [move for actor, move in moves if actor == NATURE]})
    for actor, move in moves:
        if actor != NATURE:
            yield move
            env.play(move)
    yield None


# -- legality --------------------------------------------------------------------------------------------------


def test_the_catalogue_has_each_move_once_and_without_words(table):
    catalogue = table.game.catalogue
    assert len(set(catalogue)) == len(catalogue)
    assert all(move.words == "" for move in catalogue)


def test_legal_is_not_empty_until_over_and_in_catalogue_order(table, playout):
    game = table.game
    number = {move: k for k, move in enumerate(game.catalogue)}
    for seed in range(3):
        for state in playout(game, seed).states:
            legal, actor = game.legal(state), game.actor(state)
            assert bool(legal) == (actor >= 0)
            assert actor in range(game.seats) or actor in (NATURE, OVER)
            numbers = [number[move] for move in legal]
            assert numbers == sorted(set(numbers))


def test_every_legal_move_applies_with_and_without_words(table, playout):
    game = table.game
    for state in decisions(game, playout(game, seed=1).states):
        for move in game.legal(state):
            after = game.apply(state, move)
            spoken = game.apply(state, move._replace(words="as I said"))
            assert game.actor(after) == game.actor(spoken)
            assert game.legal(after) == game.legal(spoken)


def test_everything_else_is_refused_with_a_reason(table, playout):
    game = table.game
    nonsense = [Move("nonsense"), Move("", ()), Move("nonsense", (99,), "words")]
    strange = [Move(move.kind, args) for move in game.catalogue[:: max(1, len(game.catalogue) // 20)] for args in ODD]
    for state in [game.initial(), *sampled(playout(game, seed=2).states), playout(game, seed=3).states[-1]]:
        legal = set(game.legal(state))
        for move in [*game.catalogue, *nonsense, *strange]:
            if move not in legal:
                with pytest.raises(IllegalMove, match=r"\w"):
                    game.apply(state, move)


ODD = ((), (-1,), (99,), (0, 0), (1, 0), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))


# -- purity ----------------------------------------------------------------------------------------------------


def test_apply_is_pure_and_states_are_hashable(table, playout):
    game = table.game
    played = playout(game, seed=4)
    for before, move, after in played.steps:
        kept, key = pickle.dumps(before), hash(before)
        again = game.apply(before, move)
        assert again == after
        assert hash(again) == hash(after)
        assert hash(before) == key
        assert pickle.loads(kept) == before


def test_refusals_leave_the_state_as_it_was(table, playout):
    game = table.game
    for state in sampled(playout(game, seed=5).states):
        kept = pickle.loads(pickle.dumps(state))
        with pytest.raises(IllegalMove):
            game.apply(state, Move("nonsense"))
        assert state == kept


def test_a_game_is_built_again_from_its_config(table, playout):
    game = table.game
    again = build(registry[table.name].spec, json.loads(json.dumps(dict(game.config))))
    assert (again.seats, again.catalogue, again.max_moves) == (game.seats, game.catalogue, game.max_moves)
    assert playout(again, seed=6) == playout(game, seed=6)


# -- the end ---------------------------------------------------------------------------------------------------


def test_games_end_within_max_moves(table, playout):
    game = table.game
    for seed in range(10):
        played = playout(game, seed, words=0, longest=game.max_moves)
        assert game.actor(played.states[-1]) == OVER
        assert [game.outcome(s) is not None for s in played.states] == [game.actor(s) == OVER for s in played.states]


def test_returns_are_those_that_the_card_declares(table, playout):
    game = table.game
    for seed in range(10):
        end = playout(game, seed, words=0).states[-1]
        outcome = game.outcome(end)
        assert len(outcome.returns) == game.seats
        assert np.all(np.isfinite(outcome.returns))
        assert f"`{outcome.reason}`" in card_of(table.name)["Reasons of the end"]
        if table.name == "avalon_v0":
            won = [game.view(end, seat).side == outcome.winner for seat in range(game.seats)]
            evil = [game.view(end, seat).role in EVIL_ROLES for seat in range(game.seats)]
            assert outcome.returns == tuple(1.0 if w else -1.0 for w in won)
            assert [w == (outcome.winner == "evil") for w in won] == evil
        if table.name == "template_v0":
            assert sorted(outcome.returns) == [-1.0, 1.0]
            assert outcome.returns[1] == (1.0 if outcome.winner == "guesser" else -1.0)


# -- text ------------------------------------------------------------------------------------------------------


def test_the_third_section_lists_exactly_the_legal_moves(table, playout):
    game, text = table.game, table.raw_env().text
    for state in decisions(game, playout(game, seed=7).states):
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


def test_every_legal_move_is_read_back_from_its_sentence(table, playout):
    game, text = table.game, table.raw_env().text
    for state in decisions(game, playout(game, seed=8).states):
        view = game.view(state, game.actor(state))
        for move in view.legal:
            assert text.parse(text.say(move), view) == move
            assert text.parse(text.say(move).upper(), view)[:2] == move[:2]


def test_the_default_for_unusable_words_is_legal(table, playout):
    game, text = table.game, table.raw_env().text
    rng = np.random.default_rng(0)
    for state in decisions(game, playout(game, seed=9).states):
        view = game.view(state, game.actor(state))
        for words in ("", "?", "player_0, player_1, player_2, player_3, player_4, player_99", "yes and no"):
            assert text.default(words, view, rng) in view.legal


def test_prose_kept_from_turn_to_turn_equals_prose_rendered_anew(table, playout):
    env = table.raw_env()
    for seed in (10, 11):
        for _ in follow(env, playout(env.game, seed)):
            for agent in env.possible_agents:
                assert env.observe(agent)["text"] == render(env.text, env.game.view(env.state_now, env.seat_of[agent]))


def test_prose_kept_for_a_seat_that_is_seldom_asked_equals_prose_rendered_anew(table, playout):
    """An environment that is observed now and then only, as in play, and reset in mid-game."""
    env = table.raw_env()
    for seed in (12, 13):
        played = playout(env.game, seed)
        for turn, _ in enumerate(follow(env, played)):
            if turn == 5 and seed == 12:
                break
            agent = env.agent_selection if turn % 3 else env.possible_agents[turn % env.game.seats]
            assert env.observe(agent)["text"] == render(env.text, env.game.view(env.state_now, env.seat_of[agent]))


def test_rendering_shows_what_everybody_saw(table, playout):
    env = table.raw_env(render_mode="ansi")
    for _ in follow(env, playout(env.game, seed=14)):
        shown = [event for event in env.state_now.log if event.to is None]
        assert env.render() == "".join(map(env.text.line, shown))
        for seat in range(env.game.seats):
            assert [e for e in env.view(seat).events if e.to is None] == shown


# -- numbers ---------------------------------------------------------------------------------------------------


def test_features_are_within_their_box_at_every_step(table, playout):
    env = table.raw_env(observation="features")
    game = env.game
    for state in playout(game, seed=15).states:
        for seat in range(game.seats):
            features = env.encoder(game.view(state, seat))
            assert features.shape == (env.encoder.size,)
            assert features.dtype == np.float32
            assert np.all(np.abs(features) <= 1)


def test_the_mask_is_legality_in_the_observation_and_in_info(table, playout):
    env = table.raw_env(observation="both", info="full")
    game = env.game
    for _ in follow(env, playout(game, seed=16)):
        for agent in env.agents:
            legal = env.game.legal(env.state_now) if env.outcome is None and agent == env.agent_selection else ()
            expected = np.array([move in legal for move in game.catalogue], dtype=np.int8)
            for mask in (env.observe(agent)["action_mask"], env.infos[agent]["action_mask"]):
                assert mask.dtype == np.int8
                assert np.array_equal(mask, expected)
            if legal:
                info = env.infos[agent]
                assert [game.catalogue[k] for k in info["legal"]] == list(legal) == list(info["view"].legal)
                assert list(info["options"]) == [env.text.say(move) for move in legal]
                assert info["view"] == game.view(env.state_now, env.seat)


def test_info_holds_numbers_only_unless_it_is_asked_to_be_full(table):
    env = table.raw_env()
    env.reset(seed=0)
    for agent in env.agents:
        assert list(env.infos[agent]) == ["action_mask"]


def test_spaces_contain_the_observations(table, playout):
    for observation in ("text", "features", "both"):
        env = table.raw_env(observation=observation)
        keys = {"text": {"text"}, "features": {"observation"}, "both": {"text", "observation"}}[observation]
        assert len({repr(env.observation_space(agent)) for agent in env.possible_agents}) == 1
        for _ in follow(env, playout(env.game, seed=17)):
            for agent in env.possible_agents:
                seen = env.observe(agent)
                assert set(seen) == {*keys, "action_mask"}
                assert env.observation_space(agent).contains(seen)


def test_actions_that_are_no_legal_number_are_refused_and_change_nothing(table):
    env = table.raw_env(observation="both")
    env.reset(seed=18)
    before = env.state_now, pickle.dumps(env.observe(env.agent_selection))
    forbidden = np.flatnonzero(env.infos[env.agent_selection]["action_mask"] == 0)[:1].tolist()  # none for a bandit
    for action in (-1, len(env.game.catalogue), 10**20, 0.5, "words", None, [0], *forbidden, *map(np.int64, forbidden)):
        with pytest.raises(ParlourError):
            env.step(action)
    assert (env.state_now, pickle.dumps(env.observe(env.agent_selection))) == before
    assert env.moves == [move for move in env.moves if move not in env.game.catalogue]  # nature's only


# -- the card --------------------------------------------------------------------------------------------------


def card_of(name: str) -> dict[str, str]:
    """The first table of the package's docstring: row by row."""
    text = import_module(GAMES[name]).__doc__ or ""
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))


@pytest.mark.parametrize("name", list(registry))
def test_the_card_names_the_game_its_players_and_its_options(name):
    spec, card = registry[name].spec, card_of(name)
    assert card["Name"] == f"`{name}`" == f"`{spec.id}`"
    seats = registry[name].raw_env().game.seats
    low, _, high = card["Players"].split(",")[0].partition("-")
    assert int(low) <= seats <= int(high or low)
    accepted = inspect.signature(spec.build).parameters
    assert list(spec.options) == list(accepted)
    assert re.findall(r"`(\w+)`", card.get("Options", "")) == list(spec.options)
    for option in spec.options.values():
        assert option.isprintable()
    with pytest.raises(ParlourError, match="colour"):
        registry[name].env(colour="blue")


def test_the_card_of_avalon_tells_its_players_presets_and_their_points():
    spec, text = registry["avalon_v0"].spec, import_module(GAMES["avalon_v0"]).__doc__ or ""
    low, high = card_of("avalon_v0")["Players"].split(",")[0].split("-")
    assert range(int(low), int(high) + 1) == PLAYERS
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.count("|") == 5]
    points = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows}
    assert rows[0] == ["point", *PRESETS]
    assert spec.options["rules"] == ", ".join(PRESETS)
    for preset, rules in PRESETS.items():
        said = {point: row[preset] for point, row in points.items()}
        said = {point: points[point]["paper"] if "the same" in cell else cell for point, cell in said.items()}
        assert said["a team goes with"].startswith("half") == (rules.majority == "half")
        assert ("loses" in said["fifth proposal"]) == (rules.fifth_rejection == "evil_wins")
        assert (said["short teams"].startswith("voted on")) == rules.short_teams
        assert (said["good may play fail"] == "yes") == rules.good_may_fail
        assert (said["quest 4 from 7 players"] == "two fails") == rules.two_fails
        assert ("after three good quests" in said["Merlin is named"]) == (rules.hunt == "end")
        assert (said["unreadable card"] == "success") == (rules.unclear_card == "success")


# -- copies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deep", "pickle"])
def test_a_copy_of_an_environment_goes_on_alike(table, copied):
    env = table.env(action="text", observation="both", info="full")
    env.reset(seed=19)
    run(env, table.game.max_moves // 10, seed=20)
    twin = copied(env)
    assert run(twin, 10**6, seed=21) == run(env, 10**6, seed=21)


def run(env: Any, turns: int, seed: int) -> list[bytes]:
    """Step with random legal numbers; returns all that could be seen."""
    rng = np.random.default_rng(seed)
    seen = []
    while turns and env.unwrapped.outcome is None:
        turns -= 1
        info = env.infos[env.agent_selection]
        seen.append(repr((env.observe(env.agents[turns % env.num_agents]), info["options"], env.rewards)).encode())
        env.step(int(rng.choice(info["legal"])))
    return [*seen, repr((env.unwrapped.outcome, env.unwrapped.np_random.integers(2**40))).encode()]
