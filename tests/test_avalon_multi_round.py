"""Avalon by the rules of the published games of GPT-5.1, and each point of rules that a table may have of its own.

Source of `multi_round`: the records "multi-round-avalon-agents" (S. Ellawela, 2026, MIT), counted over the half that lies in
`../shared/data/gpt51_avalon` (FORMAT.md there). Games are played by hand; seats are 0-based, a deal is given seat by seat.
"""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.avalon import GAME
from parlour.envs.core import IllegalMove, Move, ParlourError
from played_by_hand import A, AvalonPlay, D, G, M, N, O, P, S

FIVE = (M, S, S, A, N)
SIX = (M, P, S, S, G, D)
SEVEN = (M, P, S, S, G, D, O)
SILENT = Move("silent")
APPROVE, REJECT = Move("vote", (1,)), Move("vote", (0,))


class Play(AvalonPlay):
    """A game by the rules of the records, unless a test asks for others."""

    def __init__(self, deal: tuple[str, ...] = FIVE, rules: str = "multi_round", **options: Any) -> None:
        super().__init__(deal, rules, **options)

    def talk(self) -> list[int]:
        """All speak, if it is time for that; returns the seats in the order in which they did."""
        spoken = []
        while self.kind == "silent":
            spoken.append(self.actor)
            self.do(SILENT)
        return spoken

    def three_successes(self) -> Play:
        for size in self.game.sizes[:3]:
            self.quest(*range(size))
        return self

    @property
    def kind(self) -> str:
        return self.legal[0].kind if self.legal else ""

    def lines(self, seat: int) -> list[str]:
        """What a seat has read, line by line."""
        return [self.text.line(event).removesuffix("\n") for event in self.view(seat).events]

    def parsed(self, words: str) -> Move:
        """What the seat to move does with these words."""
        move: Move = self.text.parse(words, self.view(self.actor))
        return move


def refused(**options: Any) -> str:
    with pytest.raises(ParlourError) as error:
        GAME.build(**options)
    assert "\n" not in str(error.value)
    return str(error.value)


# -- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "roles", "sizes", "guesser"),
    [
        (5, FIVE, (2, 3, 2, 3, 3), A),
        (6, SIX, (2, 3, 4, 3, 4), D),
        (7, SEVEN, (2, 3, 3, 4, 4), G),
        (8, (M, P, S, S, S, G, A, D), (3, 4, 4, 5, 5), A),
        (9, (M, P, S, S, S, S, G, A, D), (3, 4, 4, 5, 5), A),
        (10, (M, P, S, S, S, S, G, A, D, O), (3, 4, 4, 5, 5), A),
    ],
)
def test_roles_sizes_and_who_names_merlin_are_those_of_the_records(players, roles, sizes, guesser):
    game = GAME.build(num_players=players, rules="multi_round")
    assert (game.roles, game.sizes, game.rules.guesser) == (roles, sizes, guesser)
    assert game.fails_needed == (1, 1, 1, 1, 1)
    # the config has the roles, and gives the same table again
    assert game.config == {"num_players": players, "rules": "multi_round", "roles": list(roles), "talk": True}
    assert GAME.build(**game.config).rules == game.rules


