"""Questum's procedure: choose by score, question by sensors, prune after each round (paper, Alg. 1, corrected in decisions 4.2).

The same procedure with other settings is PLAYER* (decisions 5), and, with the defaults, that of the murderers in all methods. The
choice of the player to ask is in `gain`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.core import ParlourError, accept, check_one_of, listed
from parlour.envs.murder_mystery.vocabulary import CHOOSE, SUSPECT, MysteryView
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.murder_mystery.asks import Grade, Profile, Prune, Question, Sense, SenseAll, SensorAnswer
from parlour.policies.agents.murder_mystery.procedure import PRUNING, QUESTION, Procedure, Room
from parlour.policies.agents.murder_mystery.questum.gain import (
    BETA,
    EPSILON,
    choose,
    expected_gain,
    gain,
    pruned,
    score,
)
from parlour.policies.agents.murder_mystery.sensors import (
    DEFAULT,
    OWN,
    QUESTIONING,
    SUSPICION,
    VALUE,
    SensorReading,
    SensorSummary,
    card,
    read_by,
    value_of,
)
from pydantic import Field, field_validator

Mode = Literal["score", "all", "plan", "random"]
MODES: Final = ("score", "all", "plan", "random")
PLANNED: Final = ("plan", "random")
"""Modes that `plan` plays."""
_LISTS: Final = ("sensors", "prune", "murderer", "suspicion", "temperature")
_PAPER: Final = ("beta", "epsilon", "ties", "first", "gain", *_LISTS)
_PLANNER: Final = ("price", "curiosity", "liars", "table")
_USED: Final[Mapping[str, tuple[str, ...]]] = {"score": _PAPER, "all": _LISTS, "plan": _PLANNER, "random": ()}
"""Mode -> the settings that it uses."""
Share = Annotated[float, Field(ge=0, le=1)]


class InterviewSettings(Settings):
    """What can be set."""

    beta: Share = BETA
    """Share of the past in a score."""
    epsilon: Share = EPSILON
    """How often a random suspect is asked."""
    sensors: Annotated[tuple[str, ...], Accepts(f"{listed(QUESTIONING)}, files NAME{OWN} with sensors of your own")] = (
        DEFAULT
    )
    """Sensors of the question stage; the information value joins them when pruning. A file has `[en]`, with `question` and `choices`."""
    ties: Literal["drawn", "least"] = "drawn"
    """`mode=score`: of suspects with the best score, one is drawn; or who was asked least, then the next seat."""
    first: Literal["ring", "read"] = "ring"
    """`mode=score`: the first question about a victim goes to the next seat; or by the information value, read before it."""
    gain: Literal["asked", "every"] = "asked"
    """`mode=score`: a character has a gain for each round in which this seat questioned it; or for each round in which the list
    changed: what the list lost, if the character answered anybody about the victim in that round, else 0."""
    prune: Literal["rounds", "between", "no", "unread"] = "between"
    """The list of suspects is pruned after every round; between rounds; never; or never, and no sensor is read after a round."""
    murderer: Literal["fixed", "updated"] = "fixed"
    """What sensors read for the hypothetical murderer: the paper's first profile, or asked before each pruning."""
    suspicion: Literal["listed", "graded"] = "listed"
    """The pruner lists suspects; or grades everybody from 0 to 1, and those with half of the highest grade are the list."""
    temperature: float | None = Field(default=None, ge=0)
    """Sampling temperature of the seat's questions; None: the model's."""
    mode: Mode = "score"
    """The choice of the player to ask: the best score on the list in each round; everybody on it; the highest expected
    information; random."""
    counts: bool = False
    """Whether the information-value sensor receives the number of questions asked and the last readings, and the question the
    information value, as in PLAYER*."""
    price: Share = 0.004
    """`mode=plan`: what a question must be worth to be put, in nats of the entropy over who did it."""
    curiosity: Share = 0.04
    """`mode=plan`: what an answer is worth, in nats, for all else that it may tell."""
    liars: Share = 0.3
    """`mode=plan`: what a nat of who else lies is worth, in nats of who did it."""
    table: Share = 0.5
    """`mode=plan`: the weight of what the table as a whole would learn; the rest is of what the own seat would."""

    @field_validator("prune", mode="before")
    @classmethod
    def _as_recorded(cls, value: Any) -> Any:
        """Settings from before 0.5 had yes, between the rounds, and no, without any reading after a round."""
        return {True: "between", False: "unread"}[value] if isinstance(value, bool) else value

    @field_validator("sensors", mode="before")
    @classmethod
    def _without_repeats(cls, named: Any) -> Any:
        if not isinstance(named, tuple | list):
            return named
        known = tuple(dict.fromkeys(SUSPICION if sensor == "opportunity" else sensor for sensor in named))
        for sensor in known:
            if sensor not in QUESTIONING and not str(sensor).endswith(OWN):
                raise accept("sensors", sensor, (*QUESTIONING, f"a file NAME{OWN}"))
        return known

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """As the base does; settings of one mode mean it, and none the mode `plan`."""
        for key in words:
            check_one_of("setting", key, cls.model_fields)
        if "mode" in words:
            check_one_of("mode", words["mode"], MODES)
        return super().from_words({**words, "mode": mode_of(words)})


