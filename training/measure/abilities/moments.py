"""The moments at which seats are asked what they believe: the first decision of each good seat after each quest.

The question is put beside play, to recorded games: it costs no move, and every player can be asked at the same moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits
from parlour.envs.avalon.vocabulary import EVIL, EVIL_ROLES, GOOD
from parlour.envs.english import name
from parlour.envs.replay import text_of
from parlour.envs.text import render
from parlour.policies.experts import expert
from parlour.policies.search.deduction import Deduction
from parlour.training.measure.analysis.beliefs import opening_belief
from parlour.training.measure.analysis.games import AnalysedGame, Moment
from parlour.training.play import seeds

OPPONENT: Final = " (opponent)"
"""Behind the names of a benchmark's opponents."""
_DRAWS: Final = 11  # what the seed of the posterior is derived for


@dataclass(frozen=True)
class BeliefMoment:
    """A seat that is asked."""

    game: str
    """Name of the transcript."""
    table: tuple[str, Mapping[str, Any]]
    """The game's id and its configuration."""
    by_player: bool
    """Whether the seat is the measured player's; else an opponent's."""
    opponent: str
    """Who sat on the other side of the measured player."""
    seat: int
    seed: int
    text: str
    """What the seat reads."""
    info: Mapping[str, Any]
    """As `Policy.state_belief` takes it."""
    truth: tuple[bool, ...]
    """Whether each of the other seats is evil."""
    prior: tuple[float, ...]
    """How likely each of the others is to be evil, according to what the night showed the seat."""
    exact: tuple[float, ...]
    """By the exact posterior of what the seat saw (`Deduction`); empty until it is computed."""

    def others(self, chances: Iterable[float]) -> tuple[float, ...]:
        """Chances of all seats without the own one."""
        return tuple(chance for seat, chance in enumerate(chances) if seat != self.seat)


def is_players(game: AnalysedGame, seat: int) -> bool:
    """Whether a seat was the measured player's. The header names who sat where."""
    return not names_of(game)[seat].endswith(OPPONENT)


def who_sat(game: AnalysedGame, seat: int) -> str:
    """The name of the policy in a seat, the player's or an opponent's."""
    return names_of(game)[seat].removesuffix(OPPONENT)


def opponent_of(game: AnalysedGame) -> str:
    """Who sat on the other side of the measured player; empty if nobody did."""
    return next((who.removesuffix(OPPONENT) for who in names_of(game) if who.endswith(OPPONENT)), "")


def names_of(game: AnalysedGame) -> list[str]:
    """Who sat in each seat, opponents with `OPPONENT` behind their names."""
    players = game.transcript.header["players"]
    return [str(players[name(seat)]) for seat in range(game.seats)]


def belief_moments(games: Iterable[AnalysedGame], counted: Callable[[AnalysedGame], None]) -> Iterator[BeliefMoment]:
    """The moments of some games at tables that have an expert.

    Args:
        games: Games of a benchmark.
        counted: Called after each game.

    Raises:
        ParlourError: A table has no expert, or no array tables.
    """
    deductions: dict[str, Deduction] = {}
    for game in games:
        config = dict(game.rules.config)
        key = repr(sorted(config.items()))
        if key not in deductions:
            deductions[key] = Deduction(expert(game.transcript.header["game"], config), EVIL)
        for moment in _asked(game):
            yield _moment(game, moment, deductions[key])
        counted(game)


def _asked(game: AnalysedGame) -> Iterator[Moment]:
    """The first decision of each good seat after each quest."""
    quests = dict.fromkeys(range(game.seats), 0)
    for moment in game.moments():
        view = moment.view
        if view.side == GOOD and view.quest > quests[view.seat]:
            quests[view.seat] = view.quest
            yield moment


def _moment(game: AnalysedGame, moment: Moment, deduction: Deduction) -> BeliefMoment:
    view, text = moment.view, text_of(game.transcript)
    seed = int(game.transcript.header["seed"])
    rng = np.random.default_rng(seeds.derive(seed, _DRAWS))
    info = {
        "view": view,
        "heuristic": game.transcript.spec.heuristic,
        "rules": getattr(text, "rules", ""),
        "side": EVIL,
        "members": sum(role in EVIL_ROLES for role in view.roles),
        "seats": game.seats,
    }

    def others(chances: Iterable[float]) -> tuple[float, ...]:
        return tuple(float(chance) for seat, chance in enumerate(chances) if seat != view.seat)

    return BeliefMoment(
        game=game.name,
        table=(game.transcript.header["game"], dict(game.rules.config)),
        by_player=is_players(game, view.seat),
        opponent=opponent_of(game),
        seat=view.seat,
        seed=seed,
        text=render(text, view),
        info=info,
        truth=tuple(seat in game.evil for seat in range(game.seats) if seat != view.seat),
        prior=others(opening_belief(game, view.seat, AvalonHabits()).evil_chance()),
        exact=others(deduction.chances([view], rng)[0]),
    )
