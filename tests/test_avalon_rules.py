"""Avalon's rule book, and the points on which its three sets of rules differ, each with a game played by hand.

Sources: the rule sheet of The Resistance: Avalon (tables "players" and "quest teams", "character roles", "team building
phase", "quest phase", "game end"); Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published
with its code (reference). Seats are 0-based. A table's deal is given seat by seat.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import GAME
from parlour.envs.core import NATURE, OVER, IllegalMove, Knowledge, Move, Outcome, ParlourError

PRESETS = ("paper", "reference", "official")
M, P, S, G, A, D, O, N = (  # noqa: E741 - one letter for each role: the deals below are read at a glance
    "Merlin",
    "Percival",
    "Loyal Servant",
    "Morgana",
    "Assassin",
    "Mordred",
    "Oberon",
    "Minion",
)
SIX = (M, P, S, S, G, A)
SEVEN = (M, P, S, S, G, A, N)
APPROVE, REJECT = Move("vote", (1,)), Move("vote", (0,))
SUCCESS, FAIL = Move("card", (1,)), Move("card", (0,))
PASS = Move("guess")


@dataclass
class Play:
    """A game on a deal of our own, played by hand."""

    deal: tuple[str, ...] = SIX
    rules: str = "paper"
    leader: int = 0
    talk: bool = False
    state: Any = field(init=False)

    def __post_init__(self) -> None:
        self.game = GAME.build(num_players=len(self.deal), rules=self.rules, roles=self.deal, talk=self.talk)
        self.state = self.game.initial()
        self.do(Move("deal", (*(self.game.role_names.index(role) for role in self.deal), self.leader)))

    def do(self, *moves: Move) -> Play:
        for move in moves:
            self.state = self.game.apply(self.state, move)
        return self

    def propose(self, *team: int) -> Play:
        return self.do(Move("propose", team))

    def vote(self, *votes: int) -> Play:
        return self.do(*(Move("vote", (v,)) for v in votes))

    def go(self, *team: int) -> Play:
        """A team that everybody approves."""
        return self.propose(*team).vote(*[1] * len(self.deal))

    def cards(self, *cards: int) -> Play:
        return self.do(*(Move("card", (c,)) for c in cards))

    def won(self, *team: int) -> Play:
        """A quest that succeeds, and the Assassin keeps quiet."""
        self.go(*team).cards(*[1] * len(team))
        return self.do(PASS) if self.legal[:1] == (PASS,) else self

    def lost(self, *team: int) -> Play:
        """A quest on which the last member plays fail."""
        self.go(*team).cards(*[1] * (len(team) - 1), 0)
        return self.do(PASS) if self.legal[:1] == (PASS,) else self

    @property
    def legal(self) -> tuple[Move, ...]:
        return self.game.legal(self.state)

    @property
    def actor(self) -> int:
        return self.game.actor(self.state)

    @property
    def outcome(self) -> Outcome | None:
        return self.game.outcome(self.state)

    def view(self, seat: int = 0) -> Any:
        return self.game.view(self.state, seat)

    def told(self, kind: str) -> list[tuple[int, ...]]:
        """The moderator's announcements of a kind."""
        return [e.move.args for e in self.state.log if e.seat == NATURE and e.move.kind == kind]

    @property
    def kinds(self) -> set[str]:
        return {move.kind for move in self.legal}


# -- tables of the rule sheet ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "good", "evil"), [(5, 3, 2), (6, 4, 2), (7, 4, 3), (8, 5, 3), (9, 6, 3), (10, 6, 4)]
)
def test_table_players_good_and_evil(players, good, evil):
    game = GAME.build(num_players=players)
    sides = [role in (G, A, D, O, N) for role in game.roles]
    assert (sides.count(False), sides.count(True)) == (good, evil)
    for role in (M, P, G, A):
        assert game.roles.count(role) == 1
    assert game.roles.count(S) == good - 2
    assert game.roles.count(N) == evil - 2


