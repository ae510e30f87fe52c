"""The advised talker: each turn is a question that holds the expert's plan, what deviating costs, and what it believes.

The expert reads the same View as the speaker. Offline the heuristic of the question answers, which is no language model: it
takes the move, or the claim, of the player by heuristic where the expert takes that at least 1/`follow` times as often as its
favourite, and where it does not contradict the plan; else what the expert drew from its probabilities. So with `follow=0`
it is the expert alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

from parlour.envs.core import Move, ParlourError, View
from parlour.policies.agents.advised.advice import MOST, contradicts, option_costs, posterior
from parlour.policies.agents.advised.ask import AdvisedTurn, OptionCost
from parlour.policies.agents.chat import TakeTurn, turn_of
from parlour.policies.agents.chat.sentences import Offers
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.experts import EXPERT, expert
from parlour.policies.heuristic import HeuristicPolicy
from parlour.policies.llm.model import Model
from parlour.policies.settings import Settings, number, one_of, setting
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


@dataclass(frozen=True)
class AdvisedSettings(Settings):
    """What can be set."""

    expert: str = EXPERT
    """Who plans: `expert`, the trained network that comes with parlour for the table, or the file of a trained seat."""
    speaker: str = setting(MODEL, one_of(*SPEAKERS))
    """`model`, or `heuristic` for one who never asks the model."""
    follow: float = setting(FOLLOW, number(0, MOST))
    """Up to which cost another option than the planned one is taken: how many times less often than its favourite the expert
    may take it."""
    table: tuple[str, Mapping[str, Any]] | None = setting(None, in_words=False)
    """Registry name and configuration of the game, where the expert shall be found at once."""


class AdvisedPlayer(AskingPolicy):
    """Asks a model one question a turn, with an expert's advice in it. Needs `info="full"` and text actions.

    Raises:
        ParlourError: A setting is not accepted, or there is no expert for the table.
    """

    name: ClassVar[str] = "advised"
    wants: ClassVar[str] = "text"
    settings_type: ClassVar[type[Settings]] = AdvisedSettings
    chosen: AdvisedSettings

    def __init__(self, model: Model | None = None, chosen: Settings | None = None, **values: Any) -> None:
        self._usual = HeuristicPolicy()
        self._expert: TrainedSeat | None = None
        super().__init__(model, chosen, **values)
        if self.chosen.table is not None:
            self.sit_at(*self.chosen.table)

    def sit_at(self, game: str, config: Mapping[str, Any]) -> None:
        """Take the expert for a table. Raises `ParlourError` if there is none, or the file holds one for another."""
        given = self.chosen.expert
        self._expert = expert(game, config) if given == EXPERT else TrainedSeat.load_for(given, game, config)
        self.chosen = replace(self.chosen, table=(game, dict(config)))

    def _begin(self) -> None:
        self._offers: Offers | None = None
        self._advice: ExpertAdvice | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._usual.reset(seat, seed)
        if self._expert is not None:
            self._expert.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        if self._offers is None:
            self._offers = Offers(info.get("spoken", ()))
        if self._advice is None or not info.get("asked_again"):
            self._advice = self._advised(observation, info)
        options = list(info["options"])
        if len(options) == 1:
            return str(options[0])  # nothing to decide, and nothing to ask
        turn = _turn(turn_of(observation["text"], info, self._offers), self._advice, info, self.chosen.follow)
        if self.chosen.speaker == MODEL:
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
