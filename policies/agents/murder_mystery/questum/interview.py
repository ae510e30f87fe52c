"""Questum's procedure: choose by score, question by sensors, prune after each round (paper, Alg. 1, corrected in decisions 4.2).

The same procedure with other settings is PLAYER* (decisions 5), and, with the defaults, that of the murderers in all methods.

The choice of the player to ask (section 2.2): the list of suspects is a uniform belief over its n members, with entropy H = ln n,
which questions bring down to 0. A gain is what a list lost: IG_t = H_(t-1) - H_t, negative when it grew.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.murder_mystery.vocabulary import CHOOSE, SUSPECT, MysteryView
from parlour.envs.settings import Settings
from parlour.policies.agents.murder_mystery.asks import Prune, Question, Sense, SenseAll, SensorAnswer
from parlour.policies.agents.murder_mystery.procedure import PRUNING, QUESTION, Procedure, Room
from parlour.policies.agents.murder_mystery.scene import all_named
from parlour.policies.agents.murder_mystery.sensors import (
    DEFAULT,
    SUSPICION,
    VALUE,
    Questioning,
    SensorReading,
    SensorSummary,
    card,
    read_by,
    value_of,
)
from pydantic import Field, field_validator

BETA: Final = 0.2
"""Share of the past in a score (appendix C.1)."""
EPSILON: Final = 0.1
"""Probability of asking a random suspect (appendix C.1)."""
EXPECTED: Final = {"high": 1.0, "medium": 0.0, "low": -1.0}
"""Eq. 2: the gain that an answer of the information-value sensor stands for."""


def entropy(suspects: int) -> float:
    """Entropy of a uniform belief over a number of suspects, in nats.

    >>> round(entropy(4), 4)
    1.3863

    Raises:
        ParlourError: There is no suspect: somebody did it.
    """
    if suspects < 1:
        raise accept("number of suspects", suspects, "1 or more")
    return math.log(suspects)


def gain(before: int, after: int) -> float:
    """What was gained when a list went from `before` to `after` suspects, in nats; negative if it grew.

    >>> round(gain(4, 2), 4)
    0.6931
    """
    return entropy(before) - entropy(after)


def weighted_gain(history: Sequence[float]) -> float:
    """Eq. 1: the mean of the gains so far, oldest first, the k-th of i with weight exp(-(i - k)); 0 without any.

    >>> round(weighted_gain([0.0, 1.0]), 4)  # (0/e + 1) / (1/e + 1)
    0.7311
    """
    if not history:
        return 0.0
    last = len(history)
    weights = [math.exp(k - last) for k in range(1, last + 1)]
    return math.fsum(w * g for w, g in zip(weights, history, strict=True)) / math.fsum(weights)


def expected_gain(level: str) -> float:
    """Eq. 2: 1 for "high", 0 for "medium", -1 for "low", in letters of any case; 0 for any other word."""
    return EXPECTED.get(level.strip().casefold(), 0.0)


def score(history: Sequence[float], expected: float, beta: float = BETA) -> float:
    """Eq. 3: beta times the weighted gain of the past plus (1 - beta) times the expected gain."""
    return beta * weighted_gain(history) + (1 - beta) * expected


def choose(scores: Mapping[int, float], epsilon: float, rng: np.random.Generator) -> int:
    """The epsilon-greedy choice: with probability epsilon any suspect, all alike, otherwise the best, the first of equals.

    Args:
        scores: A score for each suspect, in the order of the list.
        epsilon: 0 .. 1.
        rng: Where chance comes from; always one number of it is used, and a second one for a random suspect.

    Raises:
        ParlourError: The list is empty.
    """
    if not scores:
        raise accept("list of suspects", [], "one or more")
    if rng.random() >= epsilon:
        return max(scores, key=lambda suspect: scores[suspect])
    return list(scores)[int(rng.integers(len(scores)))]


def pruned(proposed: Sequence[int], before: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    """The list of suspects after pruning.

    Args:
        proposed: Players that the pruner named, in its order; any players, any number of times.
        before: The list as it was; it stays if no possible suspect was named.
        others: All possible suspects; any of them may return to the list.
    """
    known = frozenset(others)
    named = tuple(dict.fromkeys(seat for seat in proposed if seat in known))
    return named or tuple(before)


Mode = Literal["score", "all", "plan", "random"]
MODES: Final = ("score", "all", "plan", "random")
PLANNED: Final = ("plan", "random")
"""Modes that `plan` plays."""
_PAPER: Final = ("beta", "epsilon", "sensors", "prune")
_PLANNER: Final = ("price", "curiosity", "liars", "table")
_USED: Final[Mapping[str, tuple[str, ...]]] = {
    "score": _PAPER,
    "all": ("sensors", "prune"),
    "plan": _PLANNER,
    "random": (),
}
"""Mode -> the settings that it uses."""
Share = Annotated[float, Field(ge=0, le=1)]


class InterviewSettings(Settings):
    """What can be set."""

    beta: Share = BETA
    """Share of the past in a score."""
    epsilon: Share = EPSILON
    """How often a random suspect is asked."""
    sensors: tuple[Questioning, ...] = DEFAULT
    """Sensors of the question stage; the information value joins them when pruning."""
    prune: bool = True
    """Whether the list of suspects is pruned after each round."""
    mode: Mode = "score"
    """The choice of the player to ask: the best score on the list in each round; everybody on it; the highest expected
    information; random."""
    counts: bool = False
    """Whether the information-value sensor receives the number of questions asked, as in PLAYER*."""
    price: Share = 0.004
    """`mode=plan`: what a question must be worth to be put, in nats of the entropy over who did it."""
    curiosity: Share = 0.04
    """`mode=plan`: what an answer is worth, in nats, for all else that it may tell."""
    liars: Share = 0.3
    """`mode=plan`: what a nat of who else lies is worth, in nats of who did it."""
    table: Share = 0.5
    """`mode=plan`: the weight of what the table as a whole would learn; the rest is of what the own seat would."""

    @field_validator("sensors", mode="before")
    @classmethod
    def _without_repeats(cls, named: Any) -> Any:
        if not isinstance(named, tuple | list):
            return named
        return tuple(dict.fromkeys(SUSPICION if sensor == "opportunity" else sensor for sensor in named))

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """As the base does; settings of one mode mean it, and none the mode `plan`."""
        for key in words:
            check_one_of("setting", key, cls.model_fields)
        if "mode" in words:
            check_one_of("mode", words["mode"], MODES)
        return super().from_words({**words, "mode": mode_of(words)})


class PlayerStarSettings(InterviewSettings):
    """... of PLAYER*: `sensors` and `prune`."""

    epsilon: Share = 0.0
    mode: Literal["all"] = "all"
    counts: bool = True

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        return super().from_words({"mode": "all", **words})


def mode_of(words: Mapping[str, str]) -> str:
    """The mode that words name or mean. Raises `ParlourError` for settings that it does not use, or of two modes."""
    given = [key for key in words if key != "mode"]
    if mode := words.get("mode"):
        unused = [key for key in given if key not in _USED[mode]]
        if unused:
            raise accept(f"setting of mode={mode}", unused[0], _USED[mode] or ("none",))
        return mode
    meant = {mode for mode in ("score", "plan") for key in given if key in _USED[mode]}
    if len(meant) > 1:
        both = f"{', '.join(_PAPER)} of mode=score, or {', '.join(_PLANNER)} of mode=plan"
        raise ParlourError(f"settings {', '.join(given)} together are not accepted; accepted: {both}")
    return meant.pop() if meant else "plan"


class Interview(Procedure):
    """How a seat plays by lists of suspects.

    Args:
        room: What it works with.
        settings: What was set.
    """

    def __init__(self, room: Room, settings: InterviewSettings) -> None:
        super().__init__(room)
        self.settings = settings
        victims = room.scene.victims
        self.suspects: dict[str, tuple[int, ...]] = dict.fromkeys(victims, room.others)
        """The list for each victim, from the next seat on; at first everybody else."""
        self.main: dict[str, int] = dict.fromkeys(victims, room.others[0])
        """The strongest suspect of each victim, as the pruner said last."""
        self.gains: dict[tuple[str, int], list[float]] = {}
        """(victim, seat) -> the gains of the rounds in which the seat was questioned about the victim, oldest first."""
        self.expected: dict[tuple[str, int], float] = {}
        """(victim, seat) -> Eq. 2, as the information-value sensor read last."""
        self.summaries: dict[tuple[str, int], SensorSummary] = {}
        self.times: Counter[tuple[str, int]] = Counter()
        """(victim, seat) -> how often this seat has questioned it."""
        self._asked: dict[str, tuple[int, ...]] = {}
        """Who was questioned in this round."""
        self._sensed: list[dict[str, Any]] = []
        """What all sensors read since the last notes."""

    def least(self, kind: str) -> int:
        """Sensors, a question and its answer; or, after a round, one reading of everybody else and a selection."""
        asking = len(self.settings.sensors) + 2
        pruning = len(self.room.others) + 1 if self.settings.prune else 1
        return {CHOOSE: asking, SUSPECT: pruning}.get(kind, 1)

    # -- asking ------------------------------------------------------------------------------------------------

    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        victim = view.victims[view.victim]
        possible = [seat for seat in self.suspects[victim] if seat not in asked]
        if not possible or (self.settings.mode != "all" and asked):
            return None
        if self.settings.mode == "all":
            return possible[0]
        return choose(self.scores(victim), self.settings.epsilon, self.room.rng)

    def scores(self, victim: str) -> dict[int, float]:
        """Eq. 3 for everybody on the list of a victim, in order of how often this seat has asked them, then of the list."""
        return {
            seat: score(self.gains.get((victim, seat), ()), self.expected.get((victim, seat), 0.0), self.settings.beta)
            for seat in sorted(self.suspects[victim], key=lambda seat: self.times[victim, seat])
        }

    def questions(self, target: int, victim: str, number: int) -> list[str]:
        room = self.room
        common = self._about(target, victim)
        cards = [card(sensor, room.scene.language) for sensor in self.settings.sensors]
        answers = room.seat_model.ask_all([Sense(**common, sensor=sensor) for sensor in cards])
        readings = [
            SensorReading(sensor=sensor.sensor, choice=read.choice, reason=read.reason)
            for sensor, read in zip(cards, answers, strict=True)
        ]
        summary = SensorSummary(character=room.name(target), readings=readings)
        answer = room.ask_or_fail(Question(**common, summary=summary, number=number), QUESTION)
        if answer is None:
            return []
        self._asked[victim] = (*self._asked.get(victim, ()), target)
        self.times[victim, target] += 1
        return room.put(answer.questions, victim, number)

    def _about(self, seat: int, victim: str) -> dict[str, Any]:
        """Inputs of a question about a character: what the memory finds for "character,victim"."""
        query = f"{self.room.name(seat)},{victim}"
        seat_memory = self.room.seat_memory
        return {
            **self.room.about(victim),
            "about": self.room.name(seat),
            "script": seat_memory.excerpts(query),
            "dialogue": seat_memory.dialogue(query),
        }

    # -- pruning -----------------------------------------------------------------------------------------------

    def report(self, victim: str) -> int:
        if not self.settings.prune:
            return self.vote(victim)
        self.prune(victim)
        return self.main[victim]

    def prune(self, victim: str) -> None:
        """Read all sensors of everybody else, and renew the list; note what the questions of the round have gained."""
        room, before = self.room, self.suspects[victim]
        seats = sorted(room.others)
        summaries = self._read_all(seats, victim)
        answer = room.ask_or_fail(
            Prune(
                **room.about(victim),
                suspects=[room.name(seat) for seat in before],
                summaries=summaries,
            ),
            PRUNING,
        )
        proposed = all_named(answer.suspicion, [room.name(seat) for seat in seats]) if answer is not None else []
        after = pruned([room.scene.person(name) for name in proposed], before, seats)
        gained = gain(len(before), len(after))
        for target in self._asked.pop(victim, ()):
            self.gains.setdefault((victim, target), []).append(gained)
        self.main[victim] = after[0]
        self.suspects[victim] = tuple(sorted(after, key=room.others.index))

    def _read_all(self, seats: Sequence[int], victim: str) -> list[SensorSummary]:
        """What all sensors read of each seat."""
        room, counts = self.room, self.settings.counts
        cards = [card(sensor, room.scene.language) for sensor in (*self.settings.sensors, VALUE)]
        questions = [
            SenseAll(
                **self._about(seat, victim),
                sensors=cards,
                asked=room.seat_memory.asked(seat, victim) if counts else None,
            )
            for seat in seats
        ]
        summaries = [
            SensorSummary(character=room.name(seat), readings=_readings(answer.readings))
            for seat, answer in zip(seats, room.seat_model.ask_all(questions), strict=True)
        ]
        for seat, summary in zip(seats, summaries, strict=True):
            self.summaries[victim, seat] = summary
            self._sensed.append({"victim": victim, "about": summary.character, "readings": read_by(summary.readings)})
            self.expected[victim, seat] = expected_gain(value_of(summary.readings))
        return summaries

    def notes(self) -> dict[str, Any]:
        """`sensors`: for each character that all sensors read, `victim`, `about`, and sensor -> choice by the names of `SENSORS`."""
        read, self._sensed = self._sensed, []
        return {**super().notes(), "sensors": read}

    # -- inputs of the vote ---------------------------------------------------------------------------------

    def suspects_of(self, victim: str) -> list[str]:
        main = self.main[victim]
        seats = sorted(self.suspects[victim], key=lambda seat: seat != main)
        return [self.room.name(seat) for seat in seats]

    def summaries_of(self, victim: str) -> list[SensorSummary]:
        return [self.summaries[victim, seat] for seat in sorted(self.room.others) if (victim, seat) in self.summaries]


def _readings(answered: Mapping[str, SensorAnswer]) -> list[SensorReading]:
    """Answers by sensor, as a summary holds them."""
    return [SensorReading(sensor=name, choice=answer.choice, reason=answer.reason) for name, answer in answered.items()]