@pytest.mark.parametrize(
    ("players", "sizes"),
    [
        (5, (2, 3, 2, 3, 3)),
        (6, (2, 3, 4, 3, 4)),
        (7, (2, 3, 3, 4, 4)),
        (8, (3, 4, 4, 5, 5)),
        (9, (3, 4, 4, 5, 5)),
        (10, (3, 4, 4, 5, 5)),
    ],
)
@pytest.mark.parametrize("rules", PRESETS)
def test_table_quest_teams(players, sizes, rules):
    game = GAME.build(num_players=players, rules=rules, talk=False)
    play = Play(game.roles, rules)
    for quest, size in enumerate(sizes):
        assert max(len(move.args) for move in play.legal) == size
        assert play.view().quest == quest
        assert play.told("leads")[-1][2] == size
        evil = play.game.seats - 1  # the last seat of the deal is evil
        if quest in (0, 2):
            play.won(*range(size))
        elif quest in (1, 3):  # the fourth may need two fails: the two last seats are evil
            play.go(*range(size - 2), evil - 1, evil).cards(*[1] * (size - 2), 0, 0)
            play = play.do(PASS) if PASS in play.legal else play
    assert play.view().sizes == sizes


@pytest.mark.parametrize("rules", PRESETS)
def test_teams_are_different_seats_of_the_table_in_ascending_order(rules):
    play = Play(SIX, rules)
    for team in ((0, 0), (1, 0), (0, 6), (-1, 0), (0, 1, 2), (0, 1, 2, 3, 4, 5)):
        with pytest.raises(IllegalMove, match="accepted: 2 different seats"):
            play.propose(*team)


# -- character roles -------------------------------------------------------------------------------------------


def night(deal: tuple[str, ...], seat: int) -> tuple[Knowledge, ...]:
    return Play(deal).view(seat).knows


def test_merlin_sees_evil_and_not_which_role():
    assert night(SIX, 0) == (Knowledge((G, A), (4, 5)),)
    assert night((A, S, G, M, P, S), 3) == (Knowledge((G, A), (0, 2)),)


def test_mordred_is_hidden_from_merlin():
    deal = (M, P, S, S, D, A, G)
    assert night(deal, 0) == (Knowledge((G, A), (5, 6)),)
    assert "Mordred" not in {role for fact in night(deal, 0) for role in fact.roles}


def test_oberon_is_seen_by_merlin():
    assert night((M, P, S, S, O, A, G), 0) == (Knowledge((G, A, O), (4, 5, 6)),)


def test_percival_sees_merlin_and_morgana_and_not_which_is_which():
    assert night(SIX, 1) == (Knowledge((M, G), (0, 4)),)
    swapped = (G, P, S, S, M, A)
    assert night(swapped, 1) == night(SIX, 1)


def test_percival_without_morgana_knows_merlin():
    assert night((M, P, S, S, D, A, O), 1) == (Knowledge((M,), (0,)),)


def test_evil_see_each_other_and_not_which_role():
    assert night(SIX, 4) == (Knowledge((G, A), (5,)),)
    assert night(SIX, 5) == (Knowledge((G, A), (4,)),)
    assert night((M, P, S, S, D, A, G), 4) == (Knowledge((G, A, D), (5, 6)),)


def test_oberon_is_blind_and_unseen():
    deal = (M, P, S, S, O, A, G)
    assert night(deal, 4) == ()
    assert night(deal, 5) == (Knowledge((G, A), (6,)),)
    assert night(deal, 6) == (Knowledge((G, A), (5,)),)


def test_minions_see_their_fellows_and_are_seen_by_merlin():
    assert night(SEVEN, 6) == (Knowledge((G, A, N), (4, 5)),)
    assert night(SEVEN, 0) == (Knowledge((G, A, N), (4, 5, 6)),)


def test_servants_see_nothing():
    assert night(SIX, 2) == night(SIX, 3) == ()


def test_every_seat_knows_its_own_role_and_which_roles_are_in_play():
    play = Play((A, S, G, M, P, S))
    assert [play.view(seat).role for seat in range(6)] == [A, S, G, M, P, S]
    assert [play.view(seat).side for seat in range(6)] == ["evil", "good", "evil", "good", "good", "good"]
    assert all(play.view(seat).roles == SIX for seat in range(6))


# -- setup -----------------------------------------------------------------------------------------------------


