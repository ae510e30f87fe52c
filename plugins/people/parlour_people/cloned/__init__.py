"""Players cloned from recorded games of Avalon (`parlour train clone`): they choose as the recorded players chose.

`clone:FILE` on the command line. A file holds a choice model or networks:

* A choice model sits at any table of Avalon, 5 to 10 players, talk or none: its features (`features.py`) are a function of the
  seat's View and have the same columns everywhere. It speaks by acts, not in words.
* Networks, one for each number of players, sit at tables without talk, and play over arrays. A network reads the features of a seat
  (`envs/avalon/encode.py`) with the roles in a fixed order, and before them which roles are in play and which one names Merlin. So one
  network learns from tables with different roles. `CloneNetworks.seat` makes an ordinary `TrainedSeat` of it for one table: the columns
  of its roles, and the constant inputs as part of the bias.

NumPy alone; a file holds numbers, no code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon.vocabulary import ROLES, AvalonView
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.registry import lookup
from parlour.envs.settings import Accepts, Settings
from parlour.policies import Policy
from parlour.policies.array_files import layer_arrays, read_arrays, write_arrays
from parlour.policies.files import reading
from parlour.policies.network import softmax
from parlour.policies.trained import TrainedSeat

from parlour_people.cloned.features import COLUMNS, DECISIONS, GROUPS, decision_of, described, group_of
from parlour_people.cloned.record import SeatRecord
from parlour_people.multi_round import GAME as MULTI_ROUND

__all__ = ["CLONE", "ChoiceHead", "ChoiceNetwork", "ClonedPlayer", "is_clone"]

CLONE: Final = "clone"
"""What it is called on the command line."""
GAME: Final = "avalon_v0"
FEATURES: Final = "belief"
"""What the networks see of a table."""
META: Final = "parlour_clone_networks"
_META: Final = "parlour_clone"
_UNUSABLE: Final = "is no cloned player; accepted: a clone.npz of `train clone`"
_I_AM: Final = tuple(f"I am {role}" for role in ROLES)
INPUTS: Final = (*(f"{role} in play" for role in ROLES), *(f"{role} names Merlin" for role in ROLES), *_I_AM)
"""Inputs that come before the features that do not depend on the roles."""

Layers = list[tuple[Any, Any]]
"""(weights of shape (out, in), bias of shape (out,)) from the inputs to the logits."""


class Table(Protocol):
    """What a network knows about a table of Avalon."""

    @property
    def seats(self) -> int: ...
    @property
    def roles(self) -> Sequence[str]: ...
    @property
    def role_names(self) -> Sequence[str]: ...
    @property
    def guesser(self) -> int: ...


def constants(table: Table) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The inputs that stay the same at a table, shape (2 len(ROLES),)."""
    names = table.role_names
    played = [role in names for role in ROLES]
    return np.array([*played, *(role == names[table.guesser] for role in ROLES)], np.float32)


def places(table: Table) -> list[int]:
    """Where the table's own features, which begin with its roles, stand among the inputs after the constants: those roles."""
    return [2 * len(ROLES) + ROLES.index(name) for name in table.role_names]


