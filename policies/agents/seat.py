"""What all seats that ask a model share: the model, settings in words, notes for the transcript, saving without secrets.

`AskingPolicy` is any of them; a `GameSeat` plays a certain game from its View.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, View, accept
from parlour.envs.language.english import name
from parlour.envs.settings import Settings
from parlour.policies.agents.belief.question import belief_question
from parlour.policies.base import Policy
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.decisions import made_by
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import Model, OfflineModel, SeatModel
from parlour.policies.seating import Seating
from pydantic import BaseModel, ConfigDict

V = TypeVar("V", bound=View)
LEADS: Final = ("base_url", "key_env", "prompts", "cache", "prices")
"""Settings of a model that name something outside: an address, a variable, a folder, files."""


class InputPart(BaseModel):
    """A part of an input of a question; frozen, and nothing is left out of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AskingPolicy(Policy):
    """A seat that asks a model.

    Args:
        model: Who answers its questions; the heuristics by default. One model may serve many seats and games.
        chosen: Its settings, of `settings_type`.
        values: Instead of these, single settings by name.

    Raises:
        ParlourError: A setting is not accepted.
    """

    chosen: Any

    def __init__(self, model: Model | None = None, chosen: Settings | None = None, **values: Any) -> None:
        super().__init__()
        self.chosen = chosen or self.settings_type(**values)
        self.model = model or OfflineModel()
        self.seat_model = SeatModel(self.model, 0, 0, player=self.name)
        self._begin()

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.seat_model = SeatModel(self.model, seat, seed, player=self.name)
        self._begin()

    def _begin(self) -> None:
        """Forget the game before."""

    @property
    def waits(self) -> bool:
        """Whether its model takes its time: seats that decide at the same moment are then asked at once, in threads."""
        return self.model.waits

    def hear(self, view: View) -> None:
        """Take in what is new before the seat's turn, if the questions for that take time; by default nothing happens.

        Loops call it where the seat's turn comes before the moderator says anything, so that all that follows until then
        is what players say and do. `act` then puts the same questions less those put here.
        """

    def come_first(self, view: View) -> None:
        """Claim the questions, the same for all seats (`SeatModel.ask_shared`), that a turn with this View will put.

        Loops that ask several seats at once call it in the order of the turns.
        """

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float]:
        self.seat_model.rules = str(info.get("rules", ""))
        stated = self.seat_model.ask(belief_question(observation["text"], info, self.seat))
        return [0.0 if seat == self.seat else stated.chances[name(seat)] for seat in range(info["seats"])]

    def notes(self) -> dict[str, Any]:
        """The questions asked since the last time, for the transcript; and that the heuristic decided, if it did."""
        calls = self.seat_model.calls()
        return {"calls": calls, **made_by(calls)} if calls else {}

    @classmethod
    def make(cls, settings: Any, at: Seating) -> Self:
        return cls(at.model, settings)

    def settings(self) -> dict[str, Any]:
        return {"model": self.model.settings(), **self.chosen.plain()}

    @classmethod
    def load(cls, path: str | Path, model: Model | None = None) -> Self:
        """Read a policy that `save` wrote; a key for its model is taken from the environment.

        Args:
            path: The file.
            model: The model to ask; None: as it was saved, if that needs no server or file. A file from elsewhere must not decide
            where questions and a key are sent, or which files are opened.

        Raises:
            ParlourError: The file holds none of this kind, its model cannot be made, or leads somewhere and none is given.
        """
        try:
            stored = json_value(Path(path).read_bytes())
            kind, settings = stored["policy"], dict(stored["settings"])
            config = ModelConfig(**settings.pop("model"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ParlourError(f"{str(path)!r} is not a saved policy ({error}); accepted: what `save` wrote") from None
        if kind != cls.name:
            raise accept("policy in file", kind, (cls.name,))
        if model is None:
            _check_leads_nowhere(path, config)
        try:
            return cls._saved(model or make_model(config), settings)
        except (TypeError, KeyError) as error:
            raise ParlourError(f"{str(path)!r} is not a saved policy ({error}); accepted: what `save` wrote") from None

    @classmethod
    def _saved(cls, model: Model, settings: dict[str, Any]) -> Self:
        """The policy with settings from a file, the model aside."""
        return cls(model, cls.settings_type.from_plain(settings))


def _check_leads_nowhere(path: str | Path, config: ModelConfig) -> None:
    """A saved model may name no address, variable, file or folder. Raises `ParlourError`."""
    usual = ModelConfig(model=config.model)
    for setting in LEADS:
        if (value := getattr(config, setting)) != getattr(usual, setting):
            asked = f"the model of {str(path)!r} has {setting} {value!r}: what a file names is not used unasked"
            raise ParlourError(f"{asked}; accepted: load(path, model=make_model(ModelConfig(...)))")


class GameSeat(AskingPolicy, Generic[V]):
    """A seat of one game that asks a model and plays from its View. Needs `info="full"`."""

    wants: ClassVar[str] = "view"
    plays: ClassVar[tuple[str, str]]
    """The title of its game, and its name in the registry."""
    view_type: ClassVar[type]

    def _begin(self) -> None:
        self._seated = False
        self._turn: Ask[Any] | None = None
        self._tried: list[str] = []

    @abstractmethod
    def _sit_down(self, view: V) -> None:
        """Take in who one is, at the first turn."""

    @abstractmethod
    def _take(self, view: V) -> None:
        """Take in what is new in a View."""

    def watch(self, view: V) -> None:
        """Take in what was shown after the last turn, once the game is over."""
        if self._seated:
            self._take(view)

    def _view(self, info: Mapping[str, Any]) -> V:
        """The View, after taking in what is new in it. Raises `ParlourError` for another game's, or none."""
        view: V | None = info.get("view")
        if view is None or not isinstance(view, self.view_type):
            title, game = self.plays
            raise ParlourError(f"policy {self.name!r} plays {title} with info='full'; accepted: {game}")
        self.seat_model.rules = str(info.get("rules", ""))
        if not self._seated:
            self._sit_down(view)
            self._seated = True
        self._take(view)
        return view

    def _say(self, turn: Ask[Any]) -> str:
        """Put the question of this turn, whose answer has `words`, with the words that were `refused` so far."""
        if turn is not self._turn:
            self._turn, self._tried = turn, []
        words = self._worded(turn, self.seat_model.ask(turn.model_copy(update={"refused": list(self._tried)})))
        self._tried.append(words)
        return words

    def _worded(self, turn: Ask[Any], reply: Any) -> str:
        """What is said to the table after a reply to `turn`."""
        return str(reply.words)

    def _say_again(self, info: Mapping[str, Any]) -> str | None:
        """Other words for the same turn, if the last ones could not be used; None if this is another turn."""
        if info.get("asked_again") and self._turn is not None:
            return self._say(self._turn)
        self._turn = None
        return None


def code(kind: str, args: Iterable[int]) -> str:
    """The code of an option.

    >>> code("propose", [0, 2]), code("silent", [])
    ('propose:0,2', 'silent')
    """
    return ":".join(filter(None, (kind, ",".join(map(str, args)))))


def coded(info: Mapping[str, Any]) -> dict[str, str]:
    """The sentences of the options by code, in the order of the game."""
    return {code(m.kind, m.args): said for m, said in zip(info["view"].legal, info["options"], strict=True)}