def test_the_first_leader_and_the_seats_of_the_roles_are_random():
    game = GAME.build(num_players=5)
    rng = np.random.default_rng(0)
    deals = [game.nature(game.initial(), rng).args for _ in range(2000)]
    # 5! = 120 deals of 5 different roles, and 5 leaders
    assert len({deal[:-1] for deal in deals}) == 120
    for column in range(6):
        counts = np.bincount([deal[column] for deal in deals], minlength=5)
        assert np.all(np.abs(counts - 400) < 100)  # 5.6 standard deviations of 17.9


def test_the_deal_holds_the_roles_in_play_and_a_leader():
    game = GAME.build(num_players=6)
    for args in ((0, 1, 2, 2, 3, 3, 0), (0, 1, 2, 2, 3, 4), (0, 1, 2, 2, 3, 4, 6), (0, 1, 2, 2, 3, 4, -1), ()):
        with pytest.raises(IllegalMove):
            game.apply(game.initial(), Move("deal", args))


@pytest.mark.parametrize("rules", PRESETS)
def test_before_the_deal_nobody_knows_anything(rules):
    game = GAME.build(rules=rules)
    state = game.initial()
    assert game.actor(state) == NATURE
    for seat in range(6):
        view = game.view(state, seat)
        assert (view.role, view.side, view.knows, view.legal, view.events) == ("", "", (), (), ())


# -- discussion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_all_speak_once_before_a_proposal_leader_first(rules):
    play = Play(SIX, rules, leader=4, talk=True)
    speakers = []
    while "propose" not in play.kinds:
        speakers.append(play.actor)
        play.do(Move("silent"))
    assert speakers == [4, 5, 0, 1, 2, 3]
    assert play.actor == 4
    # the same order, one seat on, before the next proposal
    play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    speakers = [play.actor]
    while "propose" not in play.do(Move("silent")).kinds:
        speakers.append(play.actor)
    assert speakers == [5, 0, 1, 2, 3, 4]


def test_nobody_accuses_or_defends_himself():
    play = Play(SIX, leader=2, talk=True)
    for kind in ("accuse", "defend"):
        assert [m.args[0] for m in play.legal if m.kind == kind] == [0, 1, 3, 4, 5]
    assert [m.args[0] for m in play.legal if m.kind == "recommend"] == [0, 1, 2, 3, 4, 5]
    assert [m.args[0] for m in play.legal if m.kind == "claim_role"] == [0, 1, 2, 3, 4]
    assert Move("silent") in play.legal


def test_without_talk_the_leader_begins():
    play = Play(SIX, leader=3)
    assert (play.actor, play.kinds) == (3, {"propose"})
    assert not [m for m in play.game.catalogue if m.kind not in ("propose", "vote", "card", "guess")]


# -- team building phase ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
def test_the_leader_changes_with_every_proposal_also_from_quest_to_quest(rules):
    play = Play(SIX, rules, leader=4)
    leaders = []
    for _ in range(3):
        leaders.append(play.view().leader)
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    leaders.append(play.view().leader)
    play.won(0, 1)
    leaders.append(play.view().leader)
    assert leaders == [4, 5, 0, 1, 2]
    assert play.actor == 2
    assert [args[1] for args in play.told("leads")] == leaders


@pytest.mark.parametrize("rules", PRESETS)
def test_all_vote_the_leader_too_in_seat_order(rules):
    play = Play(SIX, rules, leader=3).propose(0, 1)
    voters = []
    for _ in range(6):
        voters.append(play.actor)
        assert play.legal == (APPROVE, REJECT)
        play.vote(1)
    assert voters == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("rules", "goes"), [("paper", True), ("reference", True), ("official", False)])
def test_a_tie_of_three_to_three(rules, goes):
    """Code and logs: a team goes with agree/6 >= 1/2; rule sheet: "the majority", a tied vote is a rejection."""
    play = Play(SIX, rules).propose(0, 1).vote(1, 1, 1, 0, 0, 0)
    assert play.told("votes") == [(int(goes), 1, 1, 1, 0, 0, 0)]
    assert play.kinds == ({"card"} if goes else {"propose"})


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("players", range(5, 11))
def test_the_majority_at_every_table(rules, players):
    # approvals needed: half of 5..10 is 3 3 4 4 5 5 (rounded up), more than half is 3 4 4 5 5 6
    half, strict = {5: (3, 3), 6: (3, 4), 7: (4, 4), 8: (4, 5), 9: (5, 5), 10: (5, 6)}[players]
    needed = strict if rules == "official" else half
    roles = GAME.build(num_players=players).roles
    size = {5: 2, 6: 2, 7: 2}.get(players, 3)
    for approvals, goes in ((needed - 1, False), (needed, True)):
        play = Play(roles, rules).propose(*range(size)).vote(*[1] * approvals, *[0] * (players - approvals))
        assert (play.kinds == {"card"}) == goes


