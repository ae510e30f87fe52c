"""The advised talker: each turn is a question that holds the expert's plan, what deviating costs, and what it believes.

The expert reads the same View as the speaker. Offline the heuristic of the question answers, which is no language model: it
takes the move, or the claim, of the player by heuristic where the expert takes that at least 1/`follow` times as often as its
favourite, and where it does not contradict the plan; else what the expert drew from its probabilities. So with `follow=0`
it is the expert alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from parlour.envs.core import Move, ParlourError, View, accept, check_one_of
from parlour.policies.agents.advised.advice import MOST, contradicts, option_costs, posterior
from parlour.policies.agents.advised.ask import AdvisedTurn, OptionCost
from parlour.policies.agents.chat import TakeTurn, turn_of
from parlour.policies.agents.chat.sentences import Offers
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.experts import EXPERT, expert
from parlour.policies.heuristic import HeuristicPolicy
from parlour.policies.llm.model import Model
from parlour.policies.trained import TrainedSeat

MODEL: Final = "model"
SPEAKERS: Final = (MODEL, HeuristicPolicy.name)
FOLLOW: Final = 3.0
"""How it was chosen: docs/experts.md."""


class ExpertAdvice(NamedTuple):
    """What the expert and the rule of thumb say of one turn."""

    planned: int
    """Which of the legal moves the expert would make."""
    usual: int
    """Which of them the rule of thumb would make."""
    costs: list[float]
    """Of each legal move; see `option_costs`."""
    believed: list[str]


class AdvisedPlayer(AskingPolicy):
    """Asks a model one question a turn, with an expert's advice in it. Needs `info="full"` and text actions.

    Args:
        model: Who answers; the heuristic of the question by default.
        expert: Who plans: `expert`, the trained network that comes with parlour for the table, or the file of a trained seat.
        speaker: `model`, or `heuristic` for one who never asks the model.
        follow: Up to which cost another option than the planned one is taken: how many times less often than its favourite the
            expert may take it, 0 to `MOST`.
        table: Registry name and configuration of the game, where the expert shall be found at once.

    Raises:
        ParlourError: A setting is not accepted, or there is no expert for the table.
    """

    name: ClassVar[str] = "advised"
    wants: ClassVar[str] = "text"
    takes: ClassVar[tuple[str, ...]] = ("expert", "speaker", "follow")

    def __init__(
        self,
        model: Model | None = None,
        *,
        expert: str = EXPERT,
        speaker: str = MODEL,
        follow: float | str = FOLLOW,
        table: tuple[str, Mapping[str, Any]] | None = None,
    ) -> None:
        check_one_of("speaker", speaker, SPEAKERS)
        self.follow, self._speaker, self._named = _follow(follow), speaker, expert
        self._usual = HeuristicPolicy()
        self._expert: TrainedSeat | None = None
        self._table: tuple[str, Mapping[str, Any]] | None = None
        super().__init__(model)
        self._begin()
        if table is not None:
            self.sit_at(*table)

    def sit_at(self, game: str, config: Mapping[str, Any]) -> None:
        """Take the expert for a table. Raises `ParlourError` if there is none, or the file holds one for another."""
        given = self._named
        self._expert = expert(game, config) if given == EXPERT else TrainedSeat.load_for(given, game, config)
        self._table = game, dict(config)

    def _begin(self) -> None:
        self._offers: Offers | None = None
        self._advice: ExpertAdvice | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._usual.reset(seat, seed)
        if self._expert is not None:
            self._expert.reset(seat, seed)
        self._begin()

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        if self._offers is None:
            self._offers = Offers(info.get("spoken", ()))
        if self._advice is None or not info.get("asked_again"):
            self._advice = self._advised(observation, info)
        options = list(info["options"])
        if len(options) == 1:
            return str(options[0])  # nothing to decide, and nothing to ask
        turn = _turn(turn_of(observation["text"], info, self._offers), self._advice, info, self.follow)
        if self._speaker == MODEL:
            return self.seat_model.ask(turn).words
        return turn.heuristic(self.rng).words

    def _advised(self, observation: Any, info: Mapping[str, Any]) -> ExpertAdvice:
        """What both make of the turn; each draws once a turn, as it does where it sits alone."""
        view: View | None = info.get("view")
        if self._expert is None or view is None:
            raise ParlourError(
                f"policy {self.name!r} plays a table for which it has an expert, with info='full'; accepted: "
                f"make_policy({self.name!r}, game, config)"
            )
        legal = list(info["legal"])
        return ExpertAdvice(
            legal.index(self._expert.act_by_view(view, legal)),
            legal.index(self._usual.act(observation, dict(info))),
            option_costs(self._expert.chances(view)),
            posterior(self._usual.player, view.seat),
        )

    def settings(self) -> dict[str, Any]:
        own = {"expert": self._named, "speaker": self._speaker, "follow": self.follow, "table": self._table}
        return {**super().settings(), **own}


def _turn(plain: TakeTurn, advice: ExpertAdvice, info: Mapping[str, Any], follow: float) -> AdvisedTurn:
    """The question of the plain player with the advice in it."""
    options, legal = list(info["options"]), info["view"].legal
    planned: Move = legal[advice.planned]
    told = sorted((cost, k) for k, cost in enumerate(advice.costs) if cost < MOST)
    return AdvisedTurn(
        **dict(plain),
        posterior=advice.believed,
        planned=options[advice.planned],
        costs=[OptionCost(times=cost, words=options[k]) for cost, k in told],
        follow=follow,
        against=[words for words, move in zip(options, legal, strict=True) if contradicts(move, planned)],
        usual=options[advice.usual],
    )


def _follow(value: float | str) -> float:
    """The setting, in words or as a number. Raises `ParlourError` for what is no number 0 to `MOST`."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= MOST:
        raise accept("follow", value, f"a number 0..{MOST:g}")
    return number
