"""Every registered game keeps the contract of `parlour.envs.core`.

The checks are those of `parlour.envs.testing`; what follows them is about the adapter and parlour's own games.
"""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
from parlour.envs import avalon as package, registry
from parlour.envs.avalon.presets import PLAYERS, PRESETS
from parlour.envs.avalon.vocabulary import EVIL_ROLES
from parlour.envs.language.text import render
from parlour.envs.settings import accepted
from parlour.envs.testing import check_game
from parlour.envs.testing.conformance import card_of
from parlour.envs.testing.table import follow, refused


def test_every_game_passes_all_checks_at_every_table(table):
    check_game(table.spec, [dict(table.options)])


def test_returns_of_avalon_are_those_of_the_side_that_won(avalon, playout):
    game = avalon.game
    for seed in range(10):
        end = playout(game, seed, words=0).states[-1]
        outcome = game.outcome(end)
        won = [game.view(end, seat).side == outcome.winner for seat in range(game.seats)]
        evil = [game.view(end, seat).role in EVIL_ROLES for seat in range(game.seats)]
        assert outcome.returns == tuple(1.0 if w else -1.0 for w in won)
        assert [w == (outcome.winner == "evil") for w in won] == evil


def test_the_card_of_avalon_tells_its_players_presets_and_their_points():
    spec, text = registry["avalon_v0"].spec, package.__doc__ or ""
    low, high = card_of(spec)["Players"].split(",")[0].split("-")
    assert range(int(low), int(high) + 1) == PLAYERS
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.count("|") == 5]
    points = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows}
    assert rows[0] == ["point", *PRESETS]
    assert accepted(spec.options.model_fields["rules"]) == ", ".join(PRESETS)
    for preset, rules in PRESETS.items():
        said = {point: row[preset] for point, row in points.items()}
        said = {point: points[point]["paper"] if "the same" in cell else cell for point, cell in said.items()}
        assert said["a team is approved by"].startswith("half") == (rules.majority == "half")
        assert ("loses" in said["fifth proposal"]) == (rules.fifth_rejection == "evil_wins")
        assert (said["short teams"].startswith("voted on")) == rules.short_teams
        assert (said["good may play fail"] == "yes") == rules.good_may_fail
        assert (said["quest 4 from 7 players"] == "two fails") == rules.two_fails
        assert ("after three good quests" in said["Merlin is guessed"]) == (rules.hunt == "end")
        assert (said["unreadable card"] == "success") == (rules.unclear_card == "success")


# -- the adapter ---------------------------------------------------------------------------------------------------


def test_prose_kept_for_a_seat_that_is_seldom_asked_equals_prose_rendered_anew(small_table):
    """An environment that is observed now and then only, as in play, and reset in mid-game."""
    env = small_table.raw_env()
    for seed in (12, 13):
        played = small_table.play(seed)
        for turn, _ in enumerate(follow(env, played.moves)):
            if turn == 5 and seed == 12:
                break
            agent = env.agent_selection if turn % 3 else env.possible_agents[turn % env.game.seats]
            assert env.observe(agent)["text"] == render(env.text, env.game.view(env.state_now, env.seat_of[agent]))


def test_rendering_shows_what_everybody_saw(small_table):
    env = small_table.raw_env(render_mode="ansi")
    for _ in follow(env, small_table.play(seed=14).moves):
        shown = [event for event in env.state_now.log if event.to is None]
        assert env.render() == "".join(map(env.text.line, shown))
        for seat in range(env.game.seats):
            assert [e for e in env.view(seat).events if e.to is None] == shown


def test_the_mask_is_legality_in_the_observation_and_in_info(small_table):
    env = small_table.raw_env(observation="both", info="full")
    game = env.game
    for _ in follow(env, small_table.play(seed=16).moves):
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


def test_info_holds_numbers_only_unless_it_is_asked_to_be_full(small_table):
    env = small_table.raw_env()
    env.reset(seed=0)
    for agent in env.agents:
        assert list(env.infos[agent]) == ["action_mask"]


def test_actions_that_are_no_legal_number_are_refused_and_change_nothing(small_table):
    env = small_table.raw_env(observation="both")
    env.reset(seed=18)
    before = env.state_now, pickle.dumps(env.observe(env.agent_selection))
    forbidden = np.flatnonzero(env.infos[env.agent_selection]["action_mask"] == 0)[:1].tolist()  # none for a bandit
    for action in (-1, len(env.game.catalogue), 10**20, 0.5, "words", None, [0], *forbidden, *map(np.int64, forbidden)):
        refused(partial(env.step, action))
    assert (env.state_now, pickle.dumps(env.observe(env.agent_selection))) == before
    assert env.moves == [move for move in env.moves if move not in env.game.catalogue]  # nature's only
