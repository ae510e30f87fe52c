"""What the heuristic states when it is asked: each other seat keeps to the habits or tells nothing, both as likely; in Werewolf some hide.

Worked numbers of an accusation in Werewolf: player_0, a villager at a table of four with one werewolf, hears player_1 accuse player_2. By the
habits a villager hits the werewolf with .55, and a werewolf accuses each of the three others with .92 / 3, since .08 goes to fellows. The
act has likelihood .3067, .55 or .225 if player_1, player_2 or player_3 is the werewolf; mean .3606. Over the mean: .8506, 1.5254, .6240.
A werewolf that hides names fellows as often as the village names werewolves: .45 / 3 = .15, .55, .225; mean .3083; .4865, 1.7838, .7297.
The mean of both kinds: .6686, 1.6546, .6768. Half of all seats tell nothing: 1.6686 / 6 = .2781, 2.6546 / 6 = .4424, 1.6768 / 6 = .2795.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits, LearnedHabits
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.policies import make_policy
from parlour.policies.agents.belief.question import StateBelief, StatedBelief
from parlour.policies.heuristic.stated import Doubts, stated_in_avalon, stated_in_werewolf
from parlour.policies.llm.ask import BadReply
from parlour.training.play.rollout import table

ROLES = ("Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion")
HABITS = AvalonHabits()
KNOWING_VOTES = {
    (True, True): HABITS.approve_dirty_evil,
    (True, False): HABITS.approve_clean_evil,
    (False, True): HABITS.approve_dirty_merlin,
    (False, False): HABITS.approve_clean_merlin,
}
"""(Evil and not Merlin, on a dirty team) -> how often it approves."""


def servant() -> Any:
    """The View of player_1, a servant, after the deal."""
    game = table("avalon_v0", num_players=5, roles=list(ROLES)).game_env.game
    numbers = [game.role_names.index(role) for role in ROLES]
    return game.view(game.apply(game.initial(), Move(avalon.DEALT, (*numbers, 0))), 1)


def villager() -> Any:
    """The View of player_0, a villager, after the deal."""
    game = table("werewolf_v0", num_players=4).game_env.game
    roles = sorted(game.deck, key=lambda number: game.role_names[number] != werewolf.VILLAGER)
    assert game.role_names[roles[0]] == werewolf.VILLAGER
    return game.view(game.apply(game.initial(), Move(werewolf.DEALT, (*roles, *range(4)))), 0)


def seen(view: Any, *events: tuple[int, str, tuple[int, ...]]) -> Any:
    """The View with these events behind its own."""
    return view._replace(events=(*view.events, *(Event(seat, Move(kind, args), None) for seat, kind, args in events)))


def test_two_acts_by_the_habits_or_two_that_tell_nothing():
    """Likelihoods .9 and .3, mean .6: (1 + 1.5^2) / (1 + 1.5^2 + 1 + .5^2) = 3.25 / 4.5."""
    doubts = Doubts(seats=2, hypotheses=2)
    for _ in range(2):
        doubts.see(1, np.log([0.9, 0.3]))
    odds = np.exp(doubts.log_likelihood())
    assert odds[0] / odds.sum() == pytest.approx(3.25 / 4.5)


def test_two_kinds_that_tell_are_together_as_likely_as_one_that_tells_nothing():
    """Likelihoods .9 and .3 by one kind, .3 and .9 by the other: 1.5 and .5, .5 and 1.5 over the mean, so 1 + 1 for both."""
    doubts = Doubts(seats=2, hypotheses=2, kinds=2)
    doubts.see(1, np.log([0.9, 0.3]), np.log([0.3, 0.9]))
    assert np.exp(doubts.log_likelihood()) == pytest.approx([4.0, 4.0])  # seat 0 did nothing: 2 for either


ACCUSED = pytest.approx([0.0, 0.2781, 0.4424, 0.2795], abs=1e-4)


def test_an_accusation_in_werewolf_counts_half_and_werewolves_may_hide():
    assert stated_in_werewolf(seen(villager(), (1, speech.ACCUSE, (2,)))) == ACCUSED


def test_who_names_a_seat_that_another_has_named_on_that_day_follows():
    accused = seen(villager(), (1, speech.ACCUSE, (2,)))
    assert stated_in_werewolf(seen(accused, (3, speech.ACCUSE, (2,)))) == ACCUSED
    assert stated_in_werewolf(seen(accused, (3, speech.ACCUSE, (1,)))) != ACCUSED
    assert stated_in_werewolf(seen(accused, (1, speech.ACCUSE, (2,)))) != ACCUSED  # its own word again


def test_after_a_night_nobody_follows():
    accused = seen(villager(), (1, speech.ACCUSE, (2,)), (NATURE, werewolf.NIGHT, (2,)))
    assert stated_in_werewolf(seen(accused, (3, speech.ACCUSE, (2,)))) != ACCUSED


def test_a_vote_follows_what_was_said_and_not_other_votes_of_the_same_ballot():
    """Nobody sees a secret ballot before it is over."""
    accused = seen(villager(), (1, speech.ACCUSE, (2,)))
    hidden = accused._replace(public_votes=False)
    assert stated_in_werewolf(seen(hidden, (NATURE, werewolf.VOTES, (1, -1, -1, -1, 2)))) == ACCUSED
    both, first, last = (
        stated_in_werewolf(seen(villager()._replace(public_votes=False), (NATURE, werewolf.VOTES, (1, -1, *votes))))
        for votes in ((2, -1, 2), (2, -1, -1), (-1, -1, 2))
    )
    assert both[2] > max(first[2], last[2])


def test_a_report_of_a_check_is_no_following():
    accused = seen(villager(), (1, speech.ACCUSE, (2,)))
    assert stated_in_werewolf(seen(accused, (3, speech.REPORT, (2, 1)))) != ACCUSED


def test_votes_of_avalon_by_bayes_over_all_deals():
    """Written down plainly: all deals that player_1 holds possible, and for each seat the mean of both kinds of players."""
    team, votes = (0, 1), (1, 1, 0, 1, 0)
    deals = [deal for deal in set(permutations(ROLES)) if deal[1] == "Loyal Servant"]

    def vote_chance(deal: tuple[str, ...], seat: int) -> float:
        dirty = deal[0] in avalon.EVIL_ROLES
        role = deal[seat]
        approves = HABITS.approve_blind if role == "Loyal Servant" else KNOWING_VOTES[role != "Merlin", dirty]
        return approves if votes[seat] else 1 - approves

    weight = np.ones(len(deals))
    for seat in (0, 2, 3, 4):
        by_habits = np.array([vote_chance(deal, seat) for deal in deals])
        weight *= by_habits / 2 + by_habits.mean() / 2
    evil = np.array([[role in avalon.EVIL_ROLES for role in deal] for deal in deals])
    view = seen(servant(), (NATURE, avalon.DRAWN, team), (NATURE, avalon.VOTES, (1, *votes)))
    assert stated_in_avalon(view) == pytest.approx((weight @ evil / weight.sum()).tolist())


def test_a_team_tells_by_its_share_among_all_teams_of_the_size():
    """player_0 takes player_2 along: dirty 9 in 10 times if evil, 1 in 10 if Merlin, else .8 of the dirty teams' share.

    Of the ten pairs of five seats three have no evil seat; 12 deals fit what player_1 knows, with Merlin and two evil seats anywhere.
    """
    deals = [deal for deal in sorted(set(permutations(ROLES))) if deal[1] == "Loyal Servant"]
    telling = []
    for deal in deals:
        dirty = deal[0] in avalon.EVIL_ROLES or deal[2] in avalon.EVIL_ROLES
        by_role = {"Merlin": 0.1, "Loyal Servant": 0.8 * 0.7}.get(deal[0], 0.9)
        telling.append(by_role / 0.7 if dirty else (1 - by_role) / 0.3)
    weight = np.array(telling) + np.mean(telling)
    evil = np.array([[role in avalon.EVIL_ROLES for role in deal] for deal in deals])
    chances = stated_in_avalon(seen(servant(), (0, avalon.TEAM, (0, 2))))
    assert chances == pytest.approx((weight @ evil / weight.sum()).tolist())


def test_cards_count_as_in_play():
    """Two fails of three members, one of them the servant itself: both others are evil, unless a good seat erred (1 in 1,000)."""
    view = seen(
        servant(),
        (NATURE, avalon.DRAWN, (0, 1, 2)),
        (1, avalon.CARD, (1,)),
        (NATURE, avalon.FAILS, (0, 2, 0)),
    )
    assert stated_in_avalon(view) == pytest.approx([1.0, 0.0, 1.0, 0.0, 0.0], abs=3e-3)


def test_learned_habits_are_not_doubted():
    view = seen(servant(), (3, speech.ACCUSE, (4,)), (3, speech.ACCUSE, (4,)))
    belief = AvalonBelief(view.roles, 1, "Loyal Servant", view.knows, LearnedHabits())
    for event in view.events:
        belief.see(event.seat, *event.move)
    assert stated_in_avalon(view, LearnedHabits()) == pytest.approx(belief.evil_chance().tolist())
    assert stated_in_avalon(view)[4] > belief.evil_chance()[4] + 0.1


# -- the question ------------------------------------------------------------------------------------------------------

QUESTION = StateBelief(
    who="You are player_0.", events=[], side="evil", members=2, players=["player_1", "player_2", "player_3"]
)


def test_the_question_names_the_number_of_evil_players_and_asks_for_each_of_the_others():
    assert "2 are on the side" in QUESTION.prompt()
    assert QUESTION.heuristic(np.random.default_rng(0)).chances == pytest.approx(
        dict.fromkeys(QUESTION.players, 2 / 3), abs=1e-3
    )


def test_the_schema_of_the_answer_has_a_field_for_each_of_the_others_and_no_other():
    """A server that holds a model to the schema can thus give no answer about too few players."""
    schema = QUESTION.schema_of_answer()["properties"]["chances"]
    assert schema["required"] == list(schema["properties"]) == QUESTION.players
    assert schema["additionalProperties"] is False
    assert all(part == {"type": "number", "minimum": 0, "maximum": 1} for part in schema["properties"].values())


def test_an_answer_about_too_few_players_is_refused():
    answer = StatedBelief(thoughts="", chances={"player_1": 0.5})
    with pytest.raises(BadReply, match="accepted: one for each of player_1, player_2, player_3"):
        QUESTION.read(answer.model_dump_json())


def test_the_random_player_gives_the_share_of_evil_players_to_each_of_the_others():
    policy = make_policy("random", "avalon_v0", {})
    policy.reset(1, 0)
    assert policy.state_belief({}, {"members": 2, "seats": 5}) == [0.5, 0.0, 0.5, 0.5, 0.5]