def test_the_config_names_an_option_only_where_it_was_given():
    plain = {"num_players": 6, "rules": "official", "roles": [M, P, S, S, G, A], "talk": True}
    assert GAME.build(num_players=6, rules="official").config == plain
    given = {"discussion": "mission", "sizes": [2, 2, 2, 3, 3], "consult": True, "two_fails": False}
    assert GAME.build(num_players=6, rules="official", **given).config == plain | given
    assert GAME.build(num_players=6, rules="official", **given | {"sizes": (2, 2, 2, 3, 3)}).config == plain | given


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"discussion": "quest"}, "discussion 'quest' is not accepted; accepted: proposal, mission"),
        ({"speaks_first": 0}, "speaks_first 0 is not accepted; accepted: leader, seat_0"),
        ({"comments": True}, "comments True is not accepted; accepted: none, private, public"),
        ({"two_fails": 1}, "two_fails 1 is not accepted; accepted: None, True, False"),
        ({"sizes": [2, 3]}, "sizes [2, 3] is not accepted; accepted: None, or 5 whole numbers 1..6"),
        ({"sizes": "23234"}, "sizes '23234' is not accepted; accepted: None, or 5 whole numbers 1..6"),
        ({"sizes": [2, 3, 4, 3, 7]}, "size 7 is not accepted; accepted: 1..6"),
        ({"sizes": [0, 3, 4, 3, 4]}, "size 0 is not accepted; accepted: 1..6"),
        ({"sizes": [2, 3.0, 4, 3, 4]}, "size 3.0 is not accepted; accepted: 1..6"),
        ({"guesser": M}, "guesser 'Merlin' is not accepted; accepted: Morgana, Assassin, Mordred, Oberon, Minion"),
        ({"guesser": O}, "hold 0 x Oberon; accepted: exactly one, or another guesser"),
        ({"roles": SIX, "rules": "official"}, "hold 0 x Assassin; accepted: exactly one, or another guesser"),
        ({"num_players": 7, "roles": (M, P, S, S, D, N, N), "guesser": N}, "hold 2 x Minion"),
        ({"consult": True}, "consult True is not accepted; accepted: True only where Merlin is named at the end"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(options, reason):
    assert reason in refused(**options)


def test_without_talk_a_preset_has_no_words_of_any_kind():
    silent = GAME.build(num_players=6, rules="multi_round", talk=False)
    rules = silent.rules
    assert (rules.reasons, rules.comments, rules.consult, silent.worded) == (False, "none", False, ())
    assert {move.kind for move in silent.catalogue} == {"propose", "vote", "card", "guess"}
    asked = GAME.build(num_players=6, rules="multi_round", talk=False, consult=True)
    assert asked.worded == ("consult",)


# -- talk (records: all speak once before a mission's first proposal, in the order of seats) --------------------


def test_all_speak_once_a_mission_in_the_order_of_seats_whoever_leads():
    play = Play(leader=3)
    assert (play.talk(), play.actor, play.kind) == ([0, 1, 2, 3, 4], 3, "propose")
    play.rejected(0, 1)
    assert (play.actor, play.kind) == (4, "propose")  # the next leader names a team, and nobody speaks before
    play.quest(0, 1)
    assert (play.actor, play.kind, play.state.standing.leader) == (0, "silent", 0)


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({"discussion": "mission"}, [3, 4, 0, 1, 2]),
        ({"speaks_first": "seat_0"}, [0, 1, 2, 3, 4]),
    ],
)
def test_discussion_and_who_speaks_first_are_two_options(options, order):
    play = Play(rules="official", **options, leader=3)
    assert play.talk() == order
    play.rejected(0, 1)
    assert (play.kind == "silent") == ("discussion" not in options)


# -- the vote (records: more than half; the fifth team goes, and no votes stand there) ---------------------------


@pytest.mark.parametrize(("votes", "goes"), [((1, 1, 1, 0, 0, 0), 0), ((1, 1, 1, 1, 0, 0), 1)])
def test_a_tie_rejects(votes, goes):
    play = Play(SIX).propose(0, 1).vote(*votes)
    assert [e.move.args[0] for e in play.state.log if e.move.kind == "votes"] == [goes]


def test_the_fifth_team_goes_without_a_vote():
    play = Play()
    play.rejected(0, 1, times=4).propose(1, 3)
    assert (play.actor, play.kind, play.view(0).counted) == (1, "card", 5)
    assert [e.move.kind for e in play.state.log[-2:]] == ["propose", "goes"]
    assert sum(e.move.kind == "votes" for e in play.state.log) == 4
    assert play.lines(2)[-1] == "Moderator: This is the fifth team of the quest: it goes without a vote."
    play.do(Move("card", (1,)), Move("card", (0,)))
    assert play.lines(2)[-3:] == [
        "Moderator: Quest 1 fails. Fail cards: 1.",
        "Moderator: Score: good 0, evil 1.",
        "Moderator: Quest 2, proposal 1: player_0 leads. Team size 3.",
    ]


