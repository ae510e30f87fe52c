"""The moments at which seats are asked what they believe: the first decision of each good seat after each quest or execution.

The question is put beside play, to recorded games: it costs no move, and every player can be asked at the same moments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.avalon.vocabulary import EVIL, GOOD, AvalonView
from parlour.envs.language.text import render
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.search.particles import Deduction
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.play import seeds

from parlour_bench.abilities.seated import OPPONENT, names_of
from parlour_bench.abilities.stated import BeliefMoment
from parlour_bench.abilities.werewolf_games import PlayedWerewolf
from parlour_bench.suite import network_at

Game = AnalysedGame | PlayedWerewolf
_DRAWS: Final = 11  # what the seed of the posterior is derived for


def opponent_of(game: Game) -> str:
    """Who sat on the other side of the measured player; empty if nobody did."""
    return next((who.removesuffix(OPPONENT) for who in names_of(game) if who.endswith(OPPONENT)), "")


def belief_moments(games: Iterable[AnalysedGame]) -> Iterator[BeliefMoment]:
    """The moments of some games of a benchmark, at tables that have an expert.

    Raises:
        ParlourError: A table has no expert, or no array tables.
    """
    deductions: dict[str, Deduction] = {}
    for game in games:
        config = dict(game.rules.config)
        key = repr(sorted(config.items()))
        if key not in deductions:
            deductions[key] = Deduction(network_at(game.transcript.header["game"], config), EVIL)
        evil = [seat in game.evil for seat in range(game.seats)]
        rng_seed = seeds.derive(int(game.transcript.header["seed"]), _DRAWS)
        for view in _asked(game):
            prior = game.opening_belief(view.seat, AvalonHabits()).evil_chance()
            exact = deductions[key].chances([view], np.random.default_rng(rng_seed))[0]
            yield _moment(game, view, EVIL, evil, prior, exact)


def _asked(game: AnalysedGame) -> Iterator[AvalonView]:
    """The first decision of each good seat after each quest."""
    quests = dict.fromkeys(range(game.seats), 0)
    for _, view, _ in game.moments():
        if view.side == GOOD and view.quest > quests[view.seat]:
            quests[view.seat] = view.quest
            yield view


def _moment(
    game: Game,
    view: AvalonView | WerewolfView,
    side: str,
    evil: Sequence[bool],
    prior: Iterable[float],
    exact: Iterable[float] = (),
) -> BeliefMoment:
    """The moment at which a seat sees a View. Members of a side and probabilities are given for all seats."""
    players, text, header = names_of(game), game.transcript.spec.text(game.transcript.game()), game.transcript.header

    def others(values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(value for seat, value in enumerate(values) if seat != view.seat)

    return BeliefMoment(
        game=game.name,
        table=(header["game"], dict(game.rules.config)),
        by_player=not players[view.seat].endswith(OPPONENT),
        opponent=opponent_of(game),
        seat=view.seat,
        seed=int(header["seed"]),
        text=render(text, view),
        info={
            "view": view,
            "heuristic": game.transcript.spec.heuristic,
            "rules": text.rules,
            "side": side,
            "members": sum(evil),
            "seats": len(evil),
        },
        truth=others(evil),
        prior=others(map(float, prior)),
        exact=others(map(float, exact)),
    )


def village_moments(games: Iterable[PlayedWerewolf]) -> Iterator[BeliefMoment]:
    """The moments of some games of a benchmark, in the order of the games; exact posteriors are not computed (`with_exact`)."""
    for game in games:
        evil = [role == werewolf.WEREWOLF for role in game.roles]
        for view in _asked_in_village(game):
            prior = SeatBeliefs(view, onlooker=False).own.wolf_chance()
            yield _moment(game, view, werewolf.WOLVES, evil, prior)


def _asked_in_village(game: PlayedWerewolf) -> Iterator[WerewolfView]:
    """The first decision of each seat of the village after each execution."""
    days = dict.fromkeys(range(len(game.roles)), 0)
    for state in game.states[:-1]:
        seat = state.actor
        if seat < 0 or game.roles[seat] == werewolf.WEREWOLF:
            continue
        view: WerewolfView = game.rules.view(state, seat)
        executed = sum(event.move.kind == werewolf.EXECUTED for event in view.events)
        if executed > days[seat]:
            days[seat] = executed
            yield view
