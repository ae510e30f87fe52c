"""Werewolf and Avalon with bids for the floor (Bailis et al. 2024, "Werewolf Arena"): who speaks next, and what nobody sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import GAME as AVALON
from parlour.envs.avalon.histories import histories
from parlour.envs.core import NATURE, IllegalMove, Move, ParlourError
from parlour.envs.hidden_roles.bidding import BID, BIDS
from parlour.envs.language.speech import ACCUSE, SILENT
from parlour.envs.language.text import AmbiguousMove, UnreadableMove
from parlour.envs.werewolf import GAME
from parlour.envs.werewolf.vocabulary import BALLOT, CHECKED, CHECKS, DEALT, DRAWN, KILL
from parlour.policies import make_policy
from parlour.policies.heuristic.werewolf import WerewolfPlayer
from parlour.training.play import rollout

from tests.envs.hidden_roles.played_by_hand import Course

ROLES = ("Werewolf", "Seer", "Villager", "Villager")


class Talk(Course):
    """A game of four whose first day has come; seat 0 is the werewolf, seat 1 the seer, and nobody has died."""

    def __init__(self, *, checked: int = 2, **options: Any) -> None:
        self.game = GAME.build(GAME.options(num_players=4, roles=ROLES, speaking="bids", **options))
        self.state = self.game.apply(self.game.initial(), Move(DEALT, (0, 1, 2, 2, 0, 1, 2, 3)))
        self.do(Move(KILL), Move(CHECKS, (checked,)))

    def bids(self, *heights: int) -> Talk:
        """Of the living, in the order of the seats."""
        return self.do(*(Move(BID, (height,)) for height in heights))


def test_all_the_living_bid_from_0_to_4_before_each_speech():
    talk = Talk()
    for seat in range(4):
        assert (talk.actor, talk.game.legal(talk.state)) == (seat, BIDS)
        talk.bids(1 if seat else 2)
    assert (talk.actor, SILENT in talk.kinds) == (0, True)
    talk.do(Move(SILENT))
    assert (talk.actor, talk.kinds) == (0, {BID})


def test_the_highest_bid_speaks_and_nobody_ever_sees_a_bid():
    talk = Talk().bids(0, 3, 4, 1)
    assert talk.actor == 2
    talk.do(Move(SILENT)).bids(4, 0, 0, 0)
    assert talk.actor == 0
    shown = {event.move.kind for seat in range(4) for event in talk.game.view(talk.state, seat).events}
    assert BID not in shown


def test_of_equal_bids_the_player_speaks_that_the_last_speech_is_about():
    talk = Talk().bids(4, 0, 0, 0).do(Move(ACCUSE, (3,)))
    assert talk.bids(2, 2, 2, 2).actor == 3
    talk.do(Move(ACCUSE, (0,)))
    assert talk.bids(1, 2, 2, 0).actor == NATURE  # the accused bid less


def test_other_equal_bids_are_drawn_each_as_likely():
    talk = Talk().bids(2, 0, 2, 2)
    assert [(move.args, chance) for move, chance in talk.game.chances(talk.state)] == [((s,), 1 / 3) for s in (0, 2, 3)]
    drawn = {talk.game.nature(talk.state, np.random.default_rng(seed)).args for seed in range(30)}
    assert drawn == {(0,), (2,), (3,)}
    with pytest.raises(IllegalMove):
        talk.do(Move(DRAWN, (1,)))
    assert talk.do(Move(DRAWN, (2,))).actor == 2


def test_a_day_has_as_many_speeches_as_living_players_and_one_may_hold_several():
    talk = Talk()
    for _ in range(4):
        assert talk.bids(4, 0, 0, 0).actor == 0
        talk.do(Move(SILENT))
    assert talk.kinds == {BALLOT}


def test_no_preset_orders_the_talk_and_when_all_bid_0_the_vote_is_as_ever():
    for rules in ("paper", "reference", "official"):
        talk = Talk(rules=rules).bids(0, 0, 0, 0)
        assert talk.actor == 0
        assert talk.kinds == {BALLOT}
        assert Move(BALLOT, (2,)) in talk.legal


@pytest.mark.parametrize("spec", [GAME, AVALON], ids=["werewolf", "avalon"])
def test_without_the_option_the_game_and_its_configuration_are_as_they_were(spec):
    plain = spec.build(spec.options(num_players=5))
    assert "speaking" not in plain.config
    assert not any(move.kind == BID for move in plain.catalogue)
    assert spec.build(spec.options(num_players=5, speaking="bids")).config["speaking"] == "bids"
    for options in ({"speaking": "shouts"}, {"speaking": "bids", "talk": False}):
        with pytest.raises(ParlourError, match=r"speaking .* is not accepted.*accepted: "):
            spec.build(spec.options(num_players=5, **options))


@pytest.mark.parametrize(("words", "height"), [("3", 3), ("I bid 4!", 4), ("My bid is 0.", 0)])
def test_a_bid_is_read_from_words(words, height):
    talk = Talk()
    assert GAME.text(talk.game).parse(words, talk.game.view(talk.state, 0)) == Move(BID, (height,))


def test_no_number_and_two_numbers_are_no_bid():
    talk = Talk()
    text, view = GAME.text(talk.game), talk.game.view(talk.state, 0)
    with pytest.raises(UnreadableMove):
        text.parse("I want to speak.", view)
    with pytest.raises(AmbiguousMove):
        text.parse("1 or 2", view)
    assert text.default("I want to speak.", view, np.random.default_rng(0)) == Move(BID, (0,))


def test_the_heuristic_bids_most_with_a_wolf_to_report_and_to_answer_else_once_a_day():
    talk = Talk(checked=0)  # the seer found the wolf
    views = [talk.game.view(talk.state, seat) for seat in range(4)]
    assert [args for e in views[1].events for args in [e.move.args] if e.move.kind == CHECKED] == [(0, 1)]
    players = [WerewolfPlayer(view, np.random.default_rng(view.seat)) for view in views]

    def heights() -> list[int]:
        bids = []
        for seat in range(4):
            move = players[seat].act(talk.game.view(talk.state, seat))
            bids.append(move.args[0])
            talk.do(move)
        return bids

    assert heights() == [1, 4, 1, 1]
    talk.do(players[1].act(talk.game.view(talk.state, 1)))  # the seer reports
    assert heights()[0] == 4  # the wolf answers


# -- Avalon ------------------------------------------------------------------------------------------------------------


class Discussion(Talk):
    """A game of five, before the first proposal; seat 0 leads."""

    def __init__(self, **options: Any) -> None:
        self.game = AVALON.build(AVALON.options(num_players=5, speaking="bids", **options))
        deal = (*sorted(self.game.deck), 0)
        self.state = self.game.apply(self.game.initial(), Move("deal", deal))


def test_avalons_players_bid_before_each_speech_of_a_discussion():
    talk = Discussion()
    for seat in range(5):
        assert (talk.actor, talk.game.legal(talk.state)) == (seat, BIDS)
        talk.bids(3 if seat == 4 else seat)
    assert talk.actor == NATURE  # seats 3 and 4 bid 3
    assert [(move.args, chance) for move, chance in talk.game.chances(talk.state)] == [((3,), 0.5), ((4,), 0.5)]
    talk.do(Move("floor", (4,)), Move(ACCUSE, (2,)))
    assert talk.bids(2, 2, 2, 2, 2).actor == 2


def test_avalons_leader_proposes_when_all_bid_0_or_all_speeches_are_held():
    assert Discussion().bids(0, 0, 0, 0, 0).kinds == {"propose"}
    talk = Discussion()
    for _ in range(5):
        assert talk.bids(0, 4, 0, 0, 0).actor == 1
        talk.do(Move(SILENT))
    assert (talk.actor, talk.kinds) == (0, {"propose"})
    # a rejected team opens the next discussion with bids
    talk.do(Move("propose", (0, 1)), *[Move("vote", (0,))] * 5)
    assert (talk.actor, talk.kinds) == (0, {BID})


def test_avalons_histories_are_not_listed_with_bids():
    talk = Discussion()
    with pytest.raises(ParlourError, match="histories are not listed where players bid"):
        next(histories(talk.game, talk.game.view(talk.state, 0)))


# -- whole games -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "policy"),
    [
        ("werewolf_v0", "gratr"),
        *(("avalon_v0", name) for name in ("heuristic", "avalon_agent", "avalon_baseline", "chat")),
    ],
)
def test_players_bid_and_speak(game, policy):
    env = rollout.table(game, num_players=6, speaking="bids")
    players = [make_policy(policy, game, env.game_env.game.config) for _ in range(6)]
    episode = rollout.play(env, players, seed=2)
    kinds = {move.kind for move in env.game_env.moves}
    assert kinds >= {BID, "vote"}
    assert kinds & {SILENT, ACCUSE, "defend", "recommend"}
    assert len({move.args for move in env.game_env.moves if move.kind == BID}) > 1
    assert episode.outcome.reason