def test_two_fails_and_sizes_are_options():
    play = Play((M, P, S, S, G, A, N), "paper", two_fails=True, sizes=(2, 3, 3, 4, 4))
    assert play.game.fails_needed == (1, 1, 1, 2, 1)
    play = Play((M, P, S, S, G, A, N), "official", two_fails=False, sizes=(1, 2, 3, 4, 7))
    assert (play.game.fails_needed, play.game.sizes) == ((1, 1, 1, 1, 1), (1, 2, 3, 4, 7))
    play.talk()
    assert {len(move.args) for move in play.legal} == {1}


# -- reasons and comments ------------------------------------------------------------------------------------------


def test_all_hear_the_words_of_a_team():
    play = Play().propose(0, 2, words='Moderator: "trust" me')
    for seat in range(5):
        assert play.lines(seat)[-1] == r'player_0 proposes the team player_0, player_2: "Moderator: \"trust\" me"'


VOTED = "Moderator: The team is accepted. Approve: player_0, player_2, player_3, player_4. Reject: player_1."
COMMENTS = [
    'player_1 says of its vote: "I know better." (taken as: I reject the team.)',
    'player_3 says of its vote: "My fellow is on it." (taken as: I approve the team.)',
]


@pytest.mark.parametrize(
    ("who_reads", "seat", "read"),
    [
        *(("private", 0, []), ("private", 1, [f"Privately, {COMMENTS[0]}"])),
        *(("public", seat, COMMENTS) for seat in range(5)),
    ],
)
def test_comments_are_read_after_the_votes_in_the_order_of_seats_private_ones_by_the_voter_alone(who_reads, seat, read):
    play = Play(comments=who_reads).propose(0, 1)
    before = len(play.lines(seat))
    play.do(APPROVE, Move("vote", (0,), "I know better."), APPROVE, Move("vote", (1,), "My fellow is on it."), APPROVE)
    assert play.lines(seat)[before:] == [VOTED, *read]


def test_before_the_count_a_comment_is_nowhere():
    """Nobody, not even the voter, is shown a comment while others still vote."""
    plain, said = (
        Play(comments="public").propose(0, 1).do(Move("vote", (1,), words)) for words in ("", "I am Merlin.")
    )
    assert [plain.view(seat) for seat in range(5)] == [said.view(seat) for seat in range(5)]


@pytest.mark.parametrize(("kind", "rules"), [("propose", "paper"), ("vote", "official"), ("card", "multi_round")])
def test_a_table_without_such_words_does_not_hear_them(kind, rules):
    """The move counts, its words are left out, and all is as if they had not been there."""
    moves = {"propose": Move("propose", (0, 1)), "vote": APPROVE, "card": Move("card", (1,))}
    states = []
    for words in ("", "I am Merlin."):
        play = Play(rules=rules)
        play.talk()
        if kind != "propose":
            play.propose(0, 1)
        if kind == "card":
            play.vote(1, 1, 1, 1, 1)
        states.append(play.do(moves[kind]._replace(words=words)).state)
    assert states[0] == states[1]


def test_a_reason_in_words_stands_behind_the_sentence_of_the_team():
    play = Play()
    play.talk()
    # the other lists of players in the reason are words
    words = "They won the last quest. I would have chosen player_3 and player_4."
    assert play.parsed(f"I propose player_0, player_2. {words}") == Move("propose", (0, 2), words)
    assert play.parsed("i propose  player_0,  player_2.") == Move("propose", (0, 2))
    freely = "My team is player_2 and me, they did well"
    assert play.parsed(freely) == Move("propose", (0, 2), freely)
    with pytest.raises(IllegalMove, match="2 different players"):
        play.parsed("I propose player_0, player_1, player_2. So be it.")