@pytest.mark.parametrize("rules", PRESETS)
def test_votes_are_hidden_until_all_are_in_then_shown_with_names(rules):
    play = Play(SIX, rules).propose(0, 1)
    before = [play.view(seat)._replace(legal=()) for seat in range(6)]
    play.vote(1, 0, 1, 0, 1)
    assert [play.view(seat)._replace(legal=()) for seat in range(6)] == before
    play.vote(1)
    assert play.told("votes") == [(1, 1, 0, 1, 0, 1, 1)]
    assert all(play.view(seat).events[-1].move.args == (1, 1, 0, 1, 0, 1, 1) for seat in range(6))


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_the_fifth_proposal_goes_whatever_the_vote(rules):
    play = Play(SIX, rules)
    for _ in range(4):
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
        assert play.kinds == {"propose"}
    play.propose(4, 5).vote(0, 0, 0, 0, 0, 0)
    assert play.told("votes")[-1] == (1, 0, 0, 0, 0, 0, 0)
    assert (play.actor, play.kinds) == (4, {"card"})
    assert play.view().team == (4, 5)
    assert play.outcome is None


def test_five_rejections_lose_in_the_official_rules():
    play = Play(SIX, "official")
    for _ in range(4):
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
        assert play.outcome is None
    play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    assert play.actor == OVER
    assert play.outcome == Outcome((-1.0, -1.0, -1.0, -1.0, 1.0, 1.0), "evil", "rejections")


def test_a_fifth_proposal_that_is_approved_goes_in_the_official_rules():
    play = Play(SIX, "official")
    for _ in range(4):
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    play.propose(0, 1).vote(1, 1, 1, 1, 0, 0)
    assert play.kinds == {"card"}


@pytest.mark.parametrize("rules", PRESETS)
def test_proposals_are_counted_anew_for_each_quest(rules):
    play = Play(SIX, rules)
    for _ in range(4):
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    play.won(0, 1)
    assert play.view().counted == 0
    assert play.told("leads")[-1][3] == 0
    for rejected in range(4):
        assert play.told("leads")[-1][3] == rejected
        play.propose(0, 1, 2).vote(0, 0, 0, 0, 0, 0)
        assert play.kinds == {"propose"}
    assert play.outcome is None


# -- short teams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "official"])
def test_a_short_team_is_not_accepted(rules):
    with pytest.raises(IllegalMove, match=r"team \[0\] is not accepted; accepted: 2 different seats"):
        Play(SIX, rules).propose(0)


def test_a_short_team_is_voted_on_in_the_reference():
    play = Play(SIX, "reference").propose(3)
    assert play.kinds == {"vote"}
    assert play.view().team == (3,)


def test_a_leader_whose_answer_names_nobody_has_proposed_a_short_team_in_the_reference():
    play = Play(SIX, "reference").propose()
    assert play.view().team == ()
    play.vote(1, 1, 1, 0, 0, 0)
    assert play.game.actor(play.state) == NATURE


def test_a_short_team_counts_as_two_proposals():
    """Published code: the counter goes up with each proposal, and once more if the team was too short."""
    play = Play(SIX, "reference")
    play.propose(3).vote(0, 0, 0, 0, 0, 0)  # 2
    assert play.view().counted == 2
    play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)  # 3
    assert play.view().counted == 3
    play.propose(3).vote(0, 0, 0, 0, 0, 0)  # 5: the limit
    assert play.actor == NATURE


def test_four_and_a_short_one_pass_the_limit_too():
    play = Play(SIX, "reference")
    for _ in range(4):
        play.propose(0, 1).vote(0, 0, 0, 0, 0, 0)
    assert play.view().counted == 4
    play.propose(3).vote(0, 0, 0, 0, 0, 0)  # 6, past the limit of 5
    assert play.view().counted == 6
    assert play.actor == NATURE


