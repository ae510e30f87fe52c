"""Tougher cases: innocents who lie, secrets that clear, alibis that two statements break; and the worlds that agree with what was told."""

from __future__ import annotations

import json
from functools import cache

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery import GAME, belief
from parlour.envs.murder_mystery.belief import PUBLIC
from parlour.envs.murder_mystery.cases.case import Case, digest, dump, load
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.generate import tougher
from parlour.envs.murder_mystery.generate.from_seed import generate
from parlour.envs.murder_mystery.legal_moves import tell
from parlour.envs.murder_mystery.vocabulary import ENOUGH
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, WHEREABOUTS, Fact
from parlour.training.papers import questum_games
from parlour.training.papers.questum_games import MysterySetting

from tests.envs.murder_mystery.fair_cases import assert_told_as_known
from tests.refused_values import refusal

SEEDS = range(1, 9)
LEVELS = (1, 2, 3, 4, 5)
VICTIM = 4
"""Person number of the victim among four seats."""
DIED = (PUBLIC, Fact("died", (VICTIM, 0, 1, UNKNOWN)))
"""At place 0, hour 1."""


@cache
def made(seed: int, level: int, language: str = "en") -> Case:
    return generate(seed, language, level=level)


def liars(case: Case) -> list[int]:
    return [seat for seat, character in enumerate(case.characters) if character.lies and not any(character.murders)]


def statements_in(case: Case) -> list[belief.Told]:
    """What all but the murderer, who is one, say, each in full."""
    facts = [(PUBLIC, fact) for fact in case.public]
    for seat, character in enumerate(case.characters):
        if not character.murders[0]:
            facts += [(seat, fact) for fact in tougher.said_by(character.facts, character.lies)]
    return facts


# -- worlds ----------------------------------------------------------------------------------------------------


ELSEWHERE = (1, Fact("saw", (2, 3, 1)))


@pytest.mark.parametrize(
    ("facts", "liars", "left"),
    [
        ([ELSEWHERE], 0, (0, 1, 3)),  # who was seen elsewhere did not do it
        ([ELSEWHERE], 1, (0, 1, 2, 3)),  # unless the witness may lie
        ([ELSEWHERE, (0, Fact("saw", (2, 3, 1)))], 1, (0, 1, 3)),  # one liar cannot be both of them
        ([(2, Fact("at", (2, 3, 1)))], 0, (0, 1, 2, 3)),  # what a seat says of itself clears nobody
        # 1 saw 2 at the scene, 2 says it was elsewhere: without other liars one of the two did it
        ([(1, Fact("saw", (2, 0, 1))), (2, Fact("at", (2, 3, 1)))], 0, (1, 2)),
    ],
)
def test_worlds_that_agree_with_what_was_told(facts, liars, left):
    assert belief.possible([DIED, *facts], 4, VICTIM, liars) == left


def test_an_alibi_with_a_false_witness_breaks_by_two_statements_only():
    died = (PUBLIC, Fact("died", (5, 0, 1, UNKNOWN)))  # five seats
    backed = [(2, Fact("at", (2, 3, 1))), (0, Fact("saw", (2, 3, 1))), (0, Fact("at", (0, 3, 1)))]
    others = [(4, Fact("saw", (1, 6, 1))), (4, Fact("saw", (3, 5, 1))), (1, Fact("saw", (4, 6, 1)))]
    others.append((3, Fact("saw", (4, 6, 1))))
    seen, exposed = (1, Fact("saw", (2, 0, 1))), (3, Fact("saw", (0, 5, 1)))
    # 2 claims place 3, and 0 confirms it; 1 saw 2 at the scene; 3 saw the false witness 0 at place 5
    told_so_far = [died, *backed, *others]
    assert len(belief.possible([*told_so_far, seen], 5, 5, 1)) > 1
    assert len(belief.possible([*told_so_far, exposed], 5, 5, 1)) > 1
    assert belief.possible([*told_so_far, seen, exposed], 5, 5, 1) == (2,)


