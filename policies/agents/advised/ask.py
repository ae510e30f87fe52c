"""The question of an advised turn: that of the plain player (`chat`), with what the expert plans and believes as facts.

After the planner of Bakhtin et al. 2022 (Cicero: words are generated for a planned action, and those that do not fit it are
filtered); how the plan enters the question, and the rule of thumb, are parlour's own.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from parlour.envs.claims import claims
from parlour.envs.speech import ACCUSE, DEFEND
from parlour.policies.agents.advised.advice import MOST
from parlour.policies.agents.chat import TakeTurn, TurnWords
from parlour.policies.llm.ask import Rounded
from pydantic import BaseModel, ConfigDict

_SEATS: Final = 20
"""Players that words are read for; more than any table has."""
_NOBODY: Final = -1


class OptionCost(BaseModel):
    """What an option costs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    times: Rounded
    """How many times less often than its favourite the expert takes it."""
    words: str
    """The option."""


class AdvisedTurn(TakeTurn):
    """What to say or do now, advised by a trained expert. The heuristic is the rule of thumb, where that is cheap; else the plan."""

    kind: ClassVar[str] = "advised.take_turn"
    spare: ClassVar[tuple[str, ...]] = ("posterior",)

    posterior: list[str]
    """What the expert makes of the others, a line each."""
    planned: str
    """What the expert would say or do."""
    costs: list[OptionCost]
    """The cheapest first; options that are missing cost the most."""
    follow: Rounded
    """Up to which cost another option than the planned one is taken."""
    against: list[str]
    """Sentences of free talk that contradict the planned one."""
    usual: str
    """What the rule of thumb would say or do."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        cost = next((one.times for one in self.costs if one.words == self.usual), MOST)
        usual = cost <= self.follow and self.usual not in self.against
        return TurnWords(thoughts="", words=self.usual if usual else self.planned)

    def check(self, answer: TurnWords) -> None:
        super().check(answer)
        if answer.words.strip() in self.against:
            raise ValueError(
                f"{answer.words.strip()!r} contradicts the plan; accepted: words that are not in `against`"
            )
        unfit = {one for sentence in self.against for one in _stances(sentence)} & _stances(answer.words)
        if unfit and self.against:
            seat, does = min(unfit)
            told = f"the words {does} player_{seat}, which contradicts the plan"
            raise ValueError(f"{told}; accepted: words that do not")


def _stances(words: str) -> set[tuple[int, str]]:
    """Whom words accuse or defend, as the reader by rule has it."""
    found = claims(words, _NOBODY, _SEATS)
    return {(seat, one.kind) for one in found if one.kind in (ACCUSE, DEFEND) and not one.some for seat in one.seats}