def test_a_short_team_that_goes_is_drawn_anew_from_all_seats():
    """Published code: a random team of the full size; the seats that were named are not kept."""
    play = Play(SIX, "reference").go(3)
    assert play.actor == NATURE
    rng = np.random.default_rng(0)
    drawn = [play.game.nature(play.state, rng) for _ in range(600)]
    assert {move.kind for move in drawn} == {"draw"}
    assert len({move.args for move in drawn}) == 15  # all pairs of six seats
    assert sum(3 in move.args for move in drawn) < 300  # a third of the pairs, 200 +- 12
    play.do(Move("draw", (1, 5)))
    assert play.told("draw") == [(1, 5)]
    assert (play.actor, play.kinds, play.view().team) == (1, {"card"}, (1, 5))


@pytest.mark.parametrize("team", [(1,), (1, 1), (5, 1), (1, 6), (-1, 1), (1, 2, 3), ()])
def test_what_is_drawn_is_a_full_team(team):
    play = Play(SIX, "reference").go(3)
    with pytest.raises(IllegalMove, match="draws no team of 2"):
        play.do(Move("draw", team))


def test_teams_of_up_to_the_size_are_offered_in_the_reference():
    play = Play(SIX, "reference")
    # nobody, 6 single seats and 15 pairs
    assert [len(m.args) for m in play.legal] == [0] + [1] * 6 + [2] * 15
    play.won(0, 1)
    # 1 + 6 + 15 + 20
    assert len(play.legal) == 42


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
    play.cards(0, 1)
    assert play.told("fails") == [(0, 1, 0)]


@pytest.mark.parametrize("rules", PRESETS)
def test_one_fail_fails_a_quest(rules):
    play = Play(SIX, rules).go(0, 5).cards(1, 0)
    assert play.told("fails") == [(0, 1, 0)]


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize(
    ("deal", "fails_needed"),
    [
        ((M, P, S, G, A), 1),
        (SIX, 1),
        (SEVEN, 2),
        ((M, P, S, S, S, G, A, N), 2),
        ((M, P, *[S] * 4, G, A, N), 2),
        ((M, P, *[S] * 4, G, A, N, N), 2),
    ],
    ids=lambda value: str(len(value)) if isinstance(value, tuple) else "",
)
def test_the_fourth_quest_needs_two_fails_from_seven_players_in_the_official_rules(rules, deal, fails_needed):
    needed = fails_needed if rules == "official" else 1
    n = len(deal)
    for fails, success in ((1, needed == 2), (2, False)):
        play = Play(deal, rules)
        size = play.view().sizes
        play.won(*range(size[0])).lost(*range(size[1] - 1), n - 1).won(*range(size[2]))
        assert play.view().quest == 3
        assert play.view().fails_needed == (1, 1, 1, needed, 1)
        assert play.told("leads")[-1][4] == needed
        team = (*range(size[3] - 2), n - 2, n - 1)
        play.go(*team).cards(*[1] * (size[3] - fails), *[0] * fails)
        assert play.told("fails")[-1] == (3, fails, int(success))


@pytest.mark.parametrize("rules", PRESETS)
def test_cards_are_counted_and_not_named(rules):
    one = Play(SEVEN, rules).go(4, 5).cards(1, 0)
    two = Play(SEVEN, rules).go(4, 5).cards(0, 1)
    assert one.told("fails") == two.told("fails") == [(0, 1, 0)]
    for seat in (0, 1, 2, 3, 6):
        assert one.view(seat).events == two.view(seat).events
    # a member remembers its own card
    assert [e.move for e in one.view(4).events if e.move.kind == "card"] == [SUCCESS]
    assert [e.move for e in two.view(4).events if e.move.kind == "card"] == [FAIL]


@pytest.mark.parametrize("rules", PRESETS)
def test_only_members_of_the_team_play_cards_in_seat_order(rules):
    play = Play(SIX, rules).won(0, 1).go(1, 3, 5)
    members = []
    while play.kinds == {"card"}:
        members.append(play.actor)
        play.cards(1)
    assert members == [1, 3, 5]


