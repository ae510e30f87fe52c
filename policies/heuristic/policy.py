"""Players by heuristic: the embedded default, one module for each game. They are no language models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

from parlour.envs.common import dotted
from parlour.envs.core import Move, ParlourError, V_contra, value_shown
from parlour.envs.registry import registry
from parlour.envs.settings import Settings
from parlour.policies.base import Policy
from parlour.policies.files import read_json
from parlour.policies.heuristic.settings import HeuristicSettings
from parlour.policies.seating import Seating


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
    settings_type: ClassVar[type[Settings]] = HeuristicSettings

    def __init__(self, habits: str | None = None, deceit: float = 0.0, style: HeuristicSettings | None = None) -> None:
        super().__init__()
        self.style = style
        self.habits, self._deceit = habits, HeuristicSettings(deceit=deceit).deceit
        self._learned: Any = None
        """What the file holds, once a game has read it."""
        self.player: GamePlayer[Any] | None = None
        """The game's player in its seat; None before its first turn."""

    @classmethod
    def settings_for(cls, game: str) -> type[Settings]:
        named = (
            registry[game].spec.heuristic if game in registry else ""
        )  # a game from elsewhere has the usual settings
        player = dotted.load(named, "heuristic") if named else None
        style: type[Settings] = getattr(player, "style_class", cls.settings_type)
        return style

    @classmethod
    def make(cls, settings: HeuristicSettings, at: Seating) -> Self:
        players = at.config.get("num_players")
        if settings.habits is not None:
            stored = read_json(settings.habits)
            if stored.get("game") != at.game:
                other = value_shown(stored.get("game"))
                raise ParlourError(f"{settings.habits!r} holds no habits of {at.game}, but of {other}")
            if players is not None and str(players) not in stored.get("players", ()):
                raise ParlourError(
                    f"habits of {players} players are not in {settings.habits!r}; accepted: a file that has them"
                )
        return cls(settings.habits, settings.deceit, style_in(settings))

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
        move = closest(self.player.act(view), view.legal)
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


def closest(wanted: Move, legal: Sequence[Move]) -> Move:
    """The move that a player wants; where an option of the table forbids that move, the first legal move that is most like it.

    >>> closest(Move("team", (0, 1, 2)), [Move("team", (0, 3, 4)), Move("team", (0, 2, 3))])
    Move(kind='team', args=(0, 2, 3), words='')
    """
    if wanted in legal:
        return wanted
    return max(legal, key=lambda move: (move.kind == wanted.kind, len({*move.args} & {*wanted.args})))


def style_in(settings: HeuristicSettings) -> HeuristicSettings | None:
    """The settings, if they name a style of the game's player; None for the usual way."""
    return settings if settings.model_fields_set - {*HeuristicSettings.model_fields} else None