def test_a_proof_holds_nothing_that_can_be_spared():
    for level in LEVELS:
        case = made(2, level)
        every = statements_in(case)
        proof = belief.proof(every, case.seats, case.seats, case.liars)
        public = [statement for statement in every if statement[0] == PUBLIC]
        assert belief.possible([*public, *proof], case.seats, case.seats, case.liars) == case.murderers(0)
        for statement in proof:
            less = [other for other in proof if other != statement]
            assert len(belief.possible([*public, *less], case.seats, case.seats, case.liars)) > 1


# -- cases -----------------------------------------------------------------------------------------------------


def test_cases_are_what_they_were():
    """Digests as of before there were levels; those of levels as of before level 5 had several victims."""
    assert {level: digest(generate(3, level=level))[:12] for level in LEVELS} == TOUGHER
    assert digest(generate(11)) == PLAIN[11]
    assert digest(generate(12, "zh", 6, 2)) == PLAIN[12]
    assert "liars" not in dump(generate(11))
    assert digest(find("harbour_en")) == PLAIN["harbour_en"]


TOUGHER = {1: "e225f8796b12", 2: "6f722cb26c34", 3: "fea3e9ca27d1", 4: "e37d9c9fb704", 5: "78aa7bfaf2de"}
PLAIN = {
    11: "fb0c49460e5eb4ffc1055073f9c4c5b5e9ce96803216a560b6aaba9c31483a6d",
    12: "014fb7b7dbddd982ea7da5bee74bf96a8482fb553cb8f885a8252ae2b8562e39",
    "harbour_en": "9311ce06cfc0562a0176ab8874b03020f0388c0b7fbfeda9e5829bdb290ee254",
}


@pytest.mark.parametrize("level", LEVELS)
def test_all_but_the_murderer_together_prove_it_as_the_level_asks_and_nobody_alone_can(level):
    asks = tougher.TOUGHNESS[level]
    assert find(made(3, level).id) == load(json.loads(dump(made(3, level)))) == made(3, level)
    for seed in SEEDS:
        case = made(seed, level)
        assert len(liars(case)) == case.liars == asks.liars
        assert len(belief.proof(statements_in(case), case.seats, case.seats, case.liars)) >= asks.deductions
        assert belief.possible(statements_in(case), case.seats, case.seats, case.liars) == case.murderers(0)
        for seat, character in enumerate(case.characters):
            own = [(PUBLIC, fact) for fact in case.public] + [(seat, fact) for fact in character.facts]
            if not character.murders[0]:
                assert len(set(belief.possible(own, case.seats, case.seats, 0)) - {seat}) >= 2


@pytest.mark.parametrize(
    ("seed", "victims", "players"), [(1, 2, 6), (2, 2, 9), (3, 3, 6), (4, 3, 7), (5, 4, 6), (6, 4, 8)]
)
def test_at_level_5_each_of_several_murders_by_one_murderer_is_a_riddle_of_its_own(seed, victims, players):
    case = generate(seed, "en", players, victims, level=5)
    assert case == find(case.id)
    assert [case.murderers(victim) for victim in range(victims)] == [case.murderers(0)] * victims
    assert len(liars(case)) == case.liars == 2
    (murderer,) = case.murderers(0)
    for victim, death in enumerate(case.truth.deaths):
        person = case.seats + victim
        assert belief.possible(statements_in(case), case.seats, person, case.liars) == (murderer,)
        assert len(tougher.proof_of(case, victim)) >= tougher.TOUGHNESS[5].deductions
        for seat, character in enumerate(case.characters):
            own = [(PUBLIC, fact) for fact in case.public] + [(seat, fact) for fact in character.facts]
            if seat != murderer:
                assert len(set(belief.possible(own, case.seats, person, 0)) - {seat}) >= 2
        alibis = [
            fact.args[1] for fact in case.characters[murderer].lies if fact.kind == "at" and fact.args[2] == death.time
        ]
        backed = Fact("saw", (murderer, alibis[0], death.time))  # at the hour of each murder, by the same two
        assert all(backed in case.characters[seat].lies for seat in liars(case))
    assert_true(case)
    assert_told_as_known(case)


