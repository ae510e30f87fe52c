"""The same table with a case in which all is changed that a seat cannot know: for tests of leaks (`parlour.envs.testing`).

Here nothing is dealt: what the others hold in private is the case. Their scripts, objectives, facts, lies and murders are made
again, and with them the quiz and the truth; the facts that they stated and the seat heard are kept, so that they may be stated
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from parlour.envs.core import Event
from parlour.envs.murder_mystery.cases.case import Character
from parlour.envs.murder_mystery.legal_moves import fact_of
from parlour.envs.murder_mystery.rules import MurderMystery
from parlour.envs.murder_mystery.vocabulary import TELL
from parlour.envs.murder_mystery.vocabulary.facts import Fact


def redealt(game: MurderMystery, seat: int, seen: Sequence[Event], rng: np.random.Generator) -> MurderMystery:
    """Rules that `seat` cannot tell from `game` by the events it has seen."""
    stated: list[set[Fact]] = [set() for _ in range(game.seats)]
    for event in seen:
        if event.move.kind == TELL:
            stated[event.seat].add(fact_of(event.move))
    case = game.case
    others = [who if j == seat else _another(game, who, stated[j], rng) for j, who in enumerate(case.characters)]
    quiz = tuple(
        tuple(row.model_copy(update={"keys": (0,), "text": "Another question?"}) for row in rows)
        for rows in case.questions
    )
    changed = {"characters": tuple(others), "questions": quiz, "omniscient": (), "truth": None}
    return MurderMystery(case.model_copy(update=changed), game.options)


def _another(game: MurderMystery, character: Character, known: set[Fact], rng: np.random.Generator) -> Character:
    """A character with another story that may have told the same. A murderer may: it may say anything or nothing."""
    tells = game.table.tells
    drawn = {fact_of(tells[int(k)]) for k in rng.integers(len(tells), size=6)} if tells else set()
    murders = tuple(bool(rng.random() < 0.8) for _ in character.murders)
    private: dict[str, Any] = {
        "script": f"Another story.\nIt has {rng.integers(99)} lines.",
        "objectives": (f"Want {rng.integers(99)}.",),
        "facts": tuple(sorted(known if rng.random() < 0.5 else known | drawn)),
        "lies": tuple(sorted(known | drawn)) if any(murders) else (),
        "murders": murders,
    }
    return character.model_copy(update=private)