class PlayerStarSettings(InterviewSettings):
    """... of PLAYER*: `sensors`, `prune`, `murderer`, `suspicion` and `temperature`."""

    epsilon: Share = 0.0
    temperature: float | None = Field(default=0.8, ge=0)
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
    """How a seat plays by lists of suspects."""

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
        self._answered: Counter[tuple[str, int]] = Counter()
        """(victim, seat) -> answers by the last round whose gain was noted."""
        self._reviewed: dict[str, int] = {}
        """Victim -> number of talks heard at the last review."""
        self.grades: dict[str, dict[str, float]] = {}
        """Victim -> character -> suspicion from 0 to 1, where it is graded."""
        self._sensed: list[dict[str, Any]] = []
        """What all sensors read since the last notes."""

    def least(self, kind: str) -> int:
        """Sensors, a question and its answer; or, after a round, one reading of everybody else and a selection."""
        asking = len(self.settings.sensors) + 2 + len(self.room.others) * (self._reads_first and not self.expected)
        pruning = len(self.room.others) + 1 + (self.settings.murderer == "updated")
        return {CHOOSE: asking, SUSPECT: pruning if self.settings.prune != "unread" else 1}.get(kind, 1)

    @property
    def _reads_first(self) -> bool:
        return self.settings.mode != "all" and self.settings.first == "read"

    # -- asking ------------------------------------------------------------------------------------------------

    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        victim = view.victims[view.victim]
        possible = [seat for seat in self.suspects[victim] if seat not in asked]
        if not possible or (self.settings.mode != "all" and asked):
            return None
        if self.settings.mode == "all":
            return possible[0]
        if self._reads_first and not any((victim, seat) in self.expected for seat in possible):
            self._read_each(possible, victim, (VALUE,))
        scores = self.scores(victim)
        if self.settings.ties == "least" or (view.round == 0 and not self._reads_first):  # the first of equals
            scores = {seat: worth - k * 1e-9 for k, (seat, worth) in enumerate(scores.items())}
        return choose(scores, self.settings.epsilon, self.room.rng)

    def scores(self, victim: str) -> dict[int, float]:
        """Eq. 3 for everybody on the list of a victim, in order of how often this seat has asked them, then of the list."""
        return {
            seat: score(self.gains.get((victim, seat), ()), self.expected.get((victim, seat), 0.0), self.settings.beta)
            for seat in sorted(self.suspects[victim], key=lambda seat: self.times[victim, seat])
        }

    def questions(self, target: int, victim: str, number: int) -> list[str]:
        room = self.room
        common = room.about_player(target, victim)
        cards = [card(sensor, room.scene.language) for sensor in self.settings.sensors]
        answers = room.seat_model.ask_all([Sense(**common, sensor=sensor) for sensor in cards])
        readings = [
            SensorReading(sensor=sensor.sensor, choice=read.choice, reason=read.reason)
            for sensor, read in zip(cards, answers, strict=True)
        ]
        readings += [last for last in self._last(victim, target) if value_of([last])]
        summary = SensorSummary(character=room.name(target), readings=readings)
        answer = room.ask_or_fail(Question(**common, summary=summary, number=number), QUESTION)
        if answer is None:
            return []
        self._asked[victim] = (*self._asked.get(victim, ()), target)
        self.times[victim, target] += 1
        return room.put(answer.questions, victim, number)

    def _last(self, victim: str, seat: int) -> list[SensorReading]:
        """What the sensors read of a seat last, for P_informative of PLAYER*; empty for others."""
        last = self.summaries.get((victim, seat)) if self.settings.counts else None
        return [] if last is None else last.readings

    # -- pruning -----------------------------------------------------------------------------------------------

    def report(self, victim: str) -> int:
        self._review(victim)
        return self.main[victim] if self.settings.prune in ("rounds", "between") else super().vote(victim)

    def vote(self, victim: str) -> int:
        """Who did it; first the sensors read the last round, where the budget allows it."""
        budget, takes = self.room.budget, self.least(SUSPECT)
        fresh = self._reviewed.get(victim) == len(self.room.seat_memory.talks)
        if not fresh and self.settings.prune != "unread" and (budget is None or budget.allows(SUSPECT, takes)):
            self._review(victim, last=True)
        return super().vote(victim)

    def _review(self, victim: str, *, last: bool = False) -> None:
        """After a round: the sensors' readings of everybody else, then a new list, each where the settings have it."""
        self._reviewed[victim] = len(self.room.seat_memory.talks)
        if self.settings.prune == "rounds" or (self.settings.prune == "between" and not last):
            self.prune(victim)
        elif self.settings.prune != "unread":
            self._read_all(victim)

    def prune(self, victim: str) -> None:
        """Read all sensors of everybody else, and renew the list; note what the questions of the round have gained."""
        room, before, seats = self.room, self.suspects[victim], sorted(self.room.others)
        after = pruned(self._proposed(victim, before, self._read_all(victim)), before, seats)
        self._note_gain(victim, gain(len(before), len(after)))
        self.main[victim] = after[0]
        self.suspects[victim] = tuple(sorted(after, key=room.others.index))

    def _proposed(self, victim: str, before: Sequence[int], summaries: list[SensorSummary]) -> list[int]:
        """Whom the pruner names, the strongest suspect first; nobody if its answer could not be used."""
        room, settings = self.room, self.settings
        question = (Grade if settings.suspicion == "graded" else Prune)(
            **room.about(victim),
            suspects=[room.name(seat) for seat in before],
            summaries=summaries,
            murderer=self._profile(victim) if settings.murderer == "updated" else [],
        )
        answer: Any = room.ask_or_fail(question, PRUNING)
        if isinstance(question, Grade) and answer is not None:
            self.grades[victim] = answer.grades
        return [] if answer is None else [room.scene.person(name) for name in question.ranked(answer)]

    def _profile(self, victim: str) -> list[SensorReading]:
        """What sensors would read for the murderer, given the talk so far (section 2.2)."""
        room = self.room
        cards = [card(name, room.scene.language) for name in self.settings.sensors]
        answer = room.seat_model.ask(Profile(**room.about(victim), **room.recalled(victim), sensors=cards))
        return _readings(answer.readings)

    def _note_gain(self, victim: str, gained: float) -> None:
        """What the questions of the round have gained, for Eq. 1 (see the setting `gain`)."""
        asked, every = self._asked.pop(victim, ()), self.settings.gain == "every"
        for seat in self.room.others:
            answered = self.room.seat_memory.asked(seat, victim)
            credited = answered > self._answered[victim, seat] if every else seat in asked
            self._answered[victim, seat] = answered
            if gained if every else credited:
                self.gains.setdefault((victim, seat), []).append(gained if credited else 0.0)

    def _read_all(self, victim: str) -> list[SensorSummary]:
        """What all sensors read of everybody else."""
        return self._read_each(sorted(self.room.others), victim, (*self.settings.sensors, VALUE))

    def _read_each(self, seats: Sequence[int], victim: str, sensors: Sequence[str]) -> list[SensorSummary]:
        """What sensors read of each seat."""
        room, counts = self.room, self.settings.counts
        cards = [card(sensor, room.scene.language) for sensor in sensors]
        questions = [
            SenseAll(
                **room.about_player(seat, victim),
                sensors=cards,
                asked=room.seat_memory.asked(seat, victim) if counts else None,
                before=self._last(victim, seat),
            )
            for seat in seats
        ]
        summaries = [
            SensorSummary(character=room.name(seat), readings=_readings(answer.readings))
            for seat, answer in zip(seats, room.seat_model.ask_all(questions), strict=True)
        ]
        for seat, summary in zip(seats, summaries, strict=True):
            self.expected[victim, seat] = expected_gain(value_of(summary.readings))
            if len(sensors) > 1:
                self.summaries[victim, seat] = summary
            self._sensed.append({"victim": victim, "about": summary.character, "readings": read_by(summary.readings)})
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