def assert_true(case: Case) -> None:
    """Facts are true, and lies about whereabouts are not."""
    for character in case.characters:
        for fact in (*character.facts, *character.lies):
            if fact.kind in ("at", "saw"):
                truly = case.truth.timeline[fact.args[0]][fact.args[2]] == fact.args[1]
                assert truly == (fact not in character.lies)
            elif fact in character.facts and fact.kind != "died":
                assert fact in case.truth.facts


@pytest.mark.parametrize("level", LEVELS)
def test_facts_are_true_and_lies_are_not(level):
    for seed in SEEDS:
        assert_true(made(seed, level))


@pytest.mark.parametrize("level", [1, 3, 4])
def test_a_secret_is_all_that_clears_who_keeps_it(level):
    for seed in SEEDS:
        case = made(seed, level)
        (murderer,) = case.murderers(0)
        keeper = next(lie.args[0] for lie in case.characters[murderer].lies if lie.kind == "saw")  # who is framed
        assert keeper in liars(case)
        assert not any(f.kind in ("lacked", "peace") and f.args[0] == keeper for _, f in statements_in(case))
        time = case.truth.deaths[0].time
        seen = Fact("saw", (keeper, case.truth.timeline[keeper][time], time))
        assert any(seen in character.facts for character in case.characters)
        assert any(fact.kind == "took" for fact in case.characters[keeper].facts)


@pytest.mark.parametrize("level", [2, 3, 4, 5])
def test_an_innocent_confirms_the_murderers_alibi(level):
    for seed in SEEDS:
        case = made(seed, level)
        (murderer,) = case.murderers(0)
        backing = [
            seat
            for seat in liars(case)
            for lie in case.characters[seat].lies
            if lie.kind == "saw" and lie.args[0] == murderer
        ]
        assert len(backing) == tougher.TOUGHNESS[level].backed == (2 if level >= 4 else 1)
        alibi = next(lie for lie in case.characters[murderer].lies if lie.kind == "at")
        assert all(Fact("saw", alibi.args) in case.characters[seat].lies for seat in backing)


def test_the_story_does_not_depend_on_the_language_and_its_script_says_no_lie_as_a_fact():
    for level in LEVELS:
        english, chinese = (made(3, level, language) for language in ("en", "zh"))
        assert [person.facts for person in english.characters] == [character.facts for character in chinese.characters]
        for case in (english, chinese):
            assert_told_as_known(case)


@pytest.mark.parametrize(
    "reference",
    [
        "seed:3:en:4:1::1",
        "seed:3:en:6:2::2",
        "seed:3:en:5:1::3",
        "seed:3:::::6",
        "seed:3:en:9:2::4",
        "seed:3:en:7:1::4",
        "seed:3:en:5:1::5",
    ],
)
def test_levels_that_cannot_be_are_refused_in_one_line(reference):
    assert "accepted: " in refusal(find, reference)


# -- at the table ----------------------------------------------------------------------------------------------


def liar_of(case: Case) -> tuple[int, Fact]:
    """The one innocent with a secret, and where it says that it was."""
    (liar,) = liars(case)
    return liar, next(fact for fact in case.characters[liar].lies if fact.kind == "at")


def test_an_innocent_with_a_secret_may_tell_its_lie_and_be_silent_and_others_may_not():
    case = made(1, 1)
    table, (liar, lie) = GAME.build(GAME.options(case=case.id)).table, liar_of(case)
    offered = table.replies(liar, WHEREABOUTS, -1, 0, 0).legal
    assert tell(lie) in offered
    assert ENOUGH in offered
    honest = next(s for s in range(case.seats) if s != liar and s not in case.murderers(0))
    facts = [tell(fact) for fact in case.characters[honest].facts]
    offered = table.replies(honest, WHEREABOUTS, -1, 0, 0).legal
    assert all(move in facts for move in offered if move.kind == "tell")
    assert ENOUGH not in offered


def test_a_level_is_for_generated_cases(tmp_path):
    with pytest.raises(ParlourError, match="level 1 is not accepted"):
        questum_games.cases_of(MysterySetting(cases=str(tmp_path), level=1))
    assert questum_games.cases_of(MysterySetting(games=1, level=2))[0][0].endswith(":en::::2")
