"""Avalon's rule book, and the points on which its three sets of rules differ, each with a game played by hand.

Sources: the rule sheet of The Resistance: Avalon (tables "players" and "quest teams", "character roles", "team building
phase", "quest phase", "game end"); Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published
with its code (reference). Seats are 0-based. A table's deal is given seat by seat.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import GAME
from parlour.envs.core import NATURE, OVER, IllegalMove, Knowledge, Move, Outcome, ParlourError

from tests.envs.hidden_roles.played_by_hand import A, AvalonPlay, D, G, M, N, O, P, S

PRESETS = ("paper", "reference", "official")
SIX = (M, P, S, S, G, A)
SEVEN = (M, P, S, S, G, A, N)
APPROVE, REJECT = Move("vote", (1,)), Move("vote", (0,))
SUCCESS, FAIL = Move("card", (1,)), Move("card", (0,))
PASS = Move("guess")


class Play(AvalonPlay):
    """A game without talk, unless a test asks for it, in which the Assassin keeps quiet after quests that are `won` or `lost`."""

    def __init__(self, deal: tuple[str, ...] = SIX, rules: str = "paper", **options: Any) -> None:
        super().__init__(deal, rules, **{"talk": False, **options})

    def won(self, *team: int, fails: int = 0) -> Play:
        self.quest(*team, fails=fails)
        return self.do(PASS) if self.legal[:1] == (PASS,) else self

    def lost(self, *team: int) -> Play:
        """The last member plays fail."""
        return self.won(*team, fails=1)


every_preset = pytest.mark.parametrize("rules", PRESETS)
guess_each_quest = pytest.mark.parametrize("rules", ["paper", "reference"])
EVIL_WINS, GOOD_WINS = (-1.0, -1.0, -1.0, -1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0, -1.0, -1.0)

# players: evil ones, team sizes, approvals of half and of more than half, fails that the fourth quest needs in the rule sheet
TABLES = {
    5: (2, (2, 3, 2, 3, 3), 3, 3, 1),
    6: (2, (2, 3, 4, 3, 4), 3, 4, 1),
    7: (3, (2, 3, 3, 4, 4), 4, 4, 2),
    8: (3, (3, 4, 4, 5, 5), 4, 5, 2),
    9: (3, (3, 4, 4, 5, 5), 5, 5, 2),
    10: (4, (3, 4, 4, 5, 5), 5, 6, 2),
}


# -- tables of the rule sheet ----------------------------------------------------------------------------------


@every_preset
@pytest.mark.parametrize("players", TABLES)
def test_a_table_has_the_sides_teams_majority_and_fails_of_the_rule_sheet(rules, players):
    evil, sizes, half, strict, fails = TABLES[players]
    roles = GAME.build(GAME.options(num_players=players, rules=rules)).roles
    assert Counter(roles) == Counter({M: 1, P: 1, S: players - evil - 2, G: 1, A: 1, N: evil - 2})
    carried = strict if rules == "official" else half
    for approvals in (carried - 1, carried):
        play = Play(roles, rules).propose(*range(sizes[0])).vote(*[1] * approvals, *[0] * (players - approvals))
        assert (play.kinds == {"card"}) == (approvals == carried)
    needed = fails if rules == "official" else 1
    for played in (1, 2):
        play = Play(roles, rules)
        assert (play.view().sizes, play.view().fails_needed) == (sizes, (1, 1, 1, needed, 1))
        play.won(*range(sizes[0])).lost(*range(sizes[1] - 1), players - 1).won(*range(sizes[2]))
        play.go(*range(sizes[3] - 2), players - 2, players - 1).cards(*[1] * (sizes[3] - played), *[0] * played)
        assert play.announced("fails")[-1] == (3, played, int(played < needed))
    play = play.do(PASS) if PASS in play.legal else play
    leads = [(lead[0], lead[2], lead[4]) for lead in play.announced("leads")]
    assert leads == list(zip(range(5), sizes, (1, 1, 1, needed, 1), strict=True))
    assert max(len(move.args) for move in play.legal) == sizes[4]


@every_preset
def test_teams_are_different_seats_of_the_table_in_ascending_order(rules):
    play = Play(SIX, rules)
    for team in ((0, 0), (1, 0), (0, 6), (-1, 0), (0, 1, 2), (0, 1, 2, 3, 4, 5)):
        with pytest.raises(IllegalMove, match="accepted: 2 different seats"):
            play.propose(*team)


# -- character roles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deal", "shown"),
    [
        # Merlin sees evil, Percival Merlin and Morgana, evil each other; none of them which is which, and servants nothing
        (SIX, {0: ((G, A), (4, 5)), 1: ((M, G), (0, 4)), 4: ((G, A), (5,)), 5: ((G, A), (4,))}),
        ((G, P, S, S, M, A), {4: ((G, A), (0, 5)), 1: ((M, G), (0, 4)), 0: ((G, A), (5,)), 5: ((G, A), (0,))}),
        # Mordred is hidden from Merlin; Oberon is blind and unseen but by Merlin; without Morgana Percival knows Merlin
        ((M, P, S, S, D, A, O), {0: ((A, O), (5, 6)), 1: ((M,), (0,)), 4: ((A, D), (5,)), 5: ((A, D), (4,))}),
        ((M, P, S, S, O, A, G), {0: ((G, A, O), (4, 5, 6)), 1: ((M, G), (0, 6)), 5: ((G, A), (6,)), 6: ((G, A), (5,))}),
        ((M, S, S, S, A, D), {0: ((A,), (4,)), 4: ((A, D), (5,)), 5: ((A, D), (4,))}),
    ],
)
def test_the_night_shows_each_role_whom_it_may_know_and_its_own_role(deal, shown):
    play = Play(deal)
    for seat, role in enumerate(deal):
        view = play.view(seat)
        assert view.knows == ((Knowledge(*shown[seat]),) if seat in shown else ())
        assert (view.role, view.side) == (role, "good" if role in (M, P, S) else "evil")
        assert sorted(view.roles) == sorted(deal)


# -- setup -----------------------------------------------------------------------------------------------------


def test_the_first_leader_and_the_seats_of_the_roles_are_random():
    game = GAME.build(GAME.options(num_players=5))
    rng = np.random.default_rng(0)
    deals = [game.nature(game.initial(), rng).args for _ in range(2000)]
    # 5! = 120 deals of 5 different roles, and 5 leaders
    assert len({deal[:-1] for deal in deals}) == 120
    for column in range(6):
        counts = np.bincount([deal[column] for deal in deals], minlength=5)
        assert np.all(np.abs(counts - 400) < 100)  # 5.6 standard deviations of 17.9


def test_the_deal_holds_the_roles_in_play_and_a_leader_and_before_it_nobody_knows_anything():
    game = GAME.build(GAME.options(num_players=6))
    for args in ((0, 1, 2, 2, 3, 3, 0), (0, 1, 2, 2, 3, 4), (0, 1, 2, 2, 3, 4, 6), (0, 1, 2, 2, 3, 4, -1), ()):
        with pytest.raises(IllegalMove):
            game.apply(game.initial(), Move("deal", args))
    assert game.actor(game.initial()) == NATURE
    view = game.view(game.initial(), 0)
    assert (view.role, view.side, view.knows, view.legal, view.events) == ("", "", (), (), ())


# -- discussion and teams --------------------------------------------------------------------------------------


@every_preset
def test_all_speak_once_before_a_proposal_leader_first(rules):
    play = Play(SIX, rules, leader=4, talk=True)
    for order in ([4, 5, 0, 1, 2, 3], [5, 0, 1, 2, 3, 4]):
        speakers = [play.actor]
        while "propose" not in play.do(Move("silent")).kinds:
            speakers.append(play.actor)
        assert speakers == order
        assert play.actor == order[0]
        play.rejected(0, 1)


def test_nobody_accuses_or_defends_himself():
    play = Play(SIX, leader=2, talk=True)
    said = {kind: [m.args[0] for m in play.legal if m.kind == kind] for kind in play.kinds - {"silent"}}
    others, every = [0, 1, 3, 4, 5], [0, 1, 2, 3, 4, 5]
    assert said == {"accuse": others, "defend": others, "recommend": every, "claim_role": [0, 1, 2, 3, 4]}
    assert Move("silent") in play.legal


def test_without_talk_the_leader_begins():
    play = Play(SIX, leader=3)
    assert (play.actor, play.kinds) == (3, {"propose"})
    assert {m.kind for m in play.game.catalogue} == {"propose", "vote", "card", "guess"}


@every_preset
def test_the_leader_changes_with_every_proposal_also_from_quest_to_quest(rules):
    play = Play(SIX, rules, leader=4).rejected(0, 1, times=3).won(0, 1)
    assert [args[1] for args in play.announced("leads")] == [4, 5, 0, 1, 2]
    assert play.actor == play.view().leader == 2


@every_preset
def test_all_vote_in_seat_order_and_votes_are_hidden_until_all_are_in(rules):
    play = Play(SIX, rules, leader=3).propose(0, 1)
    before = [play.view(seat)._replace(legal=()) for seat in range(6)]
    for voter, vote in enumerate((1, 0, 1, 0, 1, 1)):
        assert (play.actor, play.legal) == (voter, (APPROVE, REJECT))
        assert [play.view(seat)._replace(legal=()) for seat in range(6)] == before
        play.vote(vote)
    assert play.announced("votes") == [(1, 1, 0, 1, 0, 1, 1)]
    assert all(play.view(seat).events[-1].move.args == (1, 1, 0, 1, 0, 1, 1) for seat in range(6))


@every_preset
def test_the_fifth_rejection_sends_the_team_or_loses_in_the_official_rules(rules):
    play = Play(SIX, rules).rejected(0, 1, times=4)
    assert play.kinds == {"propose"}
    assert play.outcome is None
    play.rejected(4, 5)
    if rules == "official":
        assert (play.actor, play.outcome) == (OVER, Outcome(EVIL_WINS, "evil", "rejections"))
    else:
        assert play.announced("votes")[-1] == (1, 0, 0, 0, 0, 0, 0)
        assert (play.actor, play.kinds, play.view().team, play.outcome) == (4, {"card"}, (4, 5), None)


def test_a_fifth_proposal_that_is_approved_goes_in_the_official_rules():
    assert Play(SIX, "official").rejected(0, 1, times=4).propose(0, 1).vote(1, 1, 1, 1, 0, 0).kinds == {"card"}


@every_preset
def test_proposals_are_counted_anew_for_each_quest(rules):
    play = Play(SIX, rules).rejected(0, 1, times=4).won(0, 1)
    assert play.view().counted == 0
    play.rejected(0, 1, 2, times=4)
    assert [lead[3] for lead in play.announced("leads")[-5:]] == [0, 1, 2, 3, 4]
    assert (play.kinds, play.outcome) == ({"propose"}, None)


# -- short teams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "official"])
def test_a_short_team_is_not_accepted(rules):
    with pytest.raises(IllegalMove, match=r"team \[0\] is not accepted; accepted: 2 different seats"):
        Play(SIX, rules).propose(0)


def test_teams_of_up_to_the_size_are_voted_on_in_the_reference():
    play = Play(SIX, "reference")
    # nobody, 6 single seats and 15 pairs
    assert [len(m.args) for m in play.legal] == [0] + [1] * 6 + [2] * 15
    assert len(Play(SIX, "reference").won(0, 1).legal) == 1 + 6 + 15 + 20
    for team in ((), (3,)):
        short = Play(SIX, "reference").propose(*team)
        assert (short.kinds, short.view().team) == ({"vote"}, team)
        assert short.vote(1, 1, 1, 0, 0, 0).actor == NATURE


@pytest.mark.parametrize(
    ("teams", "counted"), [([(3,), (0, 1), (3,)], [2, 3, 5]), ([(0, 1), (0, 1), (0, 1), (0, 1), (3,)], [1, 2, 3, 4, 6])]
)
def test_a_short_team_counts_as_two_proposals(teams, counted):
    """Published code: the counter goes up with each proposal, and once more if the team was too short."""
    play = Play(SIX, "reference")
    assert [play.rejected(*team).view().counted for team in teams] == counted
    assert play.actor == NATURE  # the limit of five is reached or passed


def test_a_short_team_that_goes_is_drawn_anew_from_all_seats():
    """Published code: a random team of the full size; the seats that were named are not kept."""
    play = Play(SIX, "reference").go(3)
    rng = np.random.default_rng(0)
    drawn = [play.game.nature(play.state, rng) for _ in range(600)]
    assert {move.kind for move in drawn} == {"draw"}
    assert len({move.args for move in drawn}) == 15  # all pairs of six seats
    assert sum(3 in move.args for move in drawn) < 300  # a third of the pairs, 200 +- 12
    for team in ((1,), (1, 1), (5, 1), (1, 6), (-1, 1), (1, 2, 3), ()):
        with pytest.raises(IllegalMove, match="draws no team of 2"):
            play.do(Move("draw", team))
    play.do(Move("draw", (1, 5)))
    assert play.announced("draw") == [(1, 5)]
    assert (play.actor, play.kinds, play.view().team) == (1, {"card"}, (1, 5))


# -- quest phase -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "official"])
def test_good_plays_only_success(rules):
    play = Play(SIX, rules).go(0, 5)
    assert (play.actor, play.legal) == (0, (SUCCESS,))
    with pytest.raises(IllegalMove, match=r"card \[0\] is not accepted; accepted: \[\[1\]\]"):
        play.cards(0)
    play.cards(1)
    assert (play.actor, play.legal) == (5, (SUCCESS, FAIL))


def test_good_may_play_fail_in_the_reference():
    """One of the 211 published cards is a fail of a good player."""
    play = Play(SIX, "reference").go(0, 1)
    assert play.legal == (SUCCESS, FAIL)
    assert play.cards(0, 1).announced("fails") == [(0, 1, 0)]


@every_preset
def test_cards_are_played_in_seat_order_counted_and_not_named(rules):
    first, second = (Play(SEVEN, rules).go(4, 5).cards(*cards) for cards in ((1, 0), (0, 1)))
    assert first.announced("fails") == second.announced("fails") == [(0, 1, 0)]
    for seat in (0, 1, 2, 3, 6):
        assert first.view(seat).events == second.view(seat).events
    # a member remembers its own card
    for play, own in ((first, SUCCESS), (second, FAIL)):
        assert [e.move for e in play.view(4).events if e.move.kind == "card"] == [own]
    play, members = Play(SIX, rules).won(0, 1).go(1, 3, 5), []
    while play.kinds == {"card"}:
        members.append(play.actor)
        play.cards(1)
    assert members == [1, 3, 5]


# -- game end --------------------------------------------------------------------------------------------------


@guess_each_quest
def test_three_successes_win_at_once_where_the_assassin_was_asked_before(rules):
    play = Play(SIX, rules).won(0, 1).won(0, 1, 2).won(0, 1, 2, 3)
    assert play.outcome == Outcome(GOOD_WINS, "good", "quests")
    assert play.announced("score") == [(1, 0), (2, 0), (3, 0)]


@every_preset
def test_three_failures_lose_at_once_and_then_nobody_moves(rules):
    play = Play(SIX, rules).lost(0, 5).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert play.outcome == Outcome(EVIL_WINS, "evil", "quests")
    assert (play.announced("score"), play.announced("exposed")) == ([(0, 1), (0, 2), (0, 3)], [])
    assert (play.actor, play.legal) == (OVER, ())
    for move in (APPROVE, SUCCESS, PASS, Move("propose", (0, 1)), Move("silent"), Move("deal", (0,)), Move("draw")):
        with pytest.raises(IllegalMove, match=r"the game is over \(quests\)"):
            play.do(move)


@every_preset
def test_a_game_goes_to_the_fifth_quest_if_need_be(rules):
    play = Play(SIX, rules).won(0, 1).lost(0, 1, 5).won(0, 1, 2, 3).lost(0, 1, 5)
    assert (play.outcome, play.view().quest) == (None, 4)
    play.lost(0, 1, 2, 5)
    assert (play.announced("score")[-1], play.outcome) == ((2, 3), Outcome(EVIL_WINS, "evil", "quests"))


# -- the Assassin ----------------------------------------------------------------------------------------------


@guess_each_quest
def test_the_assassin_is_asked_after_each_quest_until_he_guesses_and_refuses_in_secret(rules):
    play = Play(SIX, rules)
    for team, cards in (((0, 1), (1, 1)), ((0, 1, 5), (1, 1, 0)), ((0, 1, 2, 3), (1, 1, 1, 1))):
        play.go(*team).cards(*cards)
        assert (play.actor, play.kinds) == (5, {"guess"})
        assert play.legal == (PASS, *(Move("guess", (j,)) for j in range(5)))
        play.do(PASS)
        assert play.kinds == {"propose"}
    for seat in range(6):
        assert [e.move for e in play.view(seat).events if e.move.kind == "guess"] == [PASS] * 3 * (seat == 5)
    assert play.announced("exposed") == []


@guess_each_quest
@pytest.mark.parametrize("cards", [(1, 1), (1, 0)])
def test_the_right_guess_ends_the_game_before_the_quest_is_scored(rules, cards):
    play = Play(SIX, rules).go(0, 5).cards(*cards).do(Move("guess", (0,)))
    assert play.outcome == Outcome(EVIL_WINS, "evil", "assassination")
    assert (play.announced("score"), play.announced("exposed")) == ([], [(5, 0, 1)])
    assert (play.view().good, play.view().evil) == (0, 0)
    # it takes the third success away, too
    play = Play(SIX, rules).won(0, 1).won(0, 1, 2).go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert play.outcome is None
    assert play.do(Move("guess", (0,))).outcome == Outcome(EVIL_WINS, "evil", "assassination")
    assert (play.view().good, play.view().evil) == (2, 0)


@guess_each_quest
def test_the_wrong_guess_exposes_and_is_the_only_one(rules):
    play = Play(SIX, rules).go(0, 1).cards(1, 1).do(Move("guess", (1,)))
    assert (play.announced("exposed"), play.announced("score"), play.kinds) == ([(5, 1, 0)], [(1, 0)], {"propose"})
    assert all(play.view(seat).events[-3].move.args == (5, 1, 0) for seat in range(6))  # then the score, the leader
    play.go(0, 1, 2).cards(1, 1, 1)
    assert play.kinds == {"propose"}  # not asked again
    play.go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert play.outcome == Outcome(GOOD_WINS, "good", "quests")
    play = Play(SIX, rules).go(0, 5).cards(1, 0).do(Move("guess", (1,))).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert play.outcome == Outcome(EVIL_WINS, "evil", "quests")


@pytest.mark.parametrize(
    ("named", "outcome"),
    [(0, Outcome(EVIL_WINS, "evil", "assassination")), (2, Outcome(GOOD_WINS, "good", "quests"))],
)
def test_official_the_assassin_must_name_somebody_after_three_successes_and_that_decides(named, outcome):
    play = Play(SIX, "official").go(0, 1).cards(1, 1)
    assert play.kinds == {"propose"}
    play.go(0, 1, 2).cards(1, 1, 1).go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert (play.outcome, play.view().good, play.view().evil) == (None, 3, 0)
    assert (play.actor, play.legal) == (5, tuple(Move("guess", (j,)) for j in range(5)))
    with pytest.raises(IllegalMove, match="guess"):
        play.do(PASS)
    assert play.do(Move("guess", (named,))).outcome == outcome
    assert play.announced("exposed") == [(5, named, int(named == 0))]


@every_preset
def test_the_assassin_and_no_other_is_asked_and_names_another_seat_of_the_table(rules):
    play = Play((A, S, G, M, P, S), rules).won(1, 3).won(1, 3, 4).go(1, 3, 4, 5).cards(1, 1, 1, 1)
    assert play.actor == 0
    for named in (0, 6, -1):
        with pytest.raises(IllegalMove):
            play.do(Move("guess", (named,)))
    assert Move("guess", (2,)) in play.legal  # his own fellow, if he likes


# -- how long it may take --------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(5, 11))
@pytest.mark.parametrize("talk", [True, False])
def test_max_moves_is_reached_by_the_longest_game_or_nearly(players, talk):
    """Five quests with five proposals each; the bound is not exceeded and not idle (a quest's team may be smaller)."""
    game = GAME.build(GAME.options(num_players=players, rules="reference", talk=talk))
    play = Play(tuple(reversed(game.roles)), "reference", talk=talk)  # seats 0.. are evil
    moves = 1
    while play.actor != OVER:
        kind = "draw" if play.actor == NATURE else play.legal[0].kind
        view = play.view()
        if kind == "draw":
            move = Move("draw", tuple(range(view.sizes[view.quest])))
        elif kind == "propose":  # whole teams four times, then a short one, which nature draws anew
            short = view.counted == 4 and view.sizes[view.quest] > 1
            move = next(m for m in play.legal if len(m.args) == view.sizes[view.quest] - short)
        elif kind == "card":  # success, fail, success, fail, success
            move = play.legal[-1] if view.quest % 2 else play.legal[0]
        else:
            move = REJECT if kind == "vote" else play.legal[0]
        play.do(move)
        moves += 1
    assert moves <= game.max_moves
    # 25 proposals at most; of the bound's slack, teams that are smaller than the largest and the draws that were not needed
    assert game.max_moves - moves <= 20 + sum(max(view.sizes) - size for size in view.sizes)
    assert len(play.announced("votes")) == 25


# -- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 4}, r"num_players 4 is not accepted; accepted: 5\.\.10"),
        ({"num_players": 11}, r"num_players 11 is not accepted; accepted: 5\.\.10"),
        ({"num_players": True}, r"num_players True is not accepted; accepted: 5\.\.10"),
        ({"rules": "house"}, "rules 'house' is not accepted; accepted: paper, reference, official"),
        ({"rules": ["paper"]}, r"rules \('paper',\) is not accepted; accepted: paper, reference, official"),
        ({"talk": "yes"}, "talk 'yes' is not accepted; accepted: True, False"),
        ({"roles": SIX[:5]}, "are 5; accepted: one for each of 6 players"),
        ({"roles": (*SIX[:5], "Lancelot")}, "roles 'Lancelot' is not accepted; accepted: .* Merlin, Percival"),
        ({"roles": (S, P, S, S, G, A)}, "hold 0 x Merlin; accepted: exactly one"),
        ({"roles": (M, M, S, S, G, A)}, "hold 2 x Merlin; accepted: exactly one"),
        ({"roles": (M, P, P, S, G, A)}, "hold 2 x Percival; accepted: at most one"),
        ({"roles": (M, P, S, S, S, A)}, "hold 1 evil; accepted: 2 of 6 players"),
        ({"roles": (M, P, S, G, D, A)}, "hold 3 evil; accepted: 2 of 6 players"),
        ({"roles": "Merlin"}, "roles 'Merlin' is not accepted; accepted: None, deeprole, or a list of: Merlin"),
        ({"roles": "deeprol"}, "roles 'deeprol' is not accepted; accepted: None, deeprole, or a list of: Merlin"),
        ({"roles": "deeprole"}, "are 5; accepted: one for each of 6 players"),
        ({"roles": (M, P, S, S, G, [A])}, r"roles \('Assassin',\) is not accepted"),
    ],
    ids=repr,
)
def test_an_option_outside_what_is_accepted_is_refused_in_one_line(options, message):
    with pytest.raises(ParlourError, match=message) as caught:
        GAME.build(GAME.options(**options))
    assert "\n" not in str(caught.value)