# -- game end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_three_successes_win_at_once_where_the_assassin_was_asked_before(rules):
    play = Play(SIX, rules).won(0, 1).won(0, 1, 2).won(0, 1, 2, 3)
    assert play.outcome == Outcome((1.0, 1.0, 1.0, 1.0, -1.0, -1.0), "good", "quests")
    assert play.told("score") == [(1, 0), (2, 0), (3, 0)]


@pytest.mark.parametrize("rules", PRESETS)
def test_three_failures_lose_at_once(rules):
    play = Play(SIX, rules).lost(0, 5).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert play.outcome == Outcome((-1.0, -1.0, -1.0, -1.0, 1.0, 1.0), "evil", "quests")
    assert play.told("score") == [(0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize("rules", PRESETS)
def test_a_game_goes_to_the_fifth_quest_if_need_be(rules):
    play = Play(SIX, rules).won(0, 1).lost(0, 1, 5).won(0, 1, 2, 3).lost(0, 1, 5)
    assert play.outcome is None
    assert play.view().quest == 4
    play.lost(0, 1, 2, 5)
    assert play.told("score")[-1] == (2, 3)
    assert play.outcome is not None
    assert play.outcome.winner == "evil"


@pytest.mark.parametrize("rules", PRESETS)
def test_when_it_is_over_nobody_moves(rules):
    play = Play(SIX, rules).lost(0, 5).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert (play.actor, play.legal) == (OVER, ())
    for move in (APPROVE, SUCCESS, PASS, Move("propose", (0, 1)), Move("silent"), Move("deal", (0,)), Move("draw")):
        with pytest.raises(IllegalMove, match=r"the game is over \(quests\)"):
            play.do(move)


# -- the Assassin ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_the_assassin_is_asked_after_each_quest_until_he_guesses(rules):
    play = Play(SIX, rules)
    for team, cards in (((0, 1), (1, 1)), ((0, 1, 5), (1, 1, 0)), ((0, 1, 2, 3), (1, 1, 1, 1))):
        play.go(*team).cards(*cards)
        assert (play.actor, play.kinds) == (5, {"guess"})
        assert play.legal == (PASS, *(Move("guess", (j,)) for j in range(5)))
        play.do(PASS)
        assert play.kinds == {"propose"}


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_a_refusal_is_seen_by_the_assassin_alone(rules):
    play = Play(SIX, rules).go(0, 1).cards(1, 1).do(PASS)
    for seat in range(6):
        assert ([e.move for e in play.view(seat).events if e.move.kind == "guess"] == [PASS]) == (seat == 5)
    assert play.told("exposed") == []


@pytest.mark.parametrize("rules", ["paper", "reference"])
@pytest.mark.parametrize("cards", [(1, 1), (1, 0)])
def test_the_right_guess_ends_the_game_before_the_quest_is_scored(rules, cards):
    play = Play(SIX, rules).go(0, 5).cards(*cards).do(Move("guess", (0,)))
    assert play.outcome == Outcome((-1.0, -1.0, -1.0, -1.0, 1.0, 1.0), "evil", "assassination")
    assert play.told("score") == []
    assert play.told("exposed") == [(5, 0, 1)]
    assert (play.view().good, play.view().evil) == (0, 0)


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_the_right_guess_takes_the_third_success_away(rules):
    play = Play(SIX, rules).won(0, 1).won(0, 1, 2).go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert play.outcome is None
    play.do(Move("guess", (0,)))
    assert play.outcome is not None
    assert (play.outcome.winner, play.outcome.reason) == ("evil", "assassination")
    assert (play.view().good, play.view().evil) == (2, 0)


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_the_wrong_guess_exposes_and_is_the_only_one(rules):
    play = Play(SIX, rules).go(0, 1).cards(1, 1).do(Move("guess", (1,)))
    assert play.told("exposed") == [(5, 1, 0)]
    assert all(play.view(seat).events[-3].move.args == (5, 1, 0) for seat in range(6))  # then the score, the leader
    assert play.told("score") == [(1, 0)]
    assert play.kinds == {"propose"}
    play.go(0, 1, 2).cards(1, 1, 1)
    assert play.kinds == {"propose"}  # not asked again
    play.go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert play.outcome == Outcome((1.0, 1.0, 1.0, 1.0, -1.0, -1.0), "good", "quests")


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_after_a_wrong_guess_evil_can_still_win_quests(rules):
    play = Play(SIX, rules).go(0, 5).cards(1, 0).do(Move("guess", (1,))).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert play.outcome is not None
    assert (play.outcome.winner, play.outcome.reason) == ("evil", "quests")


def test_official_the_assassin_is_asked_only_after_three_successes_and_must_name():
    play = Play(SIX, "official")
    play.go(0, 1).cards(1, 1)
    assert play.kinds == {"propose"}
    play.go(0, 1, 2).cards(1, 1, 1)
    assert play.kinds == {"propose"}
    play.go(0, 1, 2, 3).cards(1, 1, 1, 1)
    assert play.outcome is None
    assert (play.actor, play.legal) == (5, tuple(Move("guess", (j,)) for j in range(5)))
    with pytest.raises(IllegalMove, match="guess"):
        play.do(PASS)
    assert (play.view().good, play.view().evil) == (3, 0)


@pytest.mark.parametrize(("named", "winner", "reason"), [(0, "evil", "assassination"), (2, "good", "quests")])
def test_official_the_guess_decides(named, winner, reason):
    play = Play(SIX, "official").won(0, 1).won(0, 1, 2).go(0, 1, 2, 3).cards(1, 1, 1, 1).do(Move("guess", (named,)))
    assert play.outcome is not None
    assert (play.outcome.winner, play.outcome.reason) == (winner, reason)
    assert play.told("exposed") == [(5, named, int(named == 0))]


def test_official_three_failures_end_the_game_without_a_guess():
    play = Play(SIX, "official").lost(0, 5).lost(0, 1, 5).lost(0, 1, 2, 5)
    assert play.actor == OVER
    assert play.told("exposed") == []


@pytest.mark.parametrize("rules", PRESETS)
def test_the_assassin_does_not_name_himself_or_a_seat_that_is_not_there(rules):
    play = Play(SIX, rules).won(0, 1).won(0, 1, 2).go(0, 1, 2, 3).cards(1, 1, 1, 1)
    for named in (5, 6, -1):
        with pytest.raises(IllegalMove):
            play.do(Move("guess", (named,)))
    assert Move("guess", (4,)) in play.legal  # his own fellow, if he likes


def test_it_is_the_assassin_who_is_asked_not_another_of_evil():
    play = Play((A, S, G, M, P, S)).go(1, 3).cards(1, 1)
    assert play.actor == 0


# -- how long it may take --------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(5, 11))
@pytest.mark.parametrize("talk", [True, False])
def test_max_moves_is_reached_by_the_longest_game_or_nearly(players, talk):
    """Five quests with five proposals each; the bound is not exceeded and not idle (a quest's team may be smaller)."""
    game = GAME.build(num_players=players, rules="reference", talk=talk)
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
    assert len(play.told("votes")) == 25


# -- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 4}, r"num_players 4 is not accepted; accepted: 5\.\.10"),
        ({"num_players": 11}, r"num_players 11 is not accepted; accepted: 5\.\.10"),
        ({"num_players": "6"}, r"num_players '6' is not accepted; accepted: 5\.\.10"),
        ({"num_players": True}, r"num_players True is not accepted; accepted: 5\.\.10"),
        ({"num_players": 6.0}, r"num_players 6\.0 is not accepted; accepted: 5\.\.10"),
        ({"num_players": None}, r"num_players None is not accepted; accepted: 5\.\.10"),
        ({"rules": "house"}, "rules 'house' is not accepted; accepted: paper, reference, official"),
        ({"rules": ["paper"]}, r"rules \['paper'\] is not accepted; accepted: paper, reference, official"),
        ({"rules": None}, "rules None is not accepted; accepted: paper, reference, official"),
        ({"talk": "yes"}, "talk 'yes' is not accepted; accepted: True, False"),
        ({"talk": 1}, "talk 1 is not accepted; accepted: True, False"),
        ({"roles": SIX[:5]}, "are 5; accepted: one for each of 6 players"),
        ({"roles": (*SIX[:5], "Lancelot")}, "role 'Lancelot' is not accepted; accepted: Merlin, Percival"),
        ({"roles": (S, P, S, S, G, A)}, "hold 0 x Merlin; accepted: exactly one"),
        ({"roles": (M, M, S, S, G, A)}, "hold 2 x Merlin; accepted: exactly one"),
        ({"roles": (M, P, S, S, G, D)}, "hold 0 x Assassin; accepted: exactly one"),
        ({"roles": (M, P, P, S, G, A)}, "hold 2 x Percival; accepted: at most one"),
        ({"roles": (M, P, S, S, S, A)}, "hold 1 evil; accepted: 2 of 6 players"),
        ({"roles": (M, P, S, G, D, A)}, "hold 3 evil; accepted: 2 of 6 players"),
        ({"roles": "Merlin"}, "roles 'Merlin' is not accepted; accepted: None, or one role for each player"),
        ({"roles": "deeprol"}, "roles 'deeprol' is not accepted; .*, or a name: deeprole$"),
        ({"roles": "deeprole"}, "are 5; accepted: one for each of 6 players"),
        ({"roles": 6}, "roles 6 is not accepted; accepted: None, or one role for each player"),
        ({"roles": (M, P, S, S, G, None)}, "role None is not accepted"),
        ({"roles": (M, P, S, S, G, [A])}, r"role \['Assassin'\] is not accepted"),
    ],
    ids=repr,
)
def test_an_option_outside_what_is_accepted_is_refused_in_one_line(options, message):
    with pytest.raises(ParlourError, match=message) as caught:
        GAME.build(**options)
    assert "\n" not in str(caught.value)


