"""Players that are several: in each game one of them plays, drawn from the game's seed.

`mixture:FOLDER` on the command line, such as late snapshots of a run of self-play. All seats of a game draw the same network,
so that a side plays as one. In the terms of game theory it is a mixed strategy over the files of the folder, in equal shares,
as in fictitious play the average of what was learned one after another.

`mixed:heuristic+expert` takes players of several kinds, and seats draw for themselves: whoever meets them has to find out who is who.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import Accepts, Settings
from parlour.policies.base import Policy, TablePolicy
from parlour.policies.names import EXPERT, HEURISTIC, MIXED
from parlour.policies.registry import asks_a_model, make_policy
from parlour.policies.seating import Seating
from parlour.policies.trained import SUFFIX, TrainedSeat

MIXTURE: Final = "mixture"
# they keep the draws of the network and of the player apart from all else that follows from the same seed
_OF_NETWORK: Final = 0x3D17
_OF_PLAYER: Final = 0x3D18


class MixtureSettings(Settings):
    """What can be set."""

    folder: Annotated[str, Accepts("a folder with files of trained seats")]
    """The folder, such as the snapshots of a run of self-play."""


class MixturePolicy(TablePolicy):
    """Plays each game as one of the trained seats of a folder.

    Args:
        folder: Where the files of `TrainedSeat` are.

    Raises:
        ParlourError: There is no such file, one of them is no trained seat, or they were trained for different tables.
    """

    name: ClassVar[str] = MIXTURE
    settings_type: ClassVar[type[Settings]] = MixtureSettings
    wants: ClassVar[str] = "features"

    def __init__(self, folder: str | Path) -> None:
        super().__init__()
        self.folder = str(folder)
        self.members = tuple(TrainedSeat.load(path) for path in members_of(folder))
        self.playing = self.members[0]
        """The network of this game."""
        self.table = self.playing.game, self.playing.config
        self.features = self.playing.features
        for member in self.members:
            member.check_table(*self.table)
            if member.features != self.features:
                raise accept("features of a member", member.features, self.features)

    @property
    def reads_prose(self) -> bool:
        return self.playing.reads_prose

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.playing = self.members[int(np.random.default_rng((seed, _OF_NETWORK)).integers(len(self.members)))]
        self.playing.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        return self.playing.act(observation, info)

    def settings(self) -> dict[str, Any]:
        return {"folder": self.folder}

    @classmethod
    def make(cls, settings: MixtureSettings, at: Seating) -> Self:
        made = cls(settings.folder)
        made.check_table(at.game, at.config)
        return made


def members_of(folder: str | Path) -> list[Path]:
    """The files of a mixture, in the order of their names. Raises `ParlourError` if there is none."""
    members = sorted(Path(folder).glob(f"*{SUFFIX}"))
    if not members:
        raise ParlourError(
            f"no trained seat in {str(folder)!r}; accepted: a folder with {SUFFIX} files of trained seats"
        )
    return members


class MixedSettings(Settings):
    """What can be set."""

    players: tuple[str, ...] = (HEURISTIC, EXPERT)
    """Who may sit in a seat, each as likely as the others, joined by +; none that asks a model."""


class MixedPolicy(Policy):
    """Plays each game, in each seat, as one of several players.

    Args:
        players: Name -> player.
    """

    name: ClassVar[str] = MIXED
    settings_type: ClassVar[type[Settings]] = MixedSettings
    wants: ClassVar[str] = "features"

    def __init__(self, players: Mapping[str, Policy]) -> None:
        super().__init__()
        self.players = dict(players)
        self.playing = next(iter(self.players))
        """The name of the player of this game."""

    @classmethod
    def make(cls, settings: MixedSettings, at: Seating) -> Self:
        for name in settings.players:
            if asks_a_model(name):
                raise ParlourError(
                    f"{name!r} among the players of {MIXED} asks a model; accepted: players that ask none"
                )
        return cls({name: make_policy(name, at.game, at.config) for name in settings.players})

    @property
    def player(self) -> Policy:
        """The player of this game."""
        return self.players[self.playing]

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        names = list(self.players)
        self.playing = names[int(np.random.default_rng((seed, seat, _OF_PLAYER)).integers(len(names)))]
        self.player.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self.player.act(observation, info)

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float] | None:
        return self.player.state_belief(observation, info)

    def notes(self) -> dict[str, Any]:
        """The notes of the player, and its name."""
        return {**self.player.notes(), "plays_as": self.playing}

    def settings(self) -> dict[str, Any]:
        return {"players": list(self.players)}
