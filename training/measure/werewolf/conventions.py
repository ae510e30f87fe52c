"""Conventions of Werewolf: claims, and public reports of checks.

- *Claims known to be false*: the speaker does not hold the role, has not seen that result, or accuses or defends somebody whose side it
  knows otherwise: from its own check, from a role that was shown, or as a werewolf. A wrong guess is none of these.
- *Reports of no check*: the speaker has not seen that result, whether it is right or not.
- A Seer's *first true reports*: of results that he has seen and not reported before. All his other reports are *repeated or false*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from parlour.envs.core import NATURE, Move
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, DEFEND, REPORT
from parlour.envs.werewolf.belief import NEVER, NO_TARGET, SeatBeliefs, WerewolfHabits
from parlour.envs.werewolf.vocabulary import (
    CHECKED,
    HUNTER_SHOWN,
    REVEALED,
    SEER,
    WEREWOLF,
    WOLVES,
    WerewolfView,
    known_wolves,
)
from parlour.training.measure.conventions import Cases, LiteralListener, of_seat, words

_USUAL: Final = WerewolfHabits()
LITERAL: Final = replace(
    _USUAL,
    wolf_accuses_wolf=_USUAL.accuses_wolf,
    wolf_defends_wolf=_USUAL.defends_wolf,
    **dict.fromkeys(("wolf_reports", "other_reports", "wolf_claims", "other_claims"), NEVER),
)
"""All accuse and defend as the village does; who reports a check is the Seer, and who claims a power has it."""


def in_werewolf(views: Sequence[WerewolfView], seat: int) -> Cases:
    """What a seat did in a game, by the last View of every seat."""
    view = views[seat]
    beliefs = SeatBeliefs(view, LITERAL)
    belief = beliefs.onlooker
    assert belief is not None, "an onlooker is followed"
    true = (belief.wolf == [of.side == WOLVES for of in views]).all(axis=1)
    true &= belief.seer == next((of.seat for of in views if of.role == SEER), NO_TARGET)
    listener = LiteralListener(belief, lambda event: beliefs.see(event, view), true)
    said = list(words(views, seat, view.role_names, WOLVES, listener))
    yield from said
    if said:
        yield from _known_false(view)
        yield from _reports(view)


def _known_false(view: WerewolfView) -> Cases:
    wolves, checked = known_wolves(view), set[tuple[int, ...]]()
    evil = {seat: seat in wolves for seat in range(len(view.alive))} if wolves else {}
    for event in view.events:
        kind, args, _ = event.move
        if event.seat == NATURE:
            checked |= {args[:2]} if kind == CHECKED else set()
            evil |= _shown(event.move, view)
        elif event.seat == view.seat and event.to is None and kind in (ACCUSE, DEFEND, CLAIM_ROLE, REPORT):
            if kind == CLAIM_ROLE:
                false = view.role_names[args[0]] != view.role
            else:
                false = args not in checked if kind == REPORT else evil.get(args[0]) is (kind == DEFEND)
            yield from of_seat(view, "claims known to be false", false)


def _shown(move: Move, view: WerewolfView) -> dict[int, bool]:
    """Which seats an announcement shows to be werewolves, or not."""
    kind, args, _ = move
    if kind == CHECKED:
        return {args[0]: args[1] == 1}
    if kind == REVEALED:
        return {args[0]: view.role_names[args[1]] == WEREWOLF}
    return {args[0]: False} if kind == HUNTER_SHOWN else {}


def _reports(view: WerewolfView) -> Cases:
    checked: set[tuple[int, ...]] = set()
    reported: set[tuple[int, ...]] = set()
    reports = first = 0
    for event in view.events:
        kind, args, _ = event.move
        if event.seat == NATURE and kind == CHECKED:
            checked.add(args[:2])  # a role may follow
        elif event.seat == view.seat and kind == REPORT:
            reports += 1
            first += args in checked - reported
            reported.add(args)
            yield from of_seat(view, "reports of no check", args not in checked)
    yield from of_seat(view, "reports a game", reports)
    if view.role == SEER:
        yield "first true reports a game", f"role: {SEER}", first
        yield "repeated or false reports a game", f"role: {SEER}", reports - first