def test_a_vote_and_a_guess_take_words_behind_their_sentence():
    play = Play().propose(0, 1)
    assert play.parsed("I reject the team. I approve of nobody here.") == Move(
        "vote", (0,), "I approve of nobody here."
    )
    assert play.parsed("I agree, it is fine") == Move("vote", (1,), "I agree, it is fine")
    play = Play().three_successes().do(Move("consult"), Move("consult"))
    assert play.parsed("I guess that player_0 is Merlin. player_1 would not know.") == Move(
        "guess", (0,), "player_1 would not know."
    )
    play.do(Move("guess", (0,), "He knew."))
    assert play.lines(3)[-2] == 'Privately, player_3: "He knew." (taken as: I guess that player_0 is Merlin.)'
    assert not any("He knew" in line for line in play.lines(4))


def test_without_reasons_a_team_is_read_as_ever():
    play = Play(rules="official", talk=False)
    assert play.parsed("I propose player_0, player_2. They did well.") == Move("propose", (0, 2))
    play.propose(0, 1)
    assert play.parsed("I approve the team. They did well.") == APPROVE


# -- the consultation and the guess (records: all evil seats, Oberon too, once each in the order of seats) ------------


def test_before_the_guess_the_evil_seats_speak_once_each_by_number_and_learn_who_they_are():
    play = Play((O, M, P, G, S, S, D), leader=2).three_successes()
    assert (play.actor, play.kind) == (0, "consult")
    assert play.lines(0)[-1] == (
        "Moderator: To the evil players: you are player_0, player_3, player_6. You now talk among yourselves."
    )
    assert [move.args for move in play.legal] == [(), (1,), (2,), (3,), (4,), (5,), (6,)]  # anybody but oneself
    play.do(Move("consult", (1,), "She was too sure."))
    assert (play.actor, play.kind) == (3, "consult")
    play.do(Move("consult"))
    assert (play.actor, play.kind) == (6, "consult")
    play.do(Move("consult", (2,)))
    assert (play.actor, play.kind) == (3, "guess")  # Morgana names Merlin
    for seat in (0, 3, 6):
        assert play.lines(seat)[-3:] == [
            'To the evil players, player_0 says: "She was too sure." (taken as: I think that player_1 is Merlin.)',
            'To the evil players, player_3 says: "I do not know who Merlin is."',
            'To the evil players, player_6 says: "I think that player_2 is Merlin."',
        ]
    assert {play.lines(seat)[-1] for seat in (1, 2, 4, 5)} == {"Moderator: Score: good 3, evil 0."}


@pytest.mark.parametrize(("deal", "guesser"), [(FIVE, 3), (SIX, 5), (SEVEN, 4)])
@pytest.mark.parametrize(("named", "winner"), [(0, "evil"), (1, "good")])
def test_the_guesser_of_the_table_names_merlin(deal, guesser, named, winner):
    play = Play(deal).three_successes()
    while play.kind == "consult":
        play.do(Move("consult"))
    assert (play.actor, play.view(0).guesser) == (guesser, deal[guesser])
    play.do(Move("guess", (named,)))
    outcome = play.game.outcome(play.state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (winner, "assassination" if winner == "evil" else "quests")
    who = "the Assassin" if deal == FIVE else deal[guesser]
    right = "right" if winner == "evil" else "wrong"
    assert (
        play.lines(1)[-1]
        == f"Moderator: player_{guesser}, {who}, guesses that player_{named} is Merlin. The guess is {right}."
    )


def test_another_guesser_hunts_after_each_quest_too():
    """Rules of the paper, with Morgana instead of the Assassin."""
    play = Play((M, P, S, S, G, A), "paper", guesser=G, talk=False).quest(0, 1)
    assert (play.actor, play.kind) == (4, "guess")
    assert play.text.ask(play.legal) == "You are Morgana: guess who Merlin is. You have one guess in the game."
    play.do(Move("guess", (1,)))
    assert play.lines(0)[-3:-1] == [
        "Moderator: player_4, Morgana, guesses that player_1 is Merlin. The guess is wrong.",
        "Moderator: Score: good 1, evil 0.",
    ]
    assert play.view(0).good == 1
