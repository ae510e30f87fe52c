"""The rules of the murder mystery, one after the other: decisions 4.1, 4.2 and 4.8; Questum, appendix A.1 (rules 1
to 6) and A.2 (stages 1 to 5). The tables are those of `mystery_table`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from parlour.envs import registry
from parlour.envs.core import OVER, Move, ParlourError
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.cases.case import digest
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.legal_moves import fact_of, tell
from parlour.envs.murder_mystery.vocabulary import (
    ANSWER,
    ASK,
    CHOOSE,
    ENOUGH,
    NOBODY,
    ROUND,
    SAYS,
    SUSPECT,
    TELL,
    TURN,
    VERDICT,
    VOTE,
    VOTES,
    WANTED,
    Verdict,
)
from parlour.envs.murder_mystery.vocabulary.facts import (
    MEANS,
    MOTIVE,
    OPEN,
    RELATION,
    SIGHTING,
    WHEREABOUTS,
    Fact,
)

from tests.envs.murder_mystery.table import (
    ADA,
    BEN,
    CLEO,
    DOV,
    EVE,
    INTRODUCED,
    ask,
    changed_case,
    choose,
    introduced,
    path,
    play,
    table,
)  # fmt: skip
from tests.refused_values import refusal

EDGAR, FAY = 0, 1
PAIRS = [(i, k) for i in range(5) for k in range(2)]


def question(game: Any, asker: int, victim: int, target: int, topic: int, about: int = -1) -> Any:
    """The turns before are passed over."""
    s = introduced(game)
    while (s.exchange.asker, s.exchange.victim) != (asker, victim):
        s = game.apply(s, NOBODY)
    return play(game, choose(target), ask(topic, about), start=s)


def to_the_vote(game: Any) -> Any:
    """Nobody asks anybody; everybody reports the first that may be reported."""
    s = introduced(game)
    while game.legal(s)[0].kind != VOTE:
        s = game.apply(s, game.legal(s)[0])
    return s


def vote(game: Any, *votes: tuple[int, ...]) -> Any:
    """The end after these votes: for each seat, one for each victim."""
    return play(game, *(Move(VOTE, (j,)) for seat in votes for j in seat), start=to_the_vote(game))


def events(s: Any, kind: str) -> list[tuple[int, ...]]:
    return [event.move.args for event in s.log if event.move.kind == kind]


def kinds_of(s: Any) -> set[str]:
    return {move.kind for move in s.options.legal}


# -- the order of play -----------------------------------------------------------------------------------------


def test_stage_2_all_introduce_themselves_in_the_order_of_the_case():
    game = table()
    s = game.initial()
    for seat in range(5):
        assert (game.actor(s), game.legal(s)) == (seat, (INTRODUCED,))
        s = game.apply(s, INTRODUCED._replace(words=f"I am number {seat}."))
    assert [(e.seat, e.move.words) for e in s.log[:5]] == [(k, f"I am number {k}.") for k in range(5)]
    assert [e.to for e in s.log[:5]] == [None] * 5
    assert game.legal(s)[0] == NOBODY


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_stage_3_there_are_n_rounds_not_one_more_and_reports_after_each_but_the_last(rounds):
    """The printed loop would give n + 1; in each, seat i asks about victim k, i before k. (decisions 4.2)"""
    s = to_the_vote(table(rounds=rounds))
    assert events(s, ROUND) == [(r,) for r in range(rounds + 1)]  # the last one opens the vote
    assert events(s, TURN) == PAIRS * rounds
    assert len(events(s, SUSPECT)) == 10 * (rounds - 1)
    order = [(e.to[0], e.move.args[1]) for e in s.log if e.move.kind == WANTED and not e.move.args[0]]
    assert order == PAIRS * (rounds - 1)


def test_stage_4_the_vote_has_one_vote_per_player_and_victim():
    game = table(rounds=1)
    s = to_the_vote(game)
    asked = []
    while game.actor(s) != OVER:
        asked.append((game.actor(s), game.view(s, game.actor(s)).victim))
        assert [game.view(s, seat).victim for seat in range(5) if seat != game.actor(s)] == [-1] * 4
        s = game.apply(s, game.legal(s)[0])
    assert asked == PAIRS


def test_the_longest_game_has_max_moves():
    """5 introductions; 2 rounds x 10 pairs x 4 targets x (choice + 2 questions x (question + 3 facts)) = 720; 10 reports, 10
    votes. The tower is too small to be told so much; a game in which everybody always has facts would be as long."""
    assert table(rounds=2, questions=2).max_moves == 5 + 20 * 4 * (1 + 2 * (1 + 3)) + 10 + 10


# -- whom to ask -----------------------------------------------------------------------------------------------


def test_nobody_asks_himself_or_anybody_twice_in_one_turn():
    game = table()
    s = introduced(game)
    assert game.legal(s) == (NOBODY, *map(choose, (BEN, CLEO, DOV, EVE)))
    s = play(game, choose(CLEO), ask(OPEN), SAYS, start=s)
    assert game.legal(s) == (NOBODY, *map(choose, (BEN, DOV, EVE)))


@pytest.mark.parametrize("targets", [1, 2, 99])
def test_up_to_targets_may_be_asked_about_one_victim_then_the_turn_passes(targets):
    game = table(targets=targets)
    s = introduced(game)
    for j in (BEN, CLEO, DOV, EVE)[:targets]:
        assert s.exchange[:2] == (ADA, EDGAR)
        s = play(game, choose(j), ask(OPEN), SAYS, start=s)
    assert (s.actor, s.exchange[:3]) == (ADA, (ADA, FAY, ()))
    assert game.apply(s, NOBODY).exchange[:2] == (BEN, EDGAR)  # to ask nobody ends the turn


@pytest.mark.parametrize("questions", [1, 2, 3])
def test_the_asked_gets_m_questions(questions):
    game = table(questions=questions)
    s = introduced(game, choose(EVE))
    for number in range(questions):
        assert (s.actor, s.exchange.question, kinds_of(s)) == (ADA, number, {ASK})
        s = play(game, ask(WHEREABOUTS if number else OPEN), start=s)
        assert s.actor == EVE
        s = game.apply(s, SAYS)
    assert kinds_of(s) == {CHOOSE}


def test_a_question_may_be_about_whom_it_makes_sense():
    game = table()
    s = introduced(game, choose(EVE))
    about = {topic: [m.args[1] for m in game.legal(s) if m.args[0] == topic] for topic in range(6)}
    edgar, fay = 5, 6
    assert about == {
        WHEREABOUTS: [-1],
        RELATION: [-1, ADA, BEN, CLEO, DOV, fay],  # to Edgar is the question about nobody in particular
        MOTIVE: [-1, BEN, CLEO, DOV, EVE],
        SIGHTING: [-1, ADA, BEN, CLEO, DOV, edgar, fay],
        MEANS: [-1, BEN, CLEO, DOV, EVE],
        OPEN: [-1],
    }


# -- Rule 3: only murderers may lie ----------------------------------------------------------------------------


def tells(s: Any) -> set[Fact]:
    return {fact_of(move) for move in s.options.legal if move.kind == TELL}


@pytest.mark.parametrize(
    ("topic", "about", "facts"),
    [
        (WHEREABOUTS, -1, {Fact("at", (ADA, 0, 0)), Fact("at", (ADA, 1, 1))}),
        (RELATION, -1, {Fact("relation", (ADA, 0, 5))}),
        (RELATION, BEN, set()),
        (MOTIVE, -1, {Fact("motive", (BEN, 0, 5))}),
        (MOTIVE, CLEO, set()),
        (SIGHTING, -1, {Fact("saw", (BEN, 2, 1)), Fact("saw", (CLEO, 1, 0))}),
        (SIGHTING, CLEO, {Fact("saw", (CLEO, 1, 0))}),
        (MEANS, -1, {Fact("had", (BEN, 0)), Fact("took", (ADA, 0))}),
        (MEANS, DOV, set()),
    ],
)
def test_rule_3_a_civilian_tells_what_it_knows_and_bears_on_the_question(topic, about, facts):
    """Ada, asked by Eve about Edgar, knows eight facts."""
    s = question(table(), EVE, EDGAR, ADA, topic, about)
    assert tells(s) == facts
    assert (ENOUGH in s.options.legal) == (not facts)
    assert SAYS in s.options.legal


def test_rule_3_a_civilian_has_told_enough_only_when_nothing_is_left():
    game = table()
    s = play(game, tell(Fact("at", (ADA, 0, 0))), start=question(game, EVE, EDGAR, ADA, WHEREABOUTS))
    assert (s.actor, ENOUGH in game.legal(s)) == (ADA, False)
    s = game.apply(s, tell(Fact("at", (ADA, 1, 1))))
    assert (s.actor, game.legal(s)) == (ADA, (SAYS, ENOUGH))


def test_an_answer_has_three_facts_at_most():
    game = table()
    s = question(game, EVE, EDGAR, ADA, OPEN)
    assert len(tells(s)) == 8
    for _ in range(3):
        assert s.actor == ADA
        s = game.apply(s, next(move for move in game.legal(s) if move.kind == TELL))
    assert (s.actor, kinds_of(s)) == (EVE, {CHOOSE})


def test_what_the_hearers_know_from_it_already_is_not_told_again():
    game = table()
    s = question(game, BEN, EDGAR, ADA, WHEREABOUTS)
    s = play(game, tell(Fact("at", (ADA, 0, 0))), SAYS, NOBODY, choose(ADA), ask(WHEREABOUTS), start=s)
    assert tells(s) == {Fact("at", (ADA, 1, 1))}


def test_where_two_hear_each_asker_is_told_anew():
    game = table(hearing="two")
    s = question(game, BEN, EDGAR, ADA, WHEREABOUTS)
    told_once = play(game, tell(Fact("at", (ADA, 0, 0))), SAYS, NOBODY, start=s)
    assert tells(play(game, choose(ADA), ask(WHEREABOUTS), start=told_once)) == {Fact("at", (ADA, 1, 1))}  # Ben, of Fay
    cleo = play(game, NOBODY, choose(ADA), ask(WHEREABOUTS), start=told_once)
    assert tells(cleo) == {Fact("at", (ADA, 0, 0)), Fact("at", (ADA, 1, 1))}


@pytest.mark.parametrize(
    ("topic", "about", "facts"),
    [
        (WHEREABOUTS, -1, {Fact("at", (BEN, place, time)) for place in range(3) for time in range(2)}),
        (MOTIVE, -1, {Fact("motive", (EVE, 1, 5))}),  # of anybody: what it planned to say
        (MOTIVE, DOV, {Fact("motive", (DOV, reason, 5)) for reason in range(2)}),  # of Dov: any reason
        (SIGHTING, DOV, {Fact("saw", (DOV, place, time)) for place in range(3) for time in range(2)}),
        (MEANS, DOV, {Fact(kind, (DOV, means)) for kind in ("had", "lacked") for means in range(2)}),
        (
            RELATION,
            -1,
            {Fact("relation", (BEN, r, 5)) for r in range(2)} | {Fact("feels", (BEN, f, 5)) for f in (-1, 0, 1)},
        ),
    ],
)
def test_rule_3_a_murderer_may_lie_or_be_silent_about_its_own_victim(topic, about, facts):
    s = question(table(), ADA, EDGAR, BEN, topic, about)
    assert tells(s) == facts
    assert ENOUGH in s.options.legal


def test_a_murderer_of_one_of_two_victims_is_honest_about_the_other():
    """Decisions 4.5: the reply of a murderer applies iff it killed this victim."""
    s = question(table(), ADA, FAY, BEN, WHEREABOUTS)
    assert tells(s) == {Fact("at", (BEN, 0, 0)), Fact("at", (BEN, 2, 1))}
    assert ENOUGH not in s.options.legal
    assert len(tells(question(table(), ADA, FAY, CLEO, WHEREABOUTS))) == 6
    s = question(table(), ADA, EDGAR, CLEO, WHEREABOUTS)
    assert tells(s) == {Fact("at", (CLEO, 1, 0)), Fact("at", (CLEO, 0, 1))}


@given(seed=st.integers(0, 10**6), hearing=st.sampled_from(["all", "two"]))
def test_rule_3_in_random_games_no_civilian_tells_what_it_does_not_know(playout, seed, hearing):
    game = table(rounds=2, hearing=hearing)
    victim = -1
    for seat, move, _ in playout(game, seed).states[-1].log:
        victim = move.args[1] if move.kind == TURN else victim
        if move.kind == TELL and not game.case.characters[seat].murders[victim]:
            assert fact_of(move) in game.case.characters[seat].facts


def test_words_end_an_answer_and_go_with_speech_only():
    game = table()
    spoken = game.apply(question(game, EVE, EDGAR, ADA, WHEREABOUTS), SAYS._replace(words="I was nowhere at all."))
    assert (spoken.actor, spoken.log[-1].move.words) == (EVE, "I was nowhere at all.")
    assert introduced(game, choose(EVE)._replace(words="psst")).log[-1].move == choose(EVE)


def test_a_case_of_prose_only_has_questions_and_free_answers():
    game = table("letter_en")
    assert game.table.tells == ()
    s = introduced(game, choose(1), ask(MOTIVE, 2))
    assert game.legal(s) == (SAYS, ENOUGH)
    s = game.apply(s, SAYS._replace(words="Jun was angry."))
    assert (s.actor, kinds_of(s)) == (0, {CHOOSE})


def test_the_catalogue_is_of_public_words_alone(tmp_path):
    """It says all that could be said: without any private fact it is the same."""

    def bare(case: Any) -> None:
        for character in case["characters"]:
            character.update(facts=[], lies=[], script="Nothing.")

    file = changed_case(tmp_path / "bare.json", "tower_en", bare)
    assert GAME.build(GAME.options(case=file)).catalogue == table().catalogue
    # 7 persons x 3 places x 2 times, own and seen; 7 x 6 x (2 relations + 3 feelings); 5 x 2 x (2 motives + peace);
    # 5 x (2 means had, 2 lacked, 1 thing); 2 victims x (4 x 3 x 3 - 1) deaths
    assert len(table().table.tells) == 2 * 42 + 42 * 5 + 10 * 3 + 25 + 2 * 35


# -- Rule 5 and what is secret ---------------------------------------------------------------------------------


def test_stage_4_the_vote_is_anonymous():
    """How many votes each seat has is told, and not by whom: Ben 4 and Ada 1; Cleo 4 and Ada 1."""
    s = vote(table(rounds=2), (1, 2), (0, 2), (1, 0), (1, 2), (1, 2))
    assert events(s, VOTES) == [(EDGAR, 1, 4, 0, 0, 0), (FAY, 1, 0, 4, 0, 0)]
    assert all(event.to == (event.seat,) for event in s.log if event.move.kind in (SUSPECT, VOTE))


def test_nobody_reports_or_votes_for_himself():
    game = table(rounds=2)
    s = introduced(game)
    while game.actor(s) != OVER:
        legal = game.legal(s)
        if legal[0].kind in (SUSPECT, VOTE):
            assert legal == tuple(Move(legal[0].kind, (j,)) for j in range(5) if j != s.actor)
        s = game.apply(s, legal[0])


@pytest.mark.parametrize(("hearing", "two"), [("all", None), ("two", (EVE, ADA))])
def test_questions_and_answers_are_heard_by_all_or_by_the_two(hearing, two):
    game = table(hearing=hearing)
    asked = question(game, EVE, EDGAR, ADA, WHEREABOUTS)
    s = play(game, tell(Fact("at", (ADA, 0, 0))), SAYS, start=asked)
    recipients = {e.move.kind: e.to for e in s.log if e.move.kind in (CHOOSE, ASK, TELL, ANSWER)}
    assert recipients == {CHOOSE: None, ASK: two, TELL: two, ANSWER: two}


def test_who_does_not_hear_a_question_knows_its_target_and_not_its_topic():
    game = table(hearing="two")
    s = question(game, EVE, EDGAR, ADA, MOTIVE, BEN)
    shown = [(v.asker, v.target, v.topic, v.about) for v in (game.view(s, seat) for seat in range(5))]
    assert shown == [(EVE, ADA, MOTIVE, BEN), *[(EVE, ADA, -1, -1)] * 3, (EVE, ADA, MOTIVE, BEN)]


def test_a_seat_keeps_its_own_last_reports():
    game = table(rounds=2)
    s = introduced(game, *[NOBODY] * 10)
    assert game.view(s, ADA).suspects == (-1, -1)
    s = play(game, Move(SUSPECT, (CLEO,)), Move(SUSPECT, (DOV,)), start=s)
    assert game.view(s, ADA).suspects == (CLEO, DOV)
    assert game.view(s, BEN).suspects == (-1, -1)


# -- Rule 6: the outcome ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "votes", "half", "plurality"),
    [
        ("tower_en", (1, 0, 1, 1, 0), BEN, BEN),  # 3 of 5
        ("tower_en", (1, 2, 1, 0, 3), -1, BEN),  # 2 of 5: 40 %
        ("tower_en", (1, 2, 1, 2, 0), -1, -1),  # 2, 2, 1: a tie
        ("tower_en", (1, 0, 3, 4, 2), -1, -1),  # 1 each
        ("tower_en", (1, 0, 1, 1, 1), BEN, BEN),  # 4 of 5
        ("lake_zh", (1, 0, 1, 2), 1, 1),  # 2 of 4 are 50 %, which is enough (section 4.2; not so in appendix A)
        ("lake_zh", (1, 0, 1, 0), -1, -1),  # 2 and 2: half, but no single top
    ],
)
def test_rule_6_whom_the_vote_finds(name, votes, half, plurality):
    for rules, expected in (("questum", half), ("player", plurality)):
        game = table(name, rounds=1, rules=rules)
        verdict = events(vote(game, *((j, (i + 1) % 5)[: game.victims] for i, j in enumerate(votes))), VERDICT)[0]
        assert verdict[1] == expected
        assert name != "tower_en" or verdict[2] == (Verdict.SOLVED if expected == BEN else Verdict.MISSED)


def outcome(*votes: tuple[int, ...], name: str = "tower_en") -> Any:
    game = table(name, rounds=1)
    return game.outcome(vote(game, *votes))


ALL_FOR = {
    BEN: (1, 0, 1, 1, 1),
    CLEO: (2, 2, 0, 2, 2),
    DOV: (3, 3, 3, 0, 3),
    EVE: (4, 4, 4, 4, 0),
    ADA: (1, 0, 0, 0, 0),
}


@pytest.mark.parametrize(
    ("first", "second", "returns", "winner"),
    [
        (BEN, CLEO, (1, -1, -1, -1, 1), "civilians"),
        (BEN, DOV, (1, -1, -1, -1, 1), "civilians"),  # of several murderers any will do
        (BEN, EVE, (0, -1, 1, 1, 0), "draw"),
        (CLEO, DOV, (0, 1, -1, -1, 0), "draw"),  # Cleo is a murderer, but not Edgar's
        (EVE, ADA, (-1, 1, 1, 1, -1), "murderers"),
    ],
)
def test_rule_2_returns_by_victims(first, second, returns, winner):
    """Civilians: (solved - missed) / victims; a murderer: the negative for its own victims."""
    result = outcome(*zip(ALL_FOR[first], ALL_FOR[second], strict=True))
    assert result.returns == tuple(map(float, returns))
    assert (result.winner, result.reason) == (winner, "votes")


def test_rule_1_a_victim_that_no_player_murdered_does_not_count():
    """As Ghost Revenge's victim 0. Mora's murderer is seat 2; whoever is found for Lars changes nothing."""
    for lars in ((1, 0, 1, 1), (2, 2, 0, 2), (1, 0, 0, 1)):
        assert outcome(*zip(lars, (2, 2, 1, 2), strict=True), name="letter_en").returns == (1.0, 1.0, -1.0, 1.0)
        assert outcome(*zip(lars, (1, 0, 1, 1), strict=True), name="letter_en").returns == (-1.0, -1.0, 1.0, -1.0)
    s = vote(table("letter_en"), *zip((2, 2, 0, 2), (2, 2, 1, 2), strict=True))
    assert events(s, VERDICT) == [(0, 2, Verdict.NO_PLAYER), (1, 2, Verdict.SOLVED)]


def test_a_case_without_any_murderer_at_the_table_is_a_draw(tmp_path):
    def nobody(case: Any) -> None:
        for character in case["characters"]:
            character["murders"] = [False, False]

    game = GAME.build(GAME.options(case=changed_case(tmp_path / "nobody.json", "letter_en", nobody), rounds=1))
    result = game.outcome(vote(game, (1, 1), (0, 0), (0, 0), (0, 0)))
    assert (result.returns, result.winner) == ((0.0,) * 4, "draw")


# -- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"case": 3}, "case 3"),
        ({"case": "no such case"}, "no such case"),
        ({"rounds": 0}, "rounds 0"),
        ({"questions": 6}, "questions 6"),
        ({"targets": 0}, "targets 0"),
        ({"hearing": "none"}, "hearing 'none'"),
        ({"rules": "official"}, "rules 'official'"),
        ({"case_sha256": "0" * 64}, "SHA-256"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_options_outside_what_is_accepted_are_refused_in_one_line(options, message):
    line = refusal(registry["murder_mystery_v0"].env, **{"case": path("tower_en"), **options})
    assert "accepted" in line
    assert message in line


def test_the_configuration_holds_the_digest_of_the_case():
    game = table()
    assert game.config["case_sha256"] == digest(find(path("tower_en")))
    assert GAME.build(GAME.options(**game.config)).config == game.config


def test_a_fact_that_cannot_be_told_is_refused(tmp_path):
    """A motive against a player: the language has none."""

    def motive(case: Any) -> None:
        case["characters"][0]["facts"].append(["motive", [1, 0, 2]])

    with pytest.raises(ParlourError, match=r"motive \[1, 0, 2\]"):
        GAME.build(GAME.options(case=changed_case(tmp_path / "case.json", "tower_en", motive)))
