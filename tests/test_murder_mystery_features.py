"""The murder mystery in numbers: the layout tells the truth, and what is said changes what it should and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from mystery_table import ADA, BEN, CLEO, DOV, EVE, ask, choose, introduced, table
from parlour.envs.core import Move
from parlour.envs.murder_mystery.encode import MysteryEncoder
from parlour.envs.murder_mystery.options import tell
from parlour.envs.murder_mystery.vocabulary import NOBODY, SAYS, SUSPECT, VOTE
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, SIGHTING, WHEREABOUTS, Fact

EDGAR = 5


def features(game: Any, s: Any, seat: int) -> dict[str, float]:
    """By name, without the zeros."""
    encoder = MysteryEncoder(game)
    values = encoder(game.view(s, seat))
    return {name: round(float(x), 4) for name, x in zip(encoder.names, values, strict=True) if x}


def asked(asker: int, target: int, topic: int, *answer: Move) -> list[Move]:
    """All before the asker ask nobody; about the first victim."""
    return [*[NOBODY] * (2 * asker), choose(target), ask(topic), *answer]


@pytest.mark.parametrize("name", ["tower_en", "lake_zh", "letter_en"])
def test_every_feature_has_a_name_of_its_own(name):
    game = table(name)
    encoder = MysteryEncoder(game)
    assert len(set(encoder.names)) == encoder.size == len(encoder(game.view(game.initial(), 0)))


def test_every_phase_of_a_game_is_told_the_end_included():
    game = table(rounds=1)
    s, rng, seen = game.initial(), np.random.default_rng(3), []
    while True:
        view = game.view(s, ADA)
        names = [name for name in features(game, s, ADA) if name.startswith("phase ")]
        assert names == [f"phase {view.phase}"]
        seen.append(view.phase)
        if game.outcome(s) is not None:
            break
        legal = game.legal(s)
        s = game.apply(s, legal[int(rng.integers(len(legal)))])
    phases = [int(name.removeprefix("phase ")) for name in MysteryEncoder(game).names if name.startswith("phase ")]
    assert phases == list(range(7))  # introduce, choose, ask, answer, suspect, vote, and the end
    assert set(seen) <= set(phases)
    assert seen[-1] == 6


def test_the_share_of_rounds_played_is_whole_at_the_vote():
    game = table(rounds=2)
    s, rounds = game.initial(), {}
    while game.outcome(s) is None:
        view = game.view(s, ADA)
        rounds.setdefault(view.phase, set()).add((view.round, features(game, s, ADA).get("round / rounds", 0.0)))
        legal = game.legal(s)
        s = game.apply(s, NOBODY if NOBODY in legal else legal[0])
    introductions, choice, suspicion, vote = 0, 1, 4, 5
    assert rounds == {
        introductions: {(0, 0.0)},
        choice: {(0, 0.0), (1, 0.5)},
        suspicion: {(0, 0.0)},  # after the first round; after the last comes the vote
        vote: {(2, 1.0)},
    }


def test_at_the_beginning_a_seat_knows_itself_and_its_script():
    """Ada: 8 facts; Ben, a murderer of Edgar: 4 facts and 2 lies; Ada knows of Ben's motive and means."""
    game = table()
    s = game.initial()
    assert features(game, s, ADA) == {
        "I am seat 0": 1,
        "phase 0": 1,
        "everybody hears": 1,
        "facts of my own / 50": 8 / 50,
        "seat 0: is me": 1,
        "seat 1: I know of a motive": 1,
        "seat 1: I know it had the means": 1,
    }
    ben = features(game, s, BEN)
    assert (ben["I am a murderer"], ben["I murdered victim 0"], ben["lies I planned / 20"]) == (1, 1, 2 / 20)
    assert "I murdered victim 1" not in ben
    assert features(game, s, EVE).get("seat 4: my feelings for it") is None  # Eve's are for Fay, who is dead


def test_a_question_shows_who_asks_whom_what():
    game = table()
    s = introduced(game, choose(EVE), ask(SIGHTING, CLEO))
    eve = features(game, s, EVE)
    for name in ("phase 3", "topic sighting", "about victim 0", "seat 0: asks now", "seat 4: is asked now"):
        assert eve[name] == 1
    assert eve["seat 2: is asked about now"] == 1
    assert eve["seat 4: asked by anybody / 20"] == 1 / 20
    assert "seat 4: asked by me / 10" not in eve
    assert features(game, s, ADA)["seat 4: asked by me / 10"] == 1 / 10


