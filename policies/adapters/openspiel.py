"""OpenSpiel's players at our tables: their policies, their bots, and a solved table read from a file.

Nothing here needs `open_spiel` to be installed: what comes from there is handed in, and a file of probabilities is
played with numpy alone. Ours as their bots: `parlour.policies.adapters.openspiel_bot`.

What a seat may know is all that their players get: `SeatState` answers from the seat's View, with the same strings and
numbers as `parlour.wrappers.openspiel.game` has for that seat, and refuses everything else. Bots that search through whole
states get a state drawn from all states that the seat cannot distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.adapters.turn import infoset
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.policies.adapters.settings import OpenSpielSettings
from parlour.policies.array_files import read_arrays, write_arrays
from parlour.policies.base import Policy, TablePolicy
from parlour.policies.files import reading
from parlour.policies.seating import Seating

_META: Final = "parlour_openspiel"
_DIGEST: Final = 16
_NEEDED: Final = "a player that asks for legal actions and what a seat knows; or pass game=, for states to search in"


class SeatState:
    """What one seat may know when it is to move, in the terms of a `pyspiel.State`."""

    def __init__(self, observation: Mapping[str, Any], info: Mapping[str, Any], own: Sequence[int]) -> None:
        self._observation, self._info, self._own = observation, info, tuple(own)
        self._seat: int = info["view"].seat

    def current_player(self) -> int:
        """The seat; only it is ever asked."""
        return self._seat

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Numbers of the legal actions, ascending; nobody else has any."""
        return [int(number) for number in self._info["legal"]] if player in (None, self._seat) else []

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """1 for each legal action, by number."""
        mask = self._info["action_mask"]
        return [int(flag) for flag in mask] if player in (None, self._seat) else [0] * len(mask)

    def num_distinct_actions(self) -> int:
        """How many actions the game has."""
        return len(self._info["action_mask"])

    def information_state_string(self, player: int | None = None) -> str:
        """What the seat knows, as one line."""
        self._check(player)
        return infoset(self._info["view"], self._own)

    observation_string = information_state_string

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """The features of what the seat knows."""
        self._check(player)
        return [float(value) for value in self._observation["observation"]]

    def action_to_string(self, *player_and_action: int) -> str:
        """The canonical sentence of a legal action; the player's name may come before it."""
        self._check(player_and_action[0] if len(player_and_action) > 1 else None)
        return str(self._info["options"][self.legal_actions().index(player_and_action[-1])])

    def is_terminal(self) -> bool:
        """No: it is the seat's turn."""
        return False

    is_chance_node = is_simultaneous_node = is_mean_field_node = is_terminal

    def is_player_node(self) -> bool:
        """Yes."""
        return True

    def _check(self, player: int | None) -> None:
        if player not in (None, self._seat):
            raise accept("player", player, f"{self._seat}, whose turn it is: a seat knows nothing of the others")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ParlourError(f"state.{name} is more than a seat may know; accepted: {_NEEDED}")


