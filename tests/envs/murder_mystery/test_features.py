"""The murder mystery in numbers: the layout tells the truth, and what is said changes what it should and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import Move
from parlour.envs.murder_mystery.encode import MysteryEncoder
from parlour.envs.murder_mystery.legal_moves import tell
from parlour.envs.murder_mystery.vocabulary import NOBODY, SAYS, SUSPECT, VOTE
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, SIGHTING, WHEREABOUTS, Fact

from tests.envs.murder_mystery.table import ADA, BEN, CLEO, DOV, EVE, ask, choose, introduced, table

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


def test_every_phase_of_a_game_is_told_the_end_included(playout):
    game = table(rounds=1)
    phases = []
    for s in playout(game, 3).states:
        phases.append(f"phase {game.view(s, ADA).phase}")
        assert [name for name in features(game, s, ADA) if name.startswith("phase ")] == phases[-1:]
    named = [name for name in MysteryEncoder(game).names if name.startswith("phase ")]
    assert named == [f"phase {k}" for k in range(7)]  # introduce, choose, ask, answer, suspect, vote, and the end
    assert phases[-1] == "phase 6"


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


QUESTION = [choose(EVE), ask(SIGHTING, CLEO)]
ONLY_HEARD = {"topic sighting", "seat 2: is asked about now", "everybody hears"}
VOTES = [Move(VOTE, (j,)) for j in (BEN, CLEO, ADA, CLEO, BEN, ADA, BEN, CLEO, BEN, CLEO)]
THIRD = round(1 / 3, 4)
CAUGHT = "seat 1: seen elsewhere than it said / 3"
HALL = asked(ADA, BEN, WHEREABOUTS, tell(Fact("at", (BEN, 0, 1))), SAYS)
"""Ben says that he was in the hall at ten."""
GARDEN = [*[NOBODY] * 8, choose(ADA), ask(SIGHTING), tell(Fact("saw", (BEN, 2, 1)))]
"""Ada saw him in the garden."""


@pytest.mark.parametrize(
    ("options", "moves", "seat", "shown", "absent"),
    [
        ({}, QUESTION, EVE, dict.fromkeys(("phase 3", "about victim 0", "seat 0: asks now", "seat 4: is asked now"), 1), ()),
        ({}, QUESTION, EVE, {**dict.fromkeys(ONLY_HEARD, 1), "seat 4: asked by anybody / 20": 1 / 20}, ["asked by me"]),
        ({}, QUESTION, ADA, {"seat 4: asked by me / 10": 1 / 10}, ()),
        ({"hearing": "two"}, QUESTION, EVE, {"topic sighting": 1}, ()),
        ({"hearing": "two"}, QUESTION, DOV, {"seat 4: is asked now": 1}, ONLY_HEARD),
        # Ada tells Eve of Ben's motive
        ({}, asked(EVE, ADA, MOTIVE, tell(Fact("motive", (BEN, 0, EDGAR))), SAYS._replace(words="And more.")), DOV,
         {"seat 1: said to have a motive, by others / 3": THIRD, "seat 0: facts told / 10": 1 / 10,
          "seat 0: answers in free words / 10": 1 / 10}, ()),
        # Cleo says that she could get at the rope; Ben, a murderer, that Eve had a reason
        ({}, asked(ADA, CLEO, MEANS, tell(Fact("had", (CLEO, 1)))), DOV, {"seat 2: facts told / 10": 1 / 10}, ["by others"]),
        ({}, asked(ADA, BEN, MOTIVE, tell(Fact("motive", (EVE, 1, EDGAR)))), DOV,
         {"seat 4: said to have a motive, by others / 3": THIRD}, ()),
        ({}, HALL, DOV, {}, [CAUGHT]),
        ({}, [*HALL, *GARDEN], DOV, {CAUGHT: THIRD}, ()),
        ({"rounds": 2}, [*[NOBODY] * 10, Move(SUSPECT, (CLEO,))], ADA, {"seat 2: I suspect it of victim 0": 1}, ()),
        ({"rounds": 2}, [*[NOBODY] * 10, Move(SUSPECT, (CLEO,))], BEN, {}, ["I suspect"]),
        ({"rounds": 1}, [*[NOBODY] * 10, *VOTES], DOV,
         {"seat 1: votes for it on victim 0 / seats": 0.8, "seat 0: votes for it on victim 0 / seats": 0.2}, ()),
    ],
)  # fmt: skip
def test_what_is_said_and_done_is_shown_to_whom_it_concerns(options, moves, seat, shown, absent):
    game = table(**options)
    now = features(game, introduced(game, *moves), seat)
    assert {name: now.get(name) for name in shown} == shown
    assert not [name for name in now if any(part in name for part in absent)]


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
