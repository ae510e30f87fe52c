"""How Avalon's prose is worded and how free words are read (`parlour.envs.avalon.text`, `parlour.envs.language.text`).

Sources: appendix A.4 of arXiv 2310.14985 for what becomes of unclear words; the card of `avalon_v0` for the presets; the
replies in the game logs published with the paper, if they are at hand (`PARLOUR_REFERENCE_DATA`), read as the records
made from them by hand say. Whatever the words, they are never read as their opposite: a misread vote is worse than one
that has to be asked for again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon.presets import PRESETS
from parlour.envs.avalon.vocabulary import night_sentence
from parlour.envs.core import IllegalMove, Move
from parlour.envs.language.text import AmbiguousMove, UnreadableMove, clean, read_seats, render

from tests.envs.hidden_roles.played_by_hand import A, AvalonPlay, G, M, P, S
from tests.reference_data import reference

SIX = (M, P, S, S, G, A)
UNCLEAR = "unclear"


class Moment(AvalonPlay):
    """The first decision of a kind, after which words are read."""

    def __init__(self, kind: str, rules: str = "paper") -> None:
        super().__init__(SIX, rules, talk=kind == "talk")
        if kind not in ("talk", "propose"):
            self.propose(0, 5)
        if kind in ("card of good", "card", "guess"):
            self.vote(*[1] * 6).cards(*[1] * ("card of good", "card", "guess").index(kind))

    def move(self, words: str) -> Move:
        """What the words are read as; raises as `parse` does."""
        move: Move = self.text.parse(clean(words), self.view(self.actor))
        assert move._replace(words="") in self.legal
        return move

    def read(self, words: str) -> Any:
        """The argument of the move, or UNCLEAR if it has to be asked for again."""
        try:
            return self.move(words).args
        except (UnreadableMove, AmbiguousMove):
            return UNCLEAR


@pytest.fixture
def at() -> type[Moment]:
    return Moment


# -- words and what they are read as: exactly (a list), or at least never as their opposite ------------------------------

READ = {
    "vote": {
        (1,): [
            *(
                "I approve the team.",
                "APPROVE",
                "I agree",
                "Agree! Let us go.",
                "I accept this team",
                "Yes.",
                "yes, of course",
            ),
            *("I support the leader's choice", "I vote in favor of the team", "I am in favour", "I do not object"),
            *("I don't object to it", "I won't reject this team", "I never oppose a good team", "我同意", "赞成"),
            # a negation elsewhere does not hide the vote
            *(
                "I have no doubt: I approve",
                "There is no reason to distrust them, so I agree.",
                "Not a bad team. I approve.",
            ),
            *("We cannot be sure, but I agree", "I approve because we cannot wait"),
        ],
        (0,): [
            *(
                "I reject the team.",
                "REJECTED",
                "I disagree",
                "No.",
                "no",
                "I object to this",
                "I oppose it",
                "I decline",
            ),
            *("I disapprove of player_3", "I do not agree", "I don't agree with this", "I can\u2019t approve"),
            *("I cannot accept that", "I do not fully support it", "I never approve such teams", "I refuse to agree"),
            *("I am not in favour", "反对", "我拒绝", "I am not sure, but I reject", "I don't like it. Reject."),
            *("No. They are evil.", "I can't say yes"),
        ],
        UNCLEAR: [
            *("", "?", "Maybe.", "The moon is made of cheese", "I approve and I reject", "player_3", "1"),
            *("approve or reject? I cannot say", "I neither approve nor reject"),
        ],
    },
    "card": {
        (1,): [
            *("I play success.", "success", "Success!", "I choose to make the quest succeed.", "I vote for success"),
            *("I make the quest successful", "I do not play fail", "player_3 is a failure. I play success.", "成功"),
        ],
        (0,): [
            *(
                "I play fail.",
                "fail",
                "I choose to make the quest fail, as Merlin must not be safe.",
                "I submit a fail card",
            ),
            *("I choose to sabotage this quest", "I won't play success", "失败"),
        ],
        UNCLEAR: [
            *("", "As a Loyal Servant I suggest that players 3 and 4 go, for the success of the quest.", "player_3"),
            *("I hope that we succeed", "I play success or I play fail"),
        ],
    },
    "propose": {
        (1, 3): [
            *("I propose player_1, player_3.", "player_3 and player_1", "Player 1 and Player 3", "players 1, 3"),
            *("players 1 & 3", "player 1、player 3", "1, 3", "1 3", "[1, 3]", "(3, 1)", "1 and 3"),
            *("I do not trust player_4, so I propose player_1 and player_3", "player_1, player_1 and player_3"),
            "I propose player_1 and player_3. Once more: I choose player_3 and player_1!",
            *("The team is: player_1, player_3", "I cannot take player_4, so I propose player_1 and player_3"),
            "Not player_4! I choose player_1 and player_3",
        ],
        (0, 3): ["I choose myself and player_3", "I confirm player_3 and myself."],
        UNCLEAR: [
            *("", "nobody", "the two best of us", "I do not propose player_1 and player_3"),
            "I propose player_1 and player_3. No, I choose player_1 and player_4.",
            *("I won't choose player_1 and player_3", "I never pick player_1, player_3"),
        ],
    },
    "guess": {
        (3,): ["I name player_3 as Merlin.", "player_3", "Yes, I think that Merlin is player 3", "3"],
        (): [
            *(
                "I do not name Merlin now.",
                "No.",
                "Not yet, it is too early",
                "pass",
                "Later.",
                "I don't want to guess",
            ),
            "I choose not to identify Merlin at this time",
        ],
        UNCLEAR: ["Yes.", "", "player_1 or player_2"],
    },
}
NEVER_THE_OPPOSITE = {
    "vote": {
        (0,): [
            *("I am not going to approve", "I don't think I agree", "I would not want to support this team"),
            *("I see no reason to approve", "我不同意", "我不赞成这个队伍"),
        ],
        (1,): [
            *("I have no objection", "No objections from me.", "我不反对", "I do not see why we should reject it"),
        ],
    },
    "card": {
        (1,): [
            *(
                "I choose to not fail the quest",
                "I choose not to fail the quest",
                "I choose not to make the quest fail",
            ),
            *("I will play my card so that it does not fail", "我选择不失败"),
        ],
        (0,): ["I choose to make sure that the quest does not succeed", "I opt not to let the quest succeed"],
    },
    "guess": {  # the only guess of the game must not be spent by words that refuse it
        (): [
            *("No, I do not name player_3", "I don't want to name player_3 yet"),
            "No. I suspect player_3, but it is too early.",
            "I choose not to identify Merlin at this time, although player_3 looks like Merlin",
        ],
    },
}


def _listed(tables: dict[str, dict[Any, list[str]]]) -> list[tuple[str, str, Any]]:
    return [(kind, words, args) for kind, by_args in tables.items() for args, all_ in by_args.items() for words in all_]


@pytest.mark.parametrize(("kind", "words", "args"), _listed(READ))
def test_words_are_read_as_what_they_choose(at, kind, words, args):
    assert at(kind).read(words) == args
    if kind == "card":
        assert at(kind, "reference").read(words) == args


@pytest.mark.parametrize(("kind", "words", "args"), _listed(NEVER_THE_OPPOSITE))
def test_negated_words_are_never_read_as_their_opposite(at, kind, words, args):
    assert at(kind).read(words) in (args, UNCLEAR)


@pytest.mark.parametrize(
    "words",
    [
        "I propose player_1, player_2, and player_3.",
        "I choose players 1, 2, and 3",
        "I select player_1, player_2, & player_3",
        "1, 2, and 3",
        "I propose that player_1, player_2, and player_3 go on the quest",
        "My team: player_1; player_2; player_3",
        "1. player_1\n2. player_2\n3. player_3",
    ],
)
def test_lists_of_three_are_read_whole(words):
    """Written as people and models write lists, with a comma before the last "and" too."""
    assert sorted(read_seats(clean(words), me=0)) == [1, 2, 3]


TOO_MANY = "{words!r} names {named}; accepted: 2 different players of this table"
REFUSED = [
    ("vote", "Maybe.", UnreadableMove, "'Maybe.' states no decision"),
    ("vote", "I approve and I reject", AmbiguousMove, "'I approve and I reject' states several decisions"),
    ("card of good", "I play fail", IllegalMove, "'I play fail' is read as card [0], which is not among the options"),
    *(
        ("propose", words, IllegalMove, TOO_MANY.format(words=words, named=named))
        for words, named in (
            ("player_1", "player_1"),
            ("player_1, player_2, player_3", "player_1, player_2, player_3"),
            ("player_1 and player_6", "player_1, player_6"),
            ("7, 8", "player_7, player_8"),
            ("player_1 and player_1", "player_1"),
            ("1, 10000000000000000000000", "player_1, player_10000000000000000000000"),
        )
    ),
    *(("guess", words, IllegalMove, "is read as guess") for words in ("player_5", "myself", "player_9", "17")),
]


@pytest.mark.parametrize(("kind", "words", "error", "message"), REFUSED)
def test_words_that_are_no_legal_move_are_refused_and_quoted(at, kind, words, error, message):
    with pytest.raises(error) as caught:
        at(kind).move(words)
    assert message in str(caught.value)
    assert repr(words) in str(caught.value)


def test_the_reference_lets_good_fail_and_teams_be_short(at):
    assert at("card of good").read("success") == (1,)
    assert at("card of good", "reference").read("I play fail") == (0,)
    assert at("propose", "reference").read("player_3") == (3,)
    assert at("propose", "reference").read("I propose nobody.") == ()
    with pytest.raises(IllegalMove, match="accepted: 0 to 2 different players"):
        at("propose", "reference").move("player_1, player_2, player_3")


# -- claims read from free words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind", "args"),
    [
        ("I suspect player 3, because the quest failed", "accuse", (3,)),
        ("I don't trust player_3", "accuse", (3,)),
        ("Look, player_3 is evil!", "accuse", (3,)),
        ("player_3 seems very suspicious to me", "accuse", (3,)),
        ("I trust player_2", "defend", (2,)),
        ("I believe player_2", "defend", (2,)),
        ("player_2 is surely loyal", "defend", (2,)),
        ("I suggest player_2 and player_3", "recommend", (2,)),
        ("I think player_2 should go", "recommend", (2,)),
        ("I recommend myself", "recommend", (0,)),
        ("I volunteer for this quest", "recommend", (0,)),
        ("Listen: I'm Percival", "claim_role", (1,)),
        ("I am the Assassin, just joking", "claim_role", (4,)),
        ("Good evening everybody", "silent", ()),
        ("", "silent", ()),
        ("I accuse player_0", "silent", ()),  # oneself
        ("I accuse player_6", "silent", ()),  # nobody of this table
        ("I am not Merlin", "silent", ()),
        ("I am Mordred", "silent", ()),  # not in play
    ],
)
def test_claims(at, words, kind, args):
    move = at("talk").move(words)
    assert (move.kind, move.args) == (kind, args)
    assert move.words == clean(words)


@pytest.mark.parametrize(
    ("words", "never"),
    [
        ("player_3 is not evil", "accuse"),
        ("player_3 is certainly not evil", "accuse"),
        ("I do not suspect player_3", "accuse"),
        ("I don't accuse player_3", "accuse"),
        ("player_2 is not good", "defend"),
        ("player_2 is not trustworthy", "defend"),
        ("I cannot vouch for player_2", "defend"),
        ("I do not recommend player_2", "recommend"),
        ("I would not pick player_2", "recommend"),
        ("player_2 should not go", "recommend"),
        ("I do not volunteer", "recommend"),
    ],
)
def test_negated_claims_are_never_read_as_their_opposite(at, words, never):
    assert at("talk").move(words).kind != never


def test_a_canonical_sentence_is_the_act_without_words_of_its_own(at):
    moment = at("talk")
    for move in moment.legal:
        sentence = moment.text.say(move)
        assert moment.move(sentence) == move
        assert moment.move(f"{sentence} So there!").words == f"{sentence} So there!"


def test_how_words_were_taken_is_told_to_everybody(at):
    moment = at("talk")
    moment.do(moment.move('I suspect player_3, "dear" friends'), Move("accuse", (0,)))
    for seat in range(6):
        prose = render(moment.text, moment.view(seat))
        assert (
            'player_0 says: "I suspect player_3, \\"dear\\" friends" (taken as: I accuse player_3 of being evil.)\n'
            in prose
        )
        assert 'player_1 says: "I accuse player_0 of being evil."\n' in prose


# -- defaults of the presets -----------------------------------------------------------------------------------


def default(moment: AvalonPlay, words: str, seed: int = 0) -> Move:
    move: Move = moment.text.default(words, moment.view(moment.actor), np.random.default_rng(seed))
    assert move in moment.legal
    return move


@pytest.mark.parametrize("rules", PRESETS)
def test_unclear_words_are_agreement_silence_or_the_first_players_named(at, rules):
    assert default(at("vote", rules), "hm") == Move("vote", (1,))
    assert default(at("talk", rules), "hm") == Move("silent")
    assert default(at("propose", rules), "player_4, player_2, player_0 and player_1") == Move("propose", (2, 4))
    if rules in ("paper", "reference"):
        assert default(at("guess", rules), "hm") == Move("guess")


@pytest.mark.parametrize(("rules", "of_evil"), [("paper", 0), ("reference", 1), ("official", 0)])
def test_an_unclear_card(at, rules, of_evil):
    """Paper: fail; but good seats only succeed. Code: success, whoever plays it (its comment says otherwise)."""
    assert default(at("card", rules), "hm") == Move("card", (of_evil,))
    assert default(at("card of good", rules), "hm") == Move("card", (1,))


def test_an_unclear_guess_is_random_where_one_must_name():
    play = AvalonPlay((M, P, S, G, A), "official", talk=False).quest(0, 1).quest(0, 1, 2).quest(0, 1)
    drawn = Counter(default(play, "hm", seed) for seed in range(200))
    assert set(drawn) == set(play.legal) == {Move("guess", (j,)) for j in range(4)}
    assert min(drawn.values()) > 25  # 50 +- 6


@pytest.mark.parametrize("rules", PRESETS)
def test_too_few_players_are_kept_and_filled_up_at_random(at, rules):
    moment = at("propose", rules)
    teams = Counter(default(moment, "player_3, player_3, player_99", seed).args for seed in range(200))
    assert set(teams) == {(0, 3), (1, 3), (2, 3), (3, 4), (3, 5)}
    assert min(teams.values()) > 15  # 40 +- 6


@pytest.mark.parametrize("words", ["", "hm", "I propose player_1 and player_2. I choose player_3 and player_4."])
def test_a_team_that_cannot_be_read_is_drawn_at_random(at, words):
    teams = {default(at("propose"), words, seed).args for seed in range(200)}
    assert len(teams) == 15  # all pairs of six


# -- the prose -------------------------------------------------------------------------------------------------


NIGHTS = {  # role, roles in play, seats shown -> what it reads
    ("Merlin", ("Merlin", "Loyal Servant", "Morgana", "Mordred"), (2,)): (
        "You know that player_2 is evil. You did not see Mordred."
    ),
    ("Percival", ("Merlin", "Percival", "Assassin", "Minion"), (0,)): "player_0 is Merlin.",
    ("Assassin", ("Merlin", "Loyal Servant", "Morgana", "Assassin"), (1,)): "Your evil teammate is player_1, Morgana.",
    (
        "Minion",
        ("Merlin", "Loyal Servant", "Assassin", "Minion"),
        (1,),
    ): "Your evil teammate is player_1, the Assassin.",
    ("Assassin", ("Merlin", "Loyal Servant", "Assassin", "Minion", "Minion"), (1, 2)): (
        "Your evil teammates are player_1 and player_2 (2 x Minion)."
    ),
    ("Assassin", ("Merlin", "Loyal Servant", "Assassin", "Oberon"), ()): "You know no evil teammate.",
}


@pytest.mark.parametrize(("role", "roles", "seats"), NIGHTS)
def test_the_night_in_words_follows_from_the_role_and_the_roles_in_play(role, roles, seats):
    assert night_sentence(role, roles, seats) == NIGHTS[role, roles, seats]


def test_the_rules_in_words_leave_out_roles_and_talk_that_the_table_lacks(avalon_env):
    """What they say where it has them stands in the playthroughs."""
    plain = avalon_env(5, "official", roles="deeprole", talk=False).text.rules
    assert "Percival" not in plain
    assert "Oberon" not in plain
    assert "Talk:" not in plain
    assert "may lie" not in plain
    env = avalon_env(6, "paper", info="full")
    env.reset(seed=1)
    assert env.infos[env.agent_selection]["rules"] == env.text.rules


# -- the published replies -------------------------------------------------------------------------------------


def reference_games() -> Iterator[tuple[dict[str, Any], dict[str, list[dict[str, str]]]]]:
    """Record and log of each published game; see FORMAT.md beside them."""
    games = reference("avalon_logs/extracted.jsonl")
    for line in games.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        yield record, json.loads((games.parent / record["log_file"]).read_text(encoding="utf-8"))


def replies(events: list[dict[str, str]], host: str) -> list[tuple[int, str]]:
    """(Player's number, reply) to the host's instructions that start so."""
    return [
        (int(who.split("(")[0].removeprefix("player ")), words)
        for event in events
        if event["Host"].startswith(host)
        for who, words in event.items()
        if who.startswith("player ")
    ]


def test_published_replies_are_read_as_the_records_say(at):
    """Votes, cards, and the logged confirmations of teams, in which players count from 1; of too many the first are taken."""
    seen: Counter[str] = Counter()
    vote, card = at("vote", "reference"), at("card", "reference")
    for record, log in reference_games():
        for round_, events in zip(record["rounds"], log.values(), strict=True):
            votes = [(int(j), v == "agree") for p in round_["proposals"] for j, v in p["votes"].items()]
            cards = round_["quest"]["cards"]
            played = [(j, cards[str(j)].get("text_class", cards[str(j)]["card"])) for j in round_["quest"]["team"]]
            confirmed = [p for p in round_["proposals"] if p["confirm_logged"]]
            named = [(p["leader"], sorted(p["proposed_team"])) for p in confirmed]
            said = [replies(events, host) for host in HOST_ASKS]
            assert [(j, vote.read(words) == (1,)) for j, words in said[0]] == votes
            assert UNCLEAR not in [vote.read(words) for _, words in said[0]]
            as_card = {(1,): "success", (0,): "fail", UNCLEAR: "unclear"}
            assert [(j, as_card[card.read(words)]) for j, words in said[1]] == played
            size = round_["team_size"]
            assert [(j, sorted(read_seats(clean(words), j)[:size])) for j, words in said[2]] == named
            seen.update(["vote"] * len(votes), card=0, team=len(named))
            seen.update(kind for _, kind in played)
    assert seen["vote"] >= 240
    assert seen["team"] >= 20
    assert (seen["success"] >= 79, seen["fail"] >= 16, seen["unclear"] >= 5) == (True, True, True)


HOST_ASKS = ("The quest leader decides", "As the players who engage", "Please finally confirm")
