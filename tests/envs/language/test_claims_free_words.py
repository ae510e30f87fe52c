"""What free words claim: lists and alternatives, negation, suppositions, reports, contrast, the first person."""

from __future__ import annotations

import pytest
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.language.claims import Claim, claims

ME, SEATS = 4, 6


def said(words: str) -> set[tuple[str, tuple[int, ...]]]:
    return {(claim.kind, claim.seats) for claim in claims(words, ME, SEATS, ROLES)}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I'd like me plus player_2 on it.", {("propose", (2, 4))}),
        ("I want me, player_2, and one of player_0/player_1.", {("propose", (2, 4)), ("propose", (0, 1))}),
        ("Something like {player_1, player_3} works for me.", {("propose", (1, 3))}),
        ("Let's run player_0–player_3.", {("propose", (0, 3))}),
        ("player_0 and player_3 are both evil.", {("accuse", (0, 3))}),
        ("There is exactly one evil in {player_0, player_3}.", {("accuse", (0, 3))}),
        ("I trust player_0, player_1 and player_2.", {("defend", (0, 1, 2))}),
    ],
)
def test_a_list_is_one_claim_about_its_seats(words: str, expected: set[tuple[str, tuple[int, ...]]]) -> None:
    assert said(words) == expected


def test_some_of_several_are_marked() -> None:
    read = claims("I want player_0 and one of player_1/player_2.", ME, SEATS)
    assert [(claim.seats, claim.some) for claim in read] == [((0,), False), ((1, 2), True)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I don't want player_0 near this.", {("accuse", (0,))}),
        ("player_0 is not evil.", set()),
        ("I do not trust player_0.", {("accuse", (0,))}),
        ("One clean mission doesn't clear player_0.", set()),
        ("I'd avoid putting both player_0 and player_1 together.", set()),
        ("I would rather not stack player_0 and player_1.", set()),
        ("Keep player_0 off.", {("accuse", (0,))}),
    ],
)
def test_negation_turns_a_claim_or_takes_it_away(words: str, expected: set[tuple[str, tuple[int, ...]]]) -> None:
    assert said(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "If this fails, player_0 is evil.",
        "If player_0 and player_1 are on it and it fails, player_1 must be the spy.",
        "player_1 said that player_0 is evil.",
        "player_1 thinks we should take player_0 and player_2.",
        "Mission 1 with player_0 and player_1 failed.",
        "Tell us more, player_0.",
    ],
)
def test_what_is_supposed_reported_or_only_told_claims_nothing(words: str) -> None:
    assert said(words) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("player_0 is the assassin!", {("accuse", (0,))}),
        ("player_0 is probably Morgana.", {("accuse", (0,))}),
        ("player_0 is not the assassin.", set()),
        ("player_0 is afraid of the assassin.", set()),
        ("I think player_3 failed the quest.", {("accuse", (3,))}),
        ("player_3 must have failed the second quest.", {("accuse", (3,))}),
        ("player_3 did not fail the quest.", set()),
        ("player_3 failed to convince me.", set()),
        ("If player_3 failed the quest, we lose.", set()),
        ("player_1, player_2 and me would be a fine team.", {("propose", (1, 2, 4))}),
        ("player_1 and player_2 would not be a good team.", set()),
    ],
)
def test_an_evil_role_a_failed_quest_and_a_fine_team_are_claims(
    words: str, expected: set[tuple[str, tuple[int, ...]]]
) -> None:
    assert said(words) == expected


def test_what_follows_from_a_wish_of_others_is_a_claim() -> None:
    assert said("If people want player_0 on it, I'd pair him with player_1.") == {("propose", (1,))}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("player_0 looks clean, but player_1 looks suspicious.", {("defend", (0,)), ("accuse", (1,))}),
        ("I prefer player_0 over player_1.", {("propose", (0,))}),
        ("I'd take player_0 rather than bring player_1 back.", {("propose", (0,))}),
        ("I'd swap player_0 for player_1.", {("accuse", (0,)), ("propose", (1,))}),
    ],
)
def test_contrast_gives_each_its_own_claim(words: str, expected: set[tuple[str, tuple[int, ...]]]) -> None:
    assert said(words) >= expected
    assert {kind for kind, seats in said(words) if seats == (1,)} - {
        kind for kind, seats in expected if seats == (1,)
    } <= {"accuse"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I know I'm good.", {("defend", (ME,))}),
        ("I'm good with that.", set()),
        ("I volunteer.", {("propose", (ME,))}),
        ("That sounds fine to me.", set()),
        ("I agree with player_0 that we need more.", {("defer", (0,))}),
        ("This follows the consensus.", {("defer", ())}),
        ("Let's rerun the last team.", {("propose", ())}),
    ],
)
def test_speakers_speak_of_themselves_and_of_others_judgement(
    words: str, expected: set[tuple[str, tuple[int, ...]]]
) -> None:
    assert said(words) == expected


def test_those_named_last_are_named_again() -> None:
    assert said("Mission 1 with player_0 and player_1 was clean. I want that pair again.") == {
        ("defend", (0, 1)),
        ("propose", (0, 1)),
    }


def test_roles_and_votes_are_read_with_their_values() -> None:
    assert claims("I am Percival.", ME, SEATS, ROLES) == (Claim("claim_role", (), value=ROLES.index("Percival")),)
    assert claims("I'm not Percival.", ME, SEATS, ROLES) == ()
    assert claims("I'll reject that.", ME, SEATS) == (Claim("promise", (), value=0),)
    assert claims("I'd approve that.", ME, SEATS) == (Claim("promise", (), value=1),)


@pytest.mark.parametrize("speaker", [-1, 0, 9])
@pytest.mark.parametrize(
    "words",
    ["", "player_0, " * 3000, "if " * 3000, "(" * 9000, "player_٣ and me", "I volunteer, player_99.", "\x00⟨?⟩" * 50],
)
def test_any_words_are_read_and_only_present_seats_are_named(words: str, speaker: int) -> None:
    assert all(0 <= seat < 5 for claim in claims(words, speaker, 5, ROLES) for seat in claim.seats)
