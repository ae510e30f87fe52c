"""`deeprole:FILE`: DeepRole (Serrino et al. 2019, "Finding Friend and Foe in Multi-Agent Games", arXiv 1906.02330), from its paper.

It plays five-player Avalon with Merlin, the Assassin and a Minion, `official` rules, without talk. At each proposal it solves the
game up to the next one by CFR+ for all views of all seats at once (`solver.py`); what follows is valued by networks (`values.py`).
The solutions also say how likely everybody's moves were in each of the 60 deals (`public.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.envs.settings import Accepts, Settings
from parlour.policies.base import TablePolicy
from pydantic import Field

from parlour_deeprole import DEEPROLE, public
from parlour_deeprole.config import GAME
from parlour_deeprole.deals import MERLIN, SEATS, VIEW, view_of
from parlour_deeprole.public import Public, Solver
from parlour_deeprole.values import STANDINGS, ValueNetworks

TABLE: Final[Mapping[str, Any]] = {"num_players": SEATS, "rules": "official", "roles": DEEPROLE, "talk": False}
"""Options of the only table that it plays at."""


class DeepRoleSettings(Settings):
    """What can be set."""

    file: Annotated[str, Accepts("the deeprole.npz of `train deeprole`")]
    """The value networks, `deeprole.npz` of `train deeprole`."""
    iterations: int = Field(default=40, ge=3)
    """CFR+ iterations at each proposal."""
    slip: float = Field(default=0.05, ge=0.0001, le=1)
    """Share of everybody's moves that beliefs take for random ones."""


class DeepRolePlayer(TablePolicy):
    """Plays the average strategy of CFR+. Needs `info="full"`, and Numba (extra `batch`).

    Args:
        solver: Solves proposals; players may share it.
        chosen: The settings.
    """

    name: ClassVar[str] = DEEPROLE
    wants: ClassVar[str] = "view"
    origin: ClassVar[str] = "deeprole plays"
    settings_type: ClassVar[type[Settings]] = DeepRoleSettings

    def __init__(self, solver: Solver, chosen: DeepRoleSettings) -> None:
        super().__init__()
        self.chosen, self._solver = chosen, solver
        self.table = GAME, lookup(GAME).raw_env(**TABLE).game.config

    @classmethod
    def make(cls, settings: DeepRoleSettings, at: Any) -> Self:
        file = Path(settings.file)
        written = file.stat().st_mtime_ns if file.exists() else 0
        player = cls(_solver(settings.file, settings.iterations, settings.slip, written), settings)
        player.check_table(at.game, at.config)
        return player

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if `info` holds no View of Avalon."""
        view = info.get("view")
        if not isinstance(view, AvalonView):
            raise ParlourError(f"{DEEPROLE} reads info['view']; accepted: {GAME} with info='full'")
        chances = self.chances(view) if len(view.legal) > 1 else np.ones(1)
        return int(info["legal"][int(self.rng.choice(len(chances), p=chances))])

    def chances(self, view: AvalonView) -> np.ndarray[Any, Any]:
        """How likely it is to make each of `view.legal`, float64 (moves,)."""
        seen = public.read(view.events)
        by_kind = {
            avalon.TEAM: self._team,
            avalon.BALLOT: self._ballot,
            avalon.CARD: self._card,
            avalon.GUESS: self._guess,
        }
        weights = np.array(by_kind[view.legal[0].kind](view, seen), np.float64)
        weights /= weights.sum()
        return weights

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    # -- inside ------------------------------------------------------------------------------------------------

    def _team(self, view: AvalonView, seen: Public) -> list[float]:
        _, solution = self._solver.at(seen.past)
        numbers = [public.team_number(move.args, view.seat) for move in view.legal]
        return [float(solution.teams[_own(view), place]) for place in numbers]

    def _ballot(self, view: AvalonView, seen: Public) -> list[float]:
        _, solution = self._solver.at(seen.past)
        seat = (view.seat - seen.leader) % SEATS
        return _two(view, avalon.APPROVE, float(solution.approvals[seen.number, seat, _own(view)]))

    def _card(self, view: AvalonView, seen: Public) -> list[float]:
        _, solution = self._solver.at(seen.past)
        place = sorted((seat - seen.leader) % SEATS for seat in seen.team).index((view.seat - seen.leader) % SEATS)
        return _two(view, avalon.FAIL, float(solution.fails[seen.number, seen.votes_number, place, _own(view)]))

    def _guess(self, view: AvalonView, seen: Public) -> list[float]:
        leader = (seen.leader + 1) % SEATS  # in whose frame the belief is
        belief = self._solver.belief(seen.past) * (VIEW[(view.seat - leader) % SEATS] == _own(view))
        named = [belief[(move.args[0] - leader) % SEATS == MERLIN].sum() for move in view.legal]
        return [float(share == max(named)) for share in named]


@lru_cache(maxsize=4)
def _solver(file: str, iterations: int, slip: float, _written: int) -> Solver:
    """A solver that all players of this file share: the proposals of a game are the same for all seats."""
    networks, whole = ValueNetworks.load(file), STANDINGS[:-1]
    if not networks.networks.keys() >= {*whole}:  # the run that wrote them is unfinished
        raise ParlourError(f"{file!r} has {len(networks.networks)} value networks; accepted: all {len(whole)}")
    return Solver(networks, iterations, slip)


def _own(view: AvalonView) -> int:
    """The number of what the seat was shown in the night; see `deals.view_of`."""
    if view.role == avalon.SERVANT:
        return 0
    others = sorted(seat for knowledge in view.knows for seat in knowledge.seats)
    seats = {avalon.MERLIN: (view.seat, *others), avalon.ASSASSIN: (-1, view.seat, *others)}
    return view_of(view.seat, seats.get(view.role, (-1, *others, view.seat)))


def _two(view: AvalonView, move: Any, probability: float) -> list[float]:
    """Of two moves, of which `move` has this probability."""
    return [probability if option == move else 1 - probability for option in view.legal]
