"""Recorded games of Avalon and Werewolf as their claims are judged: who may be evil, the facts that seats learn, what was said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.training.measure.avalon.games import AnalysedGame

from parlour_bench.abilities.consistency import Fact, Mask, Said, SpokenGame, evil_deals
from parlour_bench.abilities.seated import names_of
from parlour_bench.abilities.werewolf_games import PlayedWerewolf


def spoken_avalon(game: AnalysedGame) -> SpokenGame:
    """A game of Avalon."""
    deals = evil_deals(game.seats, len(game.evil))
    return SpokenGame(
        players=tuple(names_of(game)),
        roles=game.roles,
        role_names=tuple(game.rules.role_names),
        evil_roles=avalon.EVIL_ROLES,
        checker="",
        deals=deals,
        night={seat: _after_night(game, seat, deals) for seat in range(game.seats) if seat not in game.evil},
        course=tuple(_avalon_course(game, deals)),
    )


def _after_night(game: AnalysedGame, seat: int, deals: Mask) -> Mask:
    possible = np.unique(game.opening_belief(seat, AvalonHabits()).evil.astype(bool), axis=0)
    fits: Mask = (deals[:, None] == possible).all(axis=2).any(axis=1)
    return fits


def _avalon_course(game: AnalysedGame, deals: Mask) -> Iterator[Fact | Said]:
    team: tuple[int, ...] = ()
    for event in game.log:
        kind, args, _ = event.move
        if kind in (avalon.TEAM, avalon.DRAWN):
            team = args
        elif kind == avalon.FAILS:
            least = 0 if game.rules.rules.good_may_fail else args[1]
            yield Fact(deals[:, list(team)].sum(axis=1) >= least)
        elif kind in avalon.ACTS and event.to is None:
            yield Said(event.seat, event.move)


def spoken_werewolf(game: PlayedWerewolf) -> SpokenGame:
    """A game of Werewolf."""
    roles = game.roles
    deals = evil_deals(len(roles), roles.count(werewolf.WEREWOLF))
    return SpokenGame(
        players=tuple(names_of(game)),
        roles=roles,
        role_names=tuple(game.rules.role_names),
        evil_roles=(werewolf.WEREWOLF,),
        checker=werewolf.SEER,
        deals=deals,
        night={seat: ~deals[:, seat] for seat, role in enumerate(roles) if role != werewolf.WEREWOLF},
        course=tuple(_werewolf_course(game, deals)),
    )


def _werewolf_course(game: PlayedWerewolf, deals: Mask) -> Iterator[Fact | Said]:
    for event in game.states[-1].log:
        kind, args, _ = event.move
        if kind == werewolf.REVEALED:
            yield Fact(deals[:, args[0]] == (game.rules.role_names[args[1]] == werewolf.WEREWOLF), event.to)
        elif kind == werewolf.CHECKED:
            yield Fact(deals[:, args[0]] == bool(args[1]), event.to)
        elif kind in (werewolf.DAWN, werewolf.EXECUTED):
            yield Fact(np.ones(len(deals), bool))
        elif kind in (*werewolf.ACTS, speech.RECOMMEND) and event.to is None and event.seat >= 0:
            yield Said(event.seat, event.move)
