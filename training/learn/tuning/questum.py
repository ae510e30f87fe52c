"""Questum's beta and epsilon as a problem for the tuner: an episode is one generated case, played and quizzed.

Zhu et al. (section 3.3) weigh past against expected gain by beta (Eq. 3) and ask a random suspect with probability epsilon;
the paper sets 0.2 and 0.1. The reward of a case is a weighted mix of the share of victims solved, the share of points in
the quiz, and, subtracted, what the game took: questions to the model as a share of the questions in a game that asks everybody in
every round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, Literal

from parlour.envs.settings import COMMON, Settings
from parlour.policies.agents.murder_mystery import InterviewSettings
from parlour.policies.agents.murder_mystery.questum import gain
from parlour.policies.agents.murder_mystery.sensors import DEFAULT
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.tuning.problem import Parameter, Parameters, Space
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import GAME, CaseJob, CaseResult, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import PLANNER, QUESTUM, MysteryMethod
from pydantic import Field, field_validator

GAIN_SPACE: Final = Space((Parameter("beta", 0.0, 1.0, gain.BETA), Parameter("epsilon", 0.0, 1.0, gain.EPSILON)))

_USUAL: Final = InterviewSettings()
PLAN_SPACE: Final = Space(
    (
        Parameter("price", 0.0, 0.2, _USUAL.price),
        Parameter("curiosity", 0.0, 0.2, _USUAL.curiosity),
        Parameter("liars", 0.0, 1.0, _USUAL.liars),
        Parameter("table", 0.0, 1.0, _USUAL.table),
    )
)
"""Of `mode=plan`: when to stop; what all else is worth, who lies, and what the table learns."""


Weight = Annotated[float, Field(ge=0)]


class QuestumTuning(Settings):
    """Generated cases played by Questum; the heuristics answer all questions.

    Raises:
        ParlourError: A parameter, weight or language is not accepted.
    """

    parameters: Annotated[tuple[str, ...], COMMON] = ("beta", "epsilon")
    """Parameters to tune: beta and epsilon, or the planner's price, curiosity, liars and table."""
    weights: Annotated[tuple[Weight, Weight, Weight], COMMON] = (0.4, 0.4, 0.2)
    """Weights in the reward: share of victims solved, share of quiz points, cost of the game (subtracted)."""
    language: Annotated[Literal["en", "zh"], COMMON] = "en"
    """Language of the cases, en or zh; the stories are the same."""
    rounds: int = Field(default=3, ge=1)
    """Number of rounds of questions."""

    name: ClassVar[str] = "questum"
    games: ClassVar[int] = 1

    @field_validator("parameters")
    @classmethod
    def _has_a_space(cls, parameters: tuple[str, ...]) -> tuple[str, ...]:
        _space_of(parameters)
        return parameters

    @property
    def space(self) -> Space:
        return _space_of(self.parameters)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "game": GAME,
            "language": self.language,
            "rounds": self.rounds,
            "weight of win": self.weights[0],
            "weight of accuracy": self.weights[1],
            "weight of cost": self.weights[2],
            "answered_by": "heuristics",
        }

    def reward(self, parameters: Parameters, deals: Sequence[int]) -> list[float]:
        """One number for each case: from -cost to win + accuracy."""
        self.space.check(parameters)
        method = with_settings(parameters)
        table = CaseSetting(rounds=self.rounds, repetitions=1)
        model = OfflineModel()
        return [
            self.of(play_case(CaseJob(f"seed:{deal}:{self.language}", method, deal, table), model)) for deal in deals
        ]

    def of(self, played: CaseResult) -> float:
        """The reward of one game."""
        won = played.solved / played.victims if played.victims else 0.0
        score = scores.score(played.marks)
        right = 0.0 if score is None else score.mean
        share = played.play.asked / most(played.seats, len(played.verdicts), self.rounds)
        win, accuracy, cost = self.weights
        return win * won + accuracy * right - cost * share


def _space_of(names: Sequence[str]) -> Space:
    """Those of the planner, if a name is one of them. Raises `ParlourError` for a name that is none, or of both."""
    return (PLAN_SPACE if set(names) & set(PLAN_SPACE.names) else GAIN_SPACE).chosen(names)


def with_settings(parameters: Parameters) -> MysteryMethod:
    """Questum with these numbers; the planner, if they are its."""
    words = ",".join(f"{name}={float(value):.12g}" for name, value in parameters.items())
    method = PLANNER if set(parameters) & set(PLAN_SPACE.names) else QUESTUM
    return replace(method, policy=f"{method.policy},{words}")


def most(seats: int, victims: int, rounds: int) -> int:
    """Questions to the model in a game where everybody asks everybody in every round (decisions 8).

    >>> most(4, 1, 1)  # 4 introductions, 4 x 3 x (3 sensors + question + answer), 4 votes
    68

    Args:
        seats: Players.
        victims: Victims.
        rounds: Of questions; after each but the last come a pruning of seats - 1 readings and a selection.
    """
    pairs = seats * victims
    asking = rounds * pairs * (seats - 1) * (len(DEFAULT) + 2)
    return seats + asking + (rounds - 1) * pairs * seats + pairs