def test_roles_are_given_in_any_order_and_dealt_at_random():
    given = (A, S, G, M, P, S)
    assert GAME.build(roles=given).roles == SIX == GAME.build(roles=list(SIX)).roles == GAME.build().roles


# -- named sets of roles: Serrino et al. 2019, section 2 -------------------------------------------------------


def test_the_set_deeprole_is_merlin_two_servants_the_assassin_and_one_minion():
    game = GAME.build(num_players=5, roles="deeprole")
    assert game.roles == (M, S, S, A, N)
    # "uniform over the 60 possible assignments" (section 3.1): 5! / 2!
    assert len({move.args[:-1] for move, _ in game.chances(game.initial())}) == 60


def test_a_named_set_is_written_down_as_its_roles():
    named = GAME.build(num_players=5, rules="official", roles="deeprole", talk=False)
    listed = GAME.build(num_players=5, rules="official", roles=(M, S, S, A, N), talk=False)
    assert named.config == listed.config
    assert named.config["roles"] == [M, S, S, A, N]
    assert "deeprole" in GAME.options["roles"]


def test_at_deeproles_table_merlin_does_not_know_which_evil_seat_is_the_assassin():
    # Section 3.2: 15 private informations for each seat: 1 as a servant, C(4, 2) = 6 as Merlin, 4 as each evil role.
    seen = set()
    game = GAME.build(num_players=5, rules="official", roles="deeprole", talk=False)
    for move, _ in game.chances(game.initial()):
        view = game.view(game.apply(game.initial(), move), 0)
        seen.add((view.role, tuple(fact.seats for fact in view.knows)))
    assert Counter(role for role, _ in seen) == {S: 1, M: 6, A: 4, N: 4}


def test_at_deeproles_table_five_proposals_without_a_simple_majority_lose():
    # Section 2: "If after five attempts, no proposal receives a simple majority, the Spy team wins."
    play = Play((M, S, S, A, N), "official")
    for leader in range(5):
        assert (play.actor, play.outcome) == (leader, None)
        play.propose(0, 1).vote(1, 1, 0, 0, 0)
    assert play.outcome == Outcome((-1.0, -1.0, -1.0, 1.0, 1.0), "evil", "rejections")


@pytest.mark.parametrize("rules", PRESETS)
def test_a_table_without_percival_and_morgana(rules):
    play = Play((M, S, S, S, A, D), rules)
    assert play.view(0).knows == (Knowledge((A,), (4,)),)
    assert play.view(1).knows == ()
    play.won(0, 1)
    assert play.view().good == 1
