"""The agents at the table of a murder mystery: Questum, PLAYER*, and the methods they are compared with.

An agent reads the View of its seat and speaks in words; choices, reports and votes are action numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, takewhile
from typing import Any, ClassVar, Final, Self

from parlour.envs.core import Move, ParlourError
from parlour.envs.murder_mystery import vocabulary as game
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, OPEN, Fact, say
from parlour.envs.settings import Settings
from parlour.policies.agents.murder_mystery.baselines import Ocot, Silent, ThinkThrice, Werewolf
from parlour.policies.agents.murder_mystery.procedure import Procedure, QuestionBudget, Room
from parlour.policies.agents.murder_mystery.questum.interview import (
    PLANNED,
    Interview,
    InterviewSettings,
    PlayerStarSettings,
)
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.agents.murder_mystery.seat_memory import HASHING, SeatMemory
from parlour.policies.agents.murder_mystery.sensors import OWN
from parlour.policies.agents.seat import GameSeat
from parlour.policies.llm.model import Model
from parlour.policies.retrieval.embedders import Embedder


class MysterySeat(GameSeat[MysteryView]):
    """A seat of a murder mystery that asks a model. Needs `info="full"` and text actions.

    Args:
        model: Who answers; the heuristics by default.
        embedder: Turns what the seat has read into vectors; shared, not saved.
    """

    plays: ClassVar[tuple[str, str]] = ("murder mysteries", "murder_mystery_v0")
    view_type: ClassVar[type] = MysteryView
    base: ClassVar[Settings] = Settings()
    """Its settings where none are given."""
    civilian: ClassVar[type[Procedure]]
    """The procedure of a seat that killed nobody, where no setting changes it."""

    def __init__(
        self, model: Model | None = None, chosen: Settings | None = None, *, embedder: Embedder = HASHING
    ) -> None:
        self.embedder = embedder
        self.budget: QuestionBudget | None = None
        """What the game may take of the model; not saved."""
        super().__init__(model, chosen or self.base)

    def _begin(self) -> None:
        super()._begin()
        self.procedure: Procedure | None = None
        self._questions: list[str] = []

    @property
    def failed(self) -> dict[str, int]:
        """How often in this game a question was not put, or a list stayed as it was, because the model's answer was none."""
        return dict(self.procedure.room.failed) if self.procedure else {}

    def notes(self) -> dict[str, Any]:
        """The questions asked; where there are any, `sensors` and `chances` (`questum.interview`, `.plan`), `failed`."""
        judged = self.procedure.notes() if self.procedure else {}
        return {
            **super().notes(),
            **{name: value for name, value in {**judged, "failed": self.failed}.items() if value},
        }

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        view = self._view(info)
        procedure, kind = self._procedure(), view.legal[0].kind
        if kind == game.INTRODUCE:
            return procedure.introduce()
        if kind in (game.CHOOSE, game.SUSPECT, game.VOTE):
            procedure.listen()
        if kind in (game.CHOOSE, game.SUSPECT) and not self._can_pay(kind):
            return self._number(
                info, kind, view.suspects[view.victim : view.victim + 1] if kind == game.SUSPECT else ()
            )
        if kind == game.CHOOSE:
            return self._number(info, game.CHOOSE, self._choose(view, procedure))
        if kind == game.ASK:
            return self._questions.pop(0) if self._questions else self._number(info, game.ASK, (OPEN, game.ANYBODY))
        if kind in (game.SUSPECT, game.VOTE):
            victim = view.victims[view.victim]
            seat = procedure.report(victim) if kind == game.SUSPECT else procedure.vote(victim)
            return self._number(info, kind, (seat,))
        return self._answer(view, info, procedure)

    def come_first(self, view: MysteryView) -> None:  # type: ignore[override]  # of its own game
        if self._seated:
            self._take(view)
            self._procedure().come_first()

    def _can_pay(self, kind: str) -> bool:
        """Whether what the game may take of the model allows one more of a kind of moves."""
        procedure = self._procedure()
        return self.budget is None or self.budget.allows(kind, procedure.takes(kind), procedure.least(kind))

    def _sit_down(self, view: MysteryView) -> None:
        room = Room.of(view, self.seat_model, SeatMemory(view, self.embedder), self.rng)
        room.budget = self.budget
        self.seat_model.temperature = getattr(self.chosen, "temperature", None)
        self.procedure = self._murderer(room) if any(view.murders) else self._civilian(room)
        if self.budget is not None and self.procedure.takes(game.VOTE) == 0:
            self.budget.release(len(view.victims))

    def _take(self, view: MysteryView) -> None:
        self._procedure().room.seat_memory.take(view)

    def _procedure(self) -> Procedure:
        assert self.procedure is not None
        return self.procedure

    def _civilian(self, room: Room) -> Procedure:
        """How a seat that killed nobody plays."""
        return self.civilian(room)

    def _murderer(self, room: Room) -> Procedure:
        """How a murderer plays: the same in all methods (Questum, section 4.3)."""
        return Interview(room, InterviewSettings())

    def _choose(self, view: MysteryView, procedure: Procedure) -> tuple[int, ...]:
        """The seat to ask, with its questions noted; seats without a usable question are skipped."""
        asked = self._asked(view)
        while (target := procedure.choose(view, asked)) is not None:
            asked = (*asked, target)
            if Move(game.CHOOSE, (target,)) not in view.legal:
                continue
            self._questions = procedure.questions(target, view.victims[view.victim], view.questions)
            if self._questions:
                return (target,)
        return ()

    def _asked(self, view: MysteryView) -> tuple[int, ...]:
        """The seats that this one has asked about the victim in this turn."""
        turn = takewhile(lambda event: event.move.kind != game.TURN, reversed(view.events))
        choices = [event.move.args for event in turn if event.move.kind == game.CHOOSE and event.seat == self.seat]
        return tuple(chain.from_iterable(reversed(choices)))

    def _answer(self, view: MysteryView, info: dict[str, Any], procedure: Procedure) -> Any:
        exchange = procedure.room.seat_memory.pending()
        if exchange is None or exchange.answers:  # the words were read as one of the facts: the answer is complete
            over = game.ENOUGH if game.ENOUGH in view.legal else game.SAYS
            return self._number(info, over.kind, ())
        words = procedure.reply(exchange)
        scene = procedure.room.scene
        if words == scene.say.nothing:
            return self._number(info, game.ANSWER, ())
        return scene.join([words, scene.say.all_i_know]) if _is_one_fact(words, view) else words

    def _number(self, info: Mapping[str, Any], kind: str, args: tuple[int, ...]) -> int:
        """The number of a legal action; the first legal one if it is not legal."""
        legal = info["view"].legal
        move = Move(kind, args)
        return int(info["legal"][legal.index(move) if move in legal else 0])