def inputs_of(table: Table, observed: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What a network reads where seats see this, (B, features) -> (B, inputs)."""
    rows, roles = len(observed), len(table.role_names)
    read = np.zeros((rows, len(INPUTS) + observed.shape[1] - roles), np.float32)
    read[:, : 2 * len(ROLES)] = constants(table)
    read[:, places(table)] = observed[:, :roles]
    read[:, len(INPUTS) :] = observed[:, roles:]
    return read


@dataclass(frozen=True, eq=False)
class CloneNetworks:
    """What was learned from a folder of games."""

    networks: Mapping[int, Layers]
    """By number of players; between the layers stands `relu`."""
    told: Mapping[str, Any]
    """What they were learned from, as plain values."""

    def seat(self, config: Mapping[str, Any], *, sample: bool = True) -> TrainedSeat:
        """The network as a player of one table.

        Args:
            config: The table's configuration.
            sample: Draw from the probabilities; otherwise play the most probable legal move.

        Raises:
            ParlourError: The table has talk, other moves, or a number of players that the networks do not know.
        """
        env = lookup(GAME).raw_env(**config)
        table: Any = env.game
        if table.talk or table.rules.short_teams:
            raise ParlourError(
                "a clone of people who were not heard cannot talk or name short teams; accepted: --set talk=false, with "
                "rules paper or official"
            )
        if table.seats not in self.networks:
            raise accept("players", table.seats, sorted(self.networks))
        (weights, bias), *others = self.networks[table.seats]
        fixed = 2 * len(ROLES)
        first = np.concatenate([weights[:, places(table)], weights[:, len(INPUTS) :]], axis=1)
        layers = [(first, bias + weights[:, :fixed] @ constants(table)), *others]
        features = env.spec.encoder(table).of_seat(FEATURES).size
        if (first.shape[1], len(others[-1][1])) != (features, len(table.catalogue)):
            raise ParlourError(
                "this clone does not know the team sizes of the table; accepted: the team sizes of the boxed game"
            )
        return TrainedSeat(GAME, table.config, layers, features=FEATURES, activation="relu", sample=sample)

    def save(self, path: str | Path) -> None:
        """Write them to a file, in half precision."""
        arrays: dict[str, Any] = {}
        for players, layers in self.networks.items():
            arrays |= layer_arrays(layers, f"{players}.", np.float16)
        shape = {str(players): len(layers) for players, layers in self.networks.items()}
        write_arrays(path, META, {"layers": shape, "told": dict(self.told)}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read networks. Raises `ParlourError` for a file that holds none."""
        with reading(path, "policy file", _UNUSABLE):
            meta, arrays = read_arrays(path, META)
            if any(array.dtype.kind != "f" or not np.isfinite(array).all() for array in arrays.values()):
                raise TypeError("weights that are no finite fractions")
            single = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
            return cls(
                {
                    int(players): [(single[f"{players}.w{k}"], single[f"{players}.b{k}"]) for k in range(count)]
                    for players, count in meta["layers"].items()
                },
                dict(meta["told"]),
            )


@dataclass(frozen=True, eq=False)
class ChoiceHead:
    """How one kind of decision is taken: each legal move is scored by itself; D features, H hidden units.

    The score of a move with the features x, for a seat of the group g, is

        linear[g] . x  +  out . (tanh(hidden x + bias) - tanh(bias))

    so that zeros have the score 0; the chances are the softmax of the scores.

    Raises:
        ParlourError: The shapes do not fit, or a number is not finite.
    """

    linear: NDArray[np.float64]
    """Shape (groups, D)."""
    hidden: NDArray[np.float64]
    """Shape (H, D); H may be 0."""
    bias: NDArray[np.float64]
    """Shape (H,)."""
    out: NDArray[np.float64]
    """Shape (H,)."""

    def __post_init__(self) -> None:
        size, width = self.linear.shape[-1], len(self.out)
        wanted = {"linear": (len(GROUPS), size), "hidden": (width, size), "bias": (width,), "out": (width,)}
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise ParlourError(f"{name} of shape {array.shape} is not accepted; accepted: finite, of shape {shape}")

    def scores(self, rows: NDArray[np.float64], group: int) -> NDArray[np.float64]:
        """Scores of moves: (moves, D) -> (moves,)."""
        between = np.tanh(rows @ self.hidden.T + self.bias) - np.tanh(self.bias)
        scored: NDArray[np.float64] = rows @ self.linear[group] + between @ self.out
        return scored

    def chances(self, rows: NDArray[np.float64], group: int) -> NDArray[np.float64]:
        """Probabilities of moves: (moves, D) -> (moves,)."""
        return softmax(self.scores(rows, group))


@dataclass(frozen=True, eq=False)
class ChoiceNetwork:
    """All heads.

    Raises:
        ParlourError: A kind of decision has no head, or one for other features.
    """

    heads: Mapping[str, ChoiceHead]
    """By decision, one of `DECISIONS`."""
    told: Mapping[str, Any]
    """What it was learned from, as plain values."""

    def __post_init__(self) -> None:
        for kind in DECISIONS:
            check_one_of("decision", kind, self.heads)
            size = self.heads[kind].linear.shape[-1]
            if size != len(COLUMNS[kind]):
                raise ParlourError(f"{kind} with {size} features is not accepted; accepted: {len(COLUMNS[kind])}")

    def save(self, path: str | Path) -> None:
        """Write it to a file, in single precision."""
        columns = {kind: list(COLUMNS[kind]) for kind in DECISIONS}
        arrays = {
            f"{kind}.{of.name}": getattr(self.heads[kind], of.name).astype(np.float32)
            for kind in DECISIONS
            for of in fields(ChoiceHead)
        }
        write_arrays(path, _META, {"columns": columns, "told": dict(self.told)}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> ChoiceNetwork:
        """Read a network. Raises `ParlourError` for a file that holds none, or one for other features."""
        with reading(path, "policy file", _UNUSABLE):
            meta, arrays = read_arrays(path, _META)
            if any(array.dtype.kind != "f" for array in arrays.values()):
                raise TypeError("weights that are no fractions")
            if meta["columns"] != {kind: list(COLUMNS[kind]) for kind in DECISIONS} or not isinstance(
                meta["told"], dict
            ):
                raise TypeError("features of another version")
            heads = {
                kind: ChoiceHead(*(arrays[f"{kind}.{of.name}"].astype(np.float64) for of in fields(ChoiceHead)))
                for kind in DECISIONS
            }
            return cls(heads, meta["told"])


def is_clone(name: str) -> bool:
    """Whether a policy of this name is a clone, whatever its file is called.

    >>> is_clone("clone:runs/clone/clone.npz"), is_clone("clone.npz")
    (True, False)
    """
    return name.partition(":")[0] == CLONE and name != CLONE


class CloneSettings(Settings):
    """What can be set."""

    file: Annotated[str, Accepts("a clone.npz of `train clone`")]
    """A clone.npz of `train clone`."""
    sample: bool = True
    """Draw from the probabilities; otherwise take the most probable move."""


class ClonedPlayer(Policy):
    """Chooses among the legal moves by the network's probabilities. Needs `info="full"`.

    Args:
        network: What it has learned.
        sample: Draw from the probabilities; otherwise take the most probable move.
    """

    name: ClassVar[str] = CLONE
    settings_type: ClassVar[type[Settings]] = CloneSettings
    wants: ClassVar[str] = "view"

    def __init__(self, network: ChoiceNetwork, *, sample: bool = True) -> None:
        super().__init__()
        self.network, self.sample = network, sample
        self._seen: SeatRecord | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._seen = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` at the table of another game."""
        view = info.get("view")
        if not isinstance(view, AvalonView):
            raise ParlourError(f"a clone reads info['view']; accepted: {GAME} with info='full'")
        return int(info["legal"][self._choose(view)])

    def _choose(self, view: AvalonView) -> int:
        if len(view.legal) == 1:
            return 0
        chances = self.chances(view)
        return int(self.rng.choice(len(chances), p=chances)) if self.sample else int(np.argmax(chances))

    def chances(self, view: AvalonView) -> np.ndarray[Any, np.dtype[np.float64]]:
        """How likely it is to make each of `view.legal`, shape (moves,)."""
        if self._seen is None or not self._seen.follows(view):
            self._seen = SeatRecord(view)
        self._seen.read(view)
        head = self.network.heads[decision_of(view.legal)]
        return head.chances(described(view, self._seen), group_of(view))

    @classmethod
    def make(cls, settings: CloneSettings, at: Any) -> Policy:
        """A `ClonedPlayer`, or a `TrainedSeat` where the file holds networks. Raises `ParlourError` at tables that it does not know."""
        check_one_of("game of a clone", at.game, (GAME, MULTI_ROUND.id))
        with reading(settings.file, "policy file", _UNUSABLE), np.load(settings.file) as stored:
            has_networks = META in stored.files
        if has_networks:
            check_one_of("game of networks", at.game, (GAME,))
            return CloneNetworks.load(settings.file).seat(at.config, sample=settings.sample)
        return cls(ChoiceNetwork.load(settings.file), sample=settings.sample)

    def save(self, path: str | Path) -> None:
        """Write the network; `sample` is no part of it."""
        self.network.save(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A player that draws from the network in a file. Raises `ParlourError` as `ChoiceNetwork.load` does."""
        return cls(ChoiceNetwork.load(path))