def test_roles_are_given_in_any_order_and_dealt_at_random():
    given = (A, S, G, M, P, S)
    assert (
        GAME.build(GAME.options(roles=given)).roles
        == SIX
        == GAME.build(GAME.options(roles=list(SIX))).roles
        == GAME.build(GAME.options()).roles
    )


# -- named sets of roles: Serrino et al. 2019, section 2 -------------------------------------------------------


def test_the_set_deeprole_is_merlin_two_servants_the_assassin_and_one_minion_and_is_written_down_so():
    game = GAME.build(GAME.options(num_players=5, roles="deeprole"))
    assert (game.roles, game.config["roles"]) == ((M, S, S, A, N), [M, S, S, A, N])
    # "uniform over the 60 possible assignments" (section 3.1): 5! / 2!
    assert len({move.args[:-1] for move, _ in game.chances(game.initial())}) == 60


def test_at_deeproles_table_merlin_does_not_know_which_evil_seat_is_the_assassin():
    # Section 3.2: 15 private informations for each seat: 1 as a servant, C(4, 2) = 6 as Merlin, 4 as each evil role.
    seen = set()
    game = GAME.build(GAME.options(num_players=5, rules="official", roles="deeprole", talk=False))
    for move, _ in game.chances(game.initial()):
        view = game.view(game.apply(game.initial(), move), 0)
        seen.add((view.role, tuple(fact.seats for fact in view.knows)))
    assert Counter(role for role, _ in seen) == {S: 1, M: 6, A: 4, N: 4}
