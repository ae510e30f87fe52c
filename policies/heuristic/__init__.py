"""Players by heuristic: the embedded default, one module for each game. They are no language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from parlour.envs import dotted
from parlour.envs.core import Move, ParlourError, V_contra, accept, value_shown
from parlour.envs.registry import known
from parlour.policies.base import Policy
from parlour.policies.files import read_json
from parlour.policies.settings import Settings, read_settings


class GamePlayer(Protocol[V_contra]):
    """One seat of one game, played by heuristic."""

    def act(self, view: V_contra) -> Move: ...


class HeuristicPolicy(Policy):
    """Plays the game it finds itself in, by the player that the game's spec names. Needs `info="full"`.

    Args:
        habits: A file of habits learned from games, by which it believes; None: the fixed rates.
        deceit: How often a werewolf's words and votes are lies (`parlour.policies.heuristic.werewolf`), 0..1, over the
            lies that all of them tell; other games have none.
        style: How it behaves where no belief decides, such as `AvalonStyle`; None: the usual way.

    Raises:
        ParlourError: The deceit is none.
    """

    name: ClassVar[str] = "heuristic"
    wants: ClassVar[str] = "view"

    def __init__(self, habits: str | None = None, deceit: float = 0.0, style: Settings | None = None) -> None:
        super().__init__()
        self.style = style
        self.habits, self._deceit = habits, deceit_of(deceit)
        self._learned: Any = None
        """What the file holds, once a game has read it."""
        self.player: GamePlayer[Any] | None = None
        """The game's player in its seat; None before its first turn."""

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], game: str, players: int | None = None) -> Self:
        """The heuristic with settings, for a table of `game` with so many players.

        Raises:
            ParlourError: There is no such setting, or the file cannot be read or is for other tables.
        """
        plain = ("habits", "deceit")
        more = {key: words for key, words in settings.items() if key not in plain}
        style = _style_of(game, more)
        if more and style is None:
            raise accept("setting of heuristic", next(iter(more)), ", ".join(plain))
        deceit = deceit_of(settings.get("deceit", 0.0))
        path = settings.get("habits")
        if path is not None:
            stored = read_json(path)
            if stored.get("game") != game:
                raise ParlourError(f"{path!r} holds no habits of {game}, but of {value_shown(stored.get('game'))}")
            if players is not None and str(players) not in stored.get("players", ()):
                raise ParlourError(f"habits of {players} players are not in {path!r}; accepted: a file that has them")
        return cls(path, deceit, style)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.player = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        if "view" not in info:
            raise ParlourError("the heuristic reads info['view']; accepted: an environment with info='full'")
        view = info["view"]
        if self.player is None:
            if not info.get("heuristic"):
                raise ParlourError("this game has no heuristic; accepted: a game whose spec names one")
            self.player = self._seated(dotted.load(info["heuristic"], "heuristic"), view)
        move = self.player.act(view)
        return int(info["legal"][view.legal.index(move)])

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float] | None:
        player = self._seated(dotted.load(info["heuristic"], "heuristic"), info["view"])
        suspicions = getattr(player, "suspicions", None)
        return None if suspicions is None else suspicions(info["view"])

    def _seated(self, player: Any, view: Any) -> GamePlayer[Any]:
        """The game's player, with the habits of a table like this one."""
        known: tuple[Any, ...] = ()
        if self.habits is not None:
            if not hasattr(player, "read_habits"):
                raise ParlourError("the heuristic of this game takes no habits; accepted: heuristic")
            self._learned = self._learned or player.read_habits(self.habits)
            known = (self._learned.of(len(view.roles)),)
        lying: dict[str, Any] = {"deceit": self._deceit} if self._deceit else {}
        if lying and not getattr(player, "lies", False):
            raise ParlourError("the heuristic of this game takes no deceit; accepted: heuristic")
        styled = {"style": self.style} if self.style is not None else {}
        seated: GamePlayer[Any] = player(view, self.rng, *known, **lying, **styled)
        return seated


def _style_of(game: str, words: Mapping[str, str]) -> Settings | None:
    """The style that words name; None without words, or for games whose heuristic has none. Raises `ParlourError`."""
    player = dotted.load(known(game).spec.heuristic, "heuristic") if words and known(game).spec.heuristic else None
    style: type[Settings] | None = getattr(player, "style_class", None)
    return None if style is None else read_settings(style, words, HeuristicPolicy.name)


def deceit_of(value: float | str) -> float:
    """The setting `deceit`, in words or as a number. Raises `ParlourError` for what is no number 0..1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise accept("deceit", value, "a number 0..1")
    return number