def test_where_two_hear_others_do_not_see_the_topic():
    game = table(hearing="two")
    s = introduced(game, choose(EVE), ask(SIGHTING, CLEO))
    assert "topic sighting" in features(game, s, EVE)
    dov = features(game, s, DOV)
    assert "seat 4: is asked now" in dov
    assert not {"topic sighting", "seat 2: is asked about now", "everybody hears"} & set(dov)


def test_what_others_say_counts_against_a_seat():
    """Ada tells Eve of Ben's motive (1 / 3) and that she saw him in the garden at ten."""
    game = table()
    moves = [tell(Fact("motive", (BEN, 0, EDGAR))), SAYS._replace(words="And more.")]
    s = introduced(game, *asked(EVE, ADA, MOTIVE, *moves))
    dov = features(game, s, DOV)
    assert dov["seat 1: said to have a motive, by others / 3"] == round(1 / 3, 4)
    assert dov["seat 0: facts told / 10"] == 1 / 10
    assert dov["seat 0: answers in free words / 10"] == 1 / 10


def test_what_a_seat_says_of_itself_is_no_word_of_others():
    """Cleo says that she could get at the rope; Ben that Eve had a reason."""
    game = table()
    said = features(game, introduced(game, *asked(ADA, CLEO, MEANS, tell(Fact("had", (CLEO, 1))))), DOV)
    assert "seat 2: facts told / 10" in said
    assert not [name for name in said if "by others" in name]
    said = features(game, introduced(game, *asked(ADA, BEN, MOTIVE, tell(Fact("motive", (EVE, 1, EDGAR))))), DOV)
    assert said["seat 4: said to have a motive, by others / 3"] == round(1 / 3, 4)


def test_a_seat_that_was_seen_elsewhere_than_it_said_is_caught():
    """Ben says that he was in the hall at ten; Ada saw him in the garden."""
    game = table()
    lie = asked(ADA, BEN, WHEREABOUTS, tell(Fact("at", (BEN, 0, 1))), SAYS)
    s = introduced(game, *lie)
    before = features(game, s, DOV)
    s = introduced(
        game,
        *lie,
        NOBODY,
        *[NOBODY] * 7,
        choose(ADA),
        ask(SIGHTING),
        tell(Fact("saw", (BEN, 2, 1))),
    )
    assert "seat 1: seen elsewhere than it said / 3" not in before
    assert features(game, s, DOV)["seat 1: seen elsewhere than it said / 3"] == round(1 / 3, 4)


def test_a_seat_that_was_seen_at_the_scene_of_a_death_is_marked():
    """Ada saw Ben in the garden at ten. That Edgar died at ten is public; that it was in the garden is added here."""
    game = table()
    s = introduced(game, *asked(EVE, ADA, SIGHTING, tell(Fact("saw", (BEN, 2, 1))), tell(Fact("saw", (CLEO, 1, 0)))))
    encoder, view = MysteryEncoder(game), game.view(s, DOV)
    seen = [encoder.names.index(f"seat {j}: seen where and when somebody died / 3") for j in range(5)]
    assert not encoder(view)[seen].any()
    for place, marked in ((2, [0, 1, 0, 0, 0]), (1, [0] * 5), (0, [0] * 5)):  # Cleo was in the library, but at nine
        informed = view._replace(public=(*view.public, Fact("died", (EDGAR, place, -1, -1))))
        assert np.allclose(encoder(informed)[seen], np.array(marked) / 3)


def test_own_reports_are_seen_by_their_maker():
    game = table(rounds=2)
    s = introduced(game, *[NOBODY] * 10, Move(SUSPECT, (CLEO,)))
    assert features(game, s, ADA)["seat 2: I suspect it of victim 0"] == 1
    assert not [name for name in features(game, s, BEN) if "I suspect" in name]


def test_after_the_vote_its_shares_are_seen():
    """Edgar: Ben 4 of 5, Ada 1 of 5."""
    game = table(rounds=1)
    votes = [Move(VOTE, (j,)) for j in (BEN, CLEO, ADA, CLEO, BEN, ADA, BEN, CLEO, BEN, CLEO)]
    s = introduced(game, *[NOBODY] * 10, *votes)
    dov = features(game, s, DOV)
    assert dov["seat 1: votes for it on victim 0 / seats"] == 0.8
    assert dov["seat 0: votes for it on victim 0 / seats"] == 0.2


@given(seed=st.integers(0, 10**6))
def test_features_stay_in_their_box_and_are_a_function_of_the_view(playout, seed):
    game = table(rounds=3, questions=2)
    encoder = MysteryEncoder(game)
    for s in playout(game, seed).states[::60]:
        for seat in range(game.seats):
            values = encoder(game.view(s, seat))
            assert values.shape == (encoder.size,)
            assert np.all(np.abs(values) <= 1)
            assert np.array_equal(values, encoder(game.view(s, seat)))
