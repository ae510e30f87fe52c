"""The advised talker: a language model or the rule of thumb speaks, a trained expert plans. This player is parlour's own.

Each turn is the question of the plain player (`chat`) with the expert's plan, what deviating costs, and what it believes as facts
(after the planner of Bakhtin et al. 2022, Cicero: words are generated for a planned action, and those that do not fit it are
filtered). The expert reads the same View as the speaker. Offline the heuristic of the question answers: it takes the move, or
the claim, of the player by heuristic where the expert takes that at least 1/`follow` times as often as its favourite, and where
it does not contradict the plan; else what the expert drew from its probabilities. So with `follow=0` it is the expert alone.

A network that was trained with a price on certainty (PPO with an entropy bonus) chooses options in proportion to the
exponential of their worth, so that how many times less often it takes an option than its favourite says what it costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from parlour.envs import speech
from parlour.envs.claims import claims
from parlour.envs.core import Move, ParlourError, View
from parlour.envs.english import name
from parlour.envs.speech import ACCUSE, DEFEND
from parlour.policies.agents.chat import TakeTurn, TurnWords, turn_of
from parlour.policies.agents.seat import AskingPolicy, InputPart
from parlour.policies.experts import EXPERT, expert
from parlour.policies.heuristic import HeuristicPolicy
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.werewolf import WerewolfPlayer
from parlour.policies.llm.ask import Rounded
from parlour.policies.llm.model import Model
from parlour.policies.settings import Settings, number, one_of, setting
from parlour.policies.trained import TrainedSeat
from pydantic import model_serializer, model_validator

MOST: Final = 999.0
"""The highest cost there is: so many times less often than the favourite, or less often still."""
_DIGITS: Final = 3
"""Significant digits of odds."""

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def option_costs(chances: Sequence[float] | Numbers) -> list[float]:
    """How many times less often than the favourite each option is taken, 1 to `MOST`, from the chances of all options.

    >>> option_costs([0.6, 0.3, 0.1, 0.0])
    [1.0, 2.0, 6.0, 999.0]
    """
    given = np.asarray(chances, dtype=np.float64)
    times = given.max() / np.maximum(given, given.max() / MOST)
    return [float(f"{time:.{_DIGITS}g}") for time in times]


def contradicts(said: Move, planned: Move) -> bool:
    """Whether a claim contradicts the planned claim: it supports a player that the plan attacks, the reverse, or it names another
    role.

    >>> contradicts(Move("defend", (3,)), Move("accuse", (3,))), contradicts(Move("defend", (2,)), Move("accuse", (3,)))
    (True, False)
    """
    if said.kind == planned.kind == speech.CLAIM_ROLE:
        return said.args != planned.args
    mine, plan = _stance(said), _stance(planned)
    return mine is not None and plan is not None and mine[0] == plan[0] and mine[1] != plan[1]


def _stance(claim: Move) -> tuple[int, bool] | None:
    """Whom a claim is about, and whether it is for him; None for one that is about nobody."""
    if claim.kind in (speech.DEFEND, speech.RECOMMEND):
        return claim.args[0], True
    if claim.kind == speech.ACCUSE:
        return claim.args[0], False
    return (claim.args[0], claim.args[1] == 0) if claim.kind == speech.REPORT else None


def posterior(player: Any, me: int) -> list[str]:
    """What is believed about the others, a line each, in the belief of a player by heuristic; no lines for other games."""
    if isinstance(player, AvalonPlayer):
        belief = player.belief
        return _lines(me, {"evil": belief.evil_chance(), "Merlin": belief.merlin_chance()})
    if isinstance(player, WerewolfPlayer):
        return _lines(me, {"werewolf": player.belief.wolf_chance(), "Seer": player.belief.seer_chance()})
    return []


def _lines(me: int, chances: dict[str, Numbers]) -> list[str]:
    seats = [seat for seat in range(len(next(iter(chances.values())))) if seat != me]
    return [f"{name(j)}: " + ", ".join(f"{what} {chance[j]:.2f}" for what, chance in chances.items()) for j in seats]


__all__ = ["AdvisedPlayer", "AdvisedTurn", "OptionOdds"]


_SEATS: Final = 20
"""Players that words are read for; more than any table has."""
_NOBODY: Final = -1


class OptionOdds(InputPart):
    """The adviser's odds against an option; as plain data a line such as `2.5: I reject the team.`."""

    times: Rounded
    """How many times less often than its favourite the expert takes it."""
    words: str
    """The option."""

    @model_validator(mode="before")
    @classmethod
    def _of_line(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        times, _, words = value.partition(": ")
        return {"times": float(times), "words": words}

    @model_serializer
    def line(self) -> str:
        """Odds and option in one line."""
        return f"{self.times:g}: {self.words}"


class AdvisedTurn(TakeTurn, kind="advised.take_turn", spare=("posterior",)):
    """What to say or do now, advised by a trained expert. The heuristic is the rule of thumb, where that is cheap; else the plan."""

    posterior: list[str]
    """What the expert makes of the others, a line each."""
    planned: str
    """What the expert would say or do."""
    odds_against: list[OptionOdds]
    """The likeliest option first; those that are missing have the longest odds."""
    deviate_below: Rounded
    """Up to which odds another option than the planned one is taken."""
    against: list[str]
    """Sentences of free talk that contradict the planned one."""
    usual: str
    """What the rule of thumb would say or do."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        odds = next((option.times for option in self.odds_against if option.words == self.usual), MOST)
        usual = odds <= self.deviate_below and self.usual not in self.against
        return TurnWords(thoughts="", words=self.usual if usual else self.planned)

    def check(self, answer: TurnWords) -> None:
        super().check(answer)
        if answer.words.strip() in self.against:
            raise ValueError(
                f"{answer.words.strip()!r} contradicts the plan; accepted: words that are not in `against`"
            )
        unfit = {stance for sentence in self.against for stance in _stances(sentence)} & _stances(answer.words)
        if unfit:
            seat, does = min(unfit)
            text = f"the words {does} player_{seat}, which contradicts the plan"
            raise ValueError(f"{text}; accepted: words that do not")


def _stances(words: str) -> set[tuple[int, str]]:
    """Whom words accuse or defend, as the reader by rule has it."""
    stances = [claim for claim in claims(words, _NOBODY, _SEATS) if claim.kind in (ACCUSE, DEFEND) and not claim.some]
    return {(seat, claim.kind) for claim in stances for seat in claim.seats}


MODEL: Final = "model"
SPEAKERS: Final = (MODEL, HeuristicPolicy.name)
FOLLOW: Final = 3.0
"""How it was chosen: docs/lab/2026-11-advised.md."""


class ExpertAdvice(NamedTuple):
    """What the expert and the rule of thumb say about one turn."""

    planned: int
    """Which of the legal moves the expert would make."""
    usual: int
    """Which of them the rule of thumb would make."""
    costs: list[float]
    """Cost of each legal move; see `option_costs`."""
    believed: list[str]


@dataclass(frozen=True)
class AdvisedSettings(Settings):
    """What can be set."""

    expert: str = EXPERT
    """Who plans: `expert`, the trained network that comes with parlour for the table, or the file of a trained seat."""
    speaker: str = setting(MODEL, one_of(*SPEAKERS))
    """`model`, or `heuristic` for a player who never asks the model."""
    follow: float = setting(FOLLOW, number(0, MOST))
    """Up to which cost another option than the planned one is taken: how many times less often than its favourite the expert
    may take it."""
    table: tuple[str, Mapping[str, Any]] | None = setting(None, in_words=False)
    """Registry name and configuration of the game, to find the expert at construction."""


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
        self._advice: ExpertAdvice | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._usual.reset(seat, seed)
        if self._expert is not None:
            self._expert.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        if self._advice is None or not info.get("asked_again"):
            self._advice = self._advised(observation, info)
        options = list(info["options"])
        if len(options) == 1:
            return str(options[0])  # nothing to decide, and nothing to ask
        turn = _turn(turn_of(observation["text"], info), self._advice, info, self.chosen.follow)
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
    ranked = sorted((cost, k) for k, cost in enumerate(advice.costs) if cost < MOST)
    return AdvisedTurn(
        **dict(plain),
        posterior=advice.believed,
        planned=options[advice.planned],
        odds_against=[OptionOdds(times=cost, words=options[k]) for cost, k in ranked],
        deviate_below=follow,
        against=[words for words, move in zip(options, legal, strict=True) if contradicts(move, planned)],
        usual=options[advice.usual],
    )