class QuestumAgent(MysterySeat):
    """Asks what is expected to tell most of who did it (`plan`); with `mode=score` by sensors, gains and a pruner, as in the paper."""

    name: ClassVar[str] = "questum"
    settings_type: ClassVar[type[Settings]] = InterviewSettings
    chosen: InterviewSettings
    base: ClassVar[Settings] = InterviewSettings(mode="plan")

    def _civilian(self, room: Room) -> Procedure:
        return (PlannedInterview if self.chosen.mode in PLANNED else Interview)(room, self.chosen)

    def settings(self) -> dict[str, Any]:
        return {"model": self.model.settings(), "chosen": self.chosen.plain()}

    @classmethod
    def _saved(cls, model: Model, settings: dict[str, Any]) -> Self:
        chosen: Any = cls.settings_type.from_plain(settings["chosen"])
        if own := [sensor for sensor in chosen.sensors if sensor.endswith(OWN)]:
            raise ParlourError(f"a saved policy opens no file: sensor {own[0]!r}; accepted: the name of a sensor")
        return cls(model, chosen)


class PlayerStarAgent(QuestumAgent):
    """PLAYER*: everybody on the list is asked in each round; no gain, no score, no chance (decisions 5)."""

    name: ClassVar[str] = "player_star"
    settings_type: ClassVar[type[Settings]] = PlayerStarSettings
    base: ClassVar[Settings] = PlayerStarSettings()


class MysteryWerewolfAgent(MysterySeat):
    """Predefined questions and reflected answers, after Xu et al. 2023."""

    name: ClassVar[str] = "mystery_werewolf"
    civilian = Werewolf


class MysteryOCoTAgent(MysterySeat):
    """Questions from objectives, after Park et al. 2023 and Zhao et al. 2024."""

    name: ClassVar[str] = "mystery_ocot"
    civilian = Ocot


class MysteryThinkThriceAgent(MysterySeat):
    """Questions from memories, answers held against a timeline, after Wu et al. 2024."""

    name: ClassVar[str] = "mystery_thinkthrice"
    civilian = ThinkThrice


class MysteryNoneAgent(MysterySeat):
    """Asks nobody, in whatever role; answers, reports and votes."""

    name: ClassVar[str] = "mystery_none"
    civilian = Silent

    def _murderer(self, room: Room) -> Procedure:
        return Silent(room)


def _is_one_fact(words: str, view: MysteryView) -> bool:
    """Whether words are the very sentence of a fact that may be told, so that they would not end the answer."""
    said = " ".join(words.split()).casefold()
    facts = [Fact(KINDS[args[0]], args[1:]) for kind, args, _ in view.legal if kind == game.TELL]
    return any(
        said == say(fact, view.vocabulary, speaker).casefold() for fact in facts for speaker in (view.seat, None)
    )


AGENTS: Final[tuple[type[MysterySeat], ...]] = (
    QuestumAgent,
    PlayerStarAgent,
    MysteryWerewolfAgent,
    MysteryOCoTAgent,
    MysteryThinkThriceAgent,
    MysteryNoneAgent,
)
"""All methods, by name on the command line."""