class OpenSpielPolicy(Policy):
    """A policy or a bot of OpenSpiel's in a seat.

    Args:
        make: Called with seat and seed at the beginning of each game: makes an object with
            `action_probabilities(state, player)`, as `open_spiel.python.policy.Policy` has, or with `step(state)`, as a
            `pyspiel.Bot` has. A policy without memory may be the same one each time.
        game: The table as `openspiel_game` makes it, for bots that search through states (IS-MCTS). They are handed a
            state drawn from those that the seat cannot distinguish, with the probabilities of `parlour.wrappers.determinizations`;
            what it holds beyond the seat's knowledge is made up. A bot that does not search must not be given it.
    """

    name: ClassVar[str] = "openspiel"
    wants: ClassVar[str] = "features"

    def __init__(self, make: Callable[[int, int], Any], game: Any = None) -> None:
        super().__init__()
        self._make, self._game = make, game
        self._player: Any = None
        self._own: list[int] = []

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._own = []
        self._player = self._make(seat, int(self.rng.integers(2**31)))

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the player asks for more than a seat may know, or answers with no legal action."""
        if self._game is None:
            state: Any = SeatState(observation, info, self._own)
        else:
            state = self._game.sample_state(info["view"], self._own, float(self.rng.random()))
        if hasattr(self._player, "action_probabilities"):
            chances = self._player.action_probabilities(state, self.seat)
            share = np.array([chances.get(number, 0.0) for number in info["legal"]], dtype=np.float64)
            action = int(self.rng.choice(info["legal"], p=share / share.sum()))
        else:
            action = self._step(state)
        check_one_of("action", action, info["legal"])
        self._own.append(action)
        return action

    def _step(self, state: Any) -> int:
        try:
            return int(self._player.step(state))
        except TypeError:
            if self._game is None:  # bots of the C++ library take nothing but a whole state
                raise ParlourError(f"{type(self._player).__name__} takes whole states; accepted: {_NEEDED}") from None
            raise


class TabularSeat(TablePolicy):
    """Plays by a table of probabilities, one row for each information set; where there is none, uniformly.

    Args:
        game: Registry name of the game.
        config: Its configuration, as `game.config`.
        rows: Digest of an information set -> probabilities of the legal actions, ascending by number.
    """

    name: ClassVar[str] = "openspiel"
    wants: ClassVar[str] = "view"
    origin: ClassVar[str] = "the policy was solved for"

    def __init__(self, game: str, config: Mapping[str, Any], rows: Mapping[bytes, Sequence[float]]) -> None:
        super().__init__()
        self.game, self.config, self.rows = game, dict(config), dict(rows)
        self.table = game, self.config
        self.asked = self.unknown = 0
        """How often it was asked, and how often its table had no row."""
        self._own: list[int] = []

    @classmethod
    def make(cls, settings: OpenSpielSettings, at: Seating) -> Self:
        return cls.load_for(settings.file, at.game, at.config)

    @classmethod
    def of(cls, game: str, config: Mapping[str, Any], policy: Any) -> Self:
        """From a policy of OpenSpiel's (see `probabilities`), or from rows by information set."""
        rows = policy if isinstance(policy, Mapping) else probabilities(policy)
        return cls(game, config, {digest(known): row for known, row in rows.items()})

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._own = []

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the table is of another game."""
        legal = info["legal"]
        row = self.rows.get(digest(infoset(info["view"], self._own)))
        self.asked += 1
        self.unknown += row is None
        if row is None:
            action = int(legal[int(self.rng.integers(len(legal)))])
        else:
            if len(row) != len(legal):
                raise ParlourError(f"{len(row)} probabilities; accepted: one for each of {len(legal)} legal actions")
            share = np.asarray(row, dtype=np.float64)
            action = int(self.rng.choice(legal, p=share / share.sum()))
        self._own.append(action)
        return action

    def save(self, path: str | Path) -> None:
        """Write an .npz file: `keys` (rows, 16) bytes, `starts` (rows + 1), `probabilities`, one after another."""
        keys = np.frombuffer(b"".join(self.rows), dtype=np.uint8).reshape(-1, _DIGEST)
        starts = np.cumsum([0, *(len(row) for row in self.rows.values())])
        flat = np.array([p for row in self.rows.values() for p in row], dtype=np.float32)
        meta = {"policy": self.name, "game": self.game, "config": self.config}
        arrays = {"keys": keys, "starts": starts, "probabilities": flat}
        write_arrays(path, _META, meta, arrays, compressed=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote. Raises `ParlourError` for another file."""
        with reading(path, "policy file", "is no table of probabilities; accepted: what `save` wrote"):
            meta, stored = read_arrays(path, _META)
            keys, starts, flat = (stored[part] for part in ("keys", "starts", "probabilities"))
            rows = {keys[k].tobytes(): flat[starts[k] : starts[k + 1]] for k in range(len(keys))}
            return cls(meta["game"], meta["config"], rows)


def digest(known: str) -> bytes:
    """The key of an information set in a table."""
    return blake2b(known.encode(), digest_size=_DIGEST).digest()


def probabilities(policy: Any) -> dict[str, Sequence[float]]:
    """The rows of a policy of OpenSpiel's: information set -> probabilities of the legal actions, ascending.

    Args:
        policy: A `TabularPolicy`, or the average policy of an MCCFR solver of the Python library. For the latter, a
        private attribute is read: open_spiel 2.0.2 offers no other access to its rows.

    Raises:
        ParlourError: It is neither.
    """
    if hasattr(policy, "state_lookup"):
        masks, shares = policy.legal_actions_mask, policy.action_probability_array
        return {known: shares[k][masks[k] > 0].tolist() for known, k in policy.state_lookup.items()}
    if hasattr(policy, "_infostates"):
        return {known: (total / total.sum()).tolist() for known, (_, total) in policy._infostates.items()}
    raise accept("policy", type(policy).__name__, "a TabularPolicy, or the average policy of an MCCFR solver")
