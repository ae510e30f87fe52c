"""Werewolf by heuristic: believe by Bayes (`parlour.envs.werewolf.belief`), then do what a sensible player of that side does.

It uses `info["view"]` alone; for the moves see the card of `werewolf_v0`.

How a werewolf lies is one rule, whatever a player makes of the others; it is of parlour's own. With chance `deceit` a werewolf's words
are a lie, and its vote is one cast for show. Lies: it counters a claim to be the seer with its own claim. It clears a suspected fellow
with an invented check. Otherwise it frames the player with the most trust: with an invented check, or with an accusation if a fellow
is the false seer. The vote goes with the village, fellows included, until the werewolves are few votes short of a majority; then it
turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import ClassVar, Final, NamedTuple

import numpy as np
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.hidden_roles.bidding import BID, HIGHEST_BID
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import Array, SeatBeliefs, WerewolfHabits
from parlour.envs.werewolf.habits import read_werewolf_habits
from parlour.envs.werewolf.vocabulary import WerewolfView, known_wolves
from parlour.policies.heuristic.stated import stated_in_werewolf

SHORT: Final = 1
"""By how many the village may outnumber the werewolves when they stop voting with it."""


class Liar(NamedTuple):
    """The knowledge that a lying werewolf uses; all players it names are alive."""

    trusted: int
    """The villager with the most trust at the table."""
    rivals: Sequence[int]
    """Who of the village claims to see, latest last."""
    suspected: int | None
    """A fellow under suspicion."""
    told: Collection[int]
    """Players on which it has reported."""
    fellow_sees: bool
    """Whether another werewolf claims to see."""


def lies(given: Liar) -> list[Move]:
    """What it says: wishes, the best first.

    >>> [(one.kind, one.args) for one in lies(Liar(trusted=3, rivals=(4,), suspected=1, told=(), fellow_sees=False))]
    [('report', (4, 1)), ('report', (1, 0)), ('report', (3, 1)), ('accuse', (3,))]
    """
    rivals = list(reversed(given.rivals))
    if given.fellow_sees:
        return [Move(speech.ACCUSE, (rival,)) for rival in (*rivals[:1], given.trusted)]
    checks = [(rival, 1) for rival in rivals]
    checks += [] if given.suspected is None else [(given.suspected, 0)]
    checks.append((given.trusted, 1))
    reports = [Move(speech.REPORT, check) for check in checks if check[0] not in given.told]
    return [*reports, Move(speech.ACCUSE, (given.trusted,))]


def turns(wolves: int, villagers: int) -> bool:
    """Whether it is late enough for werewolves to vote as such, by how many of both live.

    >>> turns(wolves=3, villagers=5), turns(wolves=3, villagers=4)
    (False, True)
    """
    return villagers <= wolves + SHORT


ACCUSES: Final = 0.45
"""Least chance of being a werewolf at which a villager accuses."""
VOTES: Final = 1.05
"""How many times the mean chance of the others the most suspicious one must have to be voted for."""
POISONS: Final = 0.75
LETS_DIE: Final = 0.7
SHOOTS: Final = 0.5
"""Least chance of being a werewolf at which the hunter shoots."""
PRESSED: Final = 2
LIES: Final = 0.15
"""How often a werewolf invents a check, unless one of them has claimed to see; if it does not, it accuses or defends."""
ACCUSES_AS_WOLF: Final = 0.6
"""Below which draw it accuses, where LIES is the bar for inventing."""


class WerewolfPlayer:
    """One seat of one game."""

    read_habits = staticmethod(read_werewolf_habits)
    """Reads a file of habits, for tables of all sizes."""
    lies: ClassVar[bool] = True
    """Whether it takes `deceit`."""

    def __init__(
        self, view: WerewolfView, rng: np.random.Generator, habits: WerewolfHabits | None = None, deceit: float = 0.0
    ) -> None:
        self._rng, self._deceit = rng, deceit
        self._me: int = view.seat
        self._wolves = known_wolves(view)
        # what an onlooker thinks: the werewolves mind how everybody looks
        self._beliefs = SeatBeliefs(view, habits, onlooker=bool(self._wolves))
        self.belief, self.onlooker = self._beliefs.own, self._beliefs.onlooker
        self._seen = 0
        self._victim = -1
        self._accusers: set[int] = set()
        self._told: set[int] = set()
        self._rivals: list[int] = []
        """Who claimed to be the seer, or told of a check, and is not this seat; latest last."""
        self._proposed: list[int] = []

    def act(self, view: WerewolfView) -> Move:
        """The move, one of `view.legal`."""
        self._read(view)
        kinds = {move.kind for move in view.legal}
        if speech.RECOMMEND in kinds:
            return _first([Move(speech.RECOMMEND, (self._prey(view),))], view)
        if speech.SILENT in kinds:
            wishes = self._speech_as_wolf(view) if self._wolves else self._speech(view)
            return _first(wishes, view)
        if BID in kinds:
            return Move(BID, (self._bid(view),))
        return _first(self._secret(view, view.legal[0].kind), view)

    def _bid(self, view: WerewolfView) -> int:
        """Most to report a check or to answer a charge; 1 to speak for the first time today; else it listens."""
        today = list(takewhile(lambda event: event.move.kind != game.DAY, reversed(view.events)))
        spoken = any(event.seat == self._me for event in today)
        answers = (
            bool(today) and today[0].move.kind in (speech.ACCUSE, speech.REPORT) and today[0].move.args[0] == self._me
        )
        if answers or (not self._wolves and self._to_tell(view)):
            return HIGHEST_BID
        return 0 if spoken else 1

    def _secret(self, view: WerewolfView, kind: str) -> list[Move]:
        """What is done by night, or voted: wishes, the best first."""
        if kind == game.KILL:
            return [Move(game.KILL, (self._prey(view),))]
        if kind == game.HEALS:
            saves = self._victim == self._me or bool(self.belief.wolf_chance()[self._victim] < LETS_DIE)
            return [Move(game.HEALS, (int(saves),))]
        decide = {
            game.GUARDS: self._protect,
            game.POISONS: self._poison,
            game.CHECKS: self._check,
            game.BALLOT: self._vote,
            game.SHOOTS: self._shoot,
        }
        return decide[kind](view)

    def suspicions(self, view: WerewolfView) -> list[float]:
        """How likely each seat is to be a werewolf, as it states it."""
        return stated_in_werewolf(view, self.belief.habits)

    # -- reading the events ------------------------------------------------------------------------------------

    def _read(self, view: WerewolfView) -> None:
        for event in view.events[self._seen :]:
            self._beliefs.see(event, view)
            if event.seat == NATURE:
                self._hear(event.move)
            elif event.to is None:
                self._listen(event, view)
            elif event.seat != self._me and event.move.kind in (speech.RECOMMEND, game.KILL) and event.move.args:
                self._proposed.append(event.move.args[0])
        self._seen = len(view.events)

    def _hear(self, move: Move) -> None:
        """The moderator speaks."""
        if move.kind == game.ATTACKED:
            self._victim = move.args[0] if move.args else -1
        elif move.kind == game.DAY:
            self._accusers.clear()
            self._proposed.clear()

    def _listen(self, event: Event, view: WerewolfView) -> None:
        """A player speaks."""
        seat, (kind, args, _), _ = event
        if kind in (speech.ACCUSE, speech.REPORT) and args[0] == self._me:
            self._accusers.add(seat)
        sees = kind == speech.REPORT or (kind == speech.CLAIM_ROLE and view.role_names[args[0]] == game.SEER)
        if sees and seat != self._me and seat not in self._rivals:
            self._rivals.append(seat)
        if kind == speech.REPORT and seat == self._me:
            self._told.add(args[0])

    # -- the village -------------------------------------------------------------------------------------------

    def _others(self, view: WerewolfView) -> list[int]:
        return [seat for seat, alive in enumerate(view.alive) if alive and seat != self._me]

    def _worst(self, seats: Sequence[int], chance: Array) -> int:
        return max(seats, key=lambda j: chance[j] + 1e-6 * self._rng.random())

    def _speech(self, view: WerewolfView) -> list[Move]:
        wishes = [Move(speech.REPORT, (seat, int(wolf))) for seat, wolf in self._to_tell(view)]
        if self._pressed(view) and view.role != game.VILLAGER:
            wishes.append(Move(speech.CLAIM_ROLE, (view.role_names.index(view.role),)))
        others = self._others(view)
        if not others:
            return wishes
        chance = self.belief.wolf_chance()
        worst = self._worst(others, chance)
        if chance[worst] > ACCUSES:
            wishes.append(Move(speech.ACCUSE, (worst,)))
        best = self._worst(others, -chance)
        return [*wishes, Move(speech.DEFEND, (best,))]

    def _pressed(self, view: WerewolfView) -> bool:
        """Whether silence costs more than to be known to the werewolves."""
        dying = not view.alive[self._me]
        return dying or len(self._accusers) >= PRESSED or (view.role == game.SEER and bool(self._rivals))

    def _to_tell(self, view: WerewolfView) -> list[tuple[int, bool]]:
        """What the seer reports: living werewolves at once, others from the second day on or when pressed."""
        new = [check for check in reversed(view.checks) if check[0] not in self._told and view.alive[check[0]]]
        wolves = [check for check in new if check[1]]
        return wolves + [check for check in new if not check[1] and (view.day > 1 or self._pressed(view))]

    def _vote(self, view: WerewolfView) -> list[Move]:
        others = self._others(view)
        if self._wolves:
            return self._vote_as_wolf(others)
        chance = self.belief.wolf_chance()
        worst = self._worst(others, chance)
        return [Move(game.BALLOT, (worst,))] if chance[worst] >= VOTES * chance[others].mean() else []

    def _protect(self, view: WerewolfView) -> list[Move]:
        """Who is most likely the seer and known to be so; else himself or somebody trusted."""
        chance, seer = self.belief.wolf_chance(), self.belief.seer_chance()
        worth = (1 - chance) * (0.1 + seer) + 1e-6 * self._rng.random(len(chance))
        order = sorted(range(len(worth)), key=lambda j: -worth[j])
        return [Move(game.GUARDS, (seat,)) for seat in order]

    def _poison(self, view: WerewolfView) -> list[Move]:
        chance, others = self.belief.wolf_chance(), self._others(view)
        worst = self._worst(others, chance)
        late = len(others) <= view.roles.count(game.WEREWOLF) + 1
        return [Move(game.POISONS, (worst,))] if chance[worst] > POISONS - 0.2 * late else []

    def _shoot(self, view: WerewolfView) -> list[Move]:
        chance, others = self.belief.wolf_chance(), self._others(view)
        worst = self._worst(others, chance) if others else self._me
        return [Move(game.SHOOTS, (worst,))] if chance[worst] >= SHOOTS else []

    def _check(self, view: WerewolfView) -> list[Move]:
        """The seat most in doubt."""
        checked = {seat for seat, _ in view.checks}
        unknown = [seat for seat in self._others(view) if seat not in checked]
        if not unknown:
            return []
        return [Move(game.CHECKS, (self._worst(unknown, -np.abs(self.belief.wolf_chance() - 0.5)),))]

    # -- the werewolves ----------------------------------------------------------------------------------------

    def _victims(self, seats: Sequence[int]) -> list[int]:
        return [seat for seat in seats if seat not in self._wolves]

    def _prey(self, view: WerewolfView) -> int:
        """Whom a fellow has named; else who is most likely the seer, and looks innocent."""
        victims = self._victims(self._others(view))
        named = [seat for seat in self._proposed if seat in victims]
        if named:
            return named[0]
        assert self.onlooker is not None
        return self._worst(victims, 2 * self.belief.seer_chance() - self.onlooker.wolf_chance())

    def _vote_as_wolf(self, others: Sequence[int]) -> list[Move]:
        """Who looks most like a werewolf to the table, of those that are none; all werewolves choose the same."""
        assert self.onlooker is not None
        victims = self._victims(others)
        if self._deceives() and not turns(wolves=1 + len(others) - len(victims), villagers=len(victims)):
            return [Move(game.BALLOT, (self._worst(others, self.onlooker.wolf_chance()),))]
        return [Move(game.BALLOT, (self._worst(victims, self.onlooker.wolf_chance()),))] if victims else []

    def _speech_as_wolf(self, view: WerewolfView) -> list[Move]:
        assert self.onlooker is not None
        victims = self._victims(self._others(view))
        if not victims:
            return []
        chance = self.onlooker.wolf_chance()
        if self._deceives():
            return lies(self._as_liar(view, victims, chance))
        suspect = self._worst(victims, chance)
        rivals = [seat for seat in self._rivals if seat in victims and seat in self._accusers]
        if rivals:  # reported by a seer: two seers then, and one of them lies
            return [Move(speech.REPORT, (rivals[-1], 1))]
        draw = self._rng.random()
        one_of_us_sees = bool(self._told) or self._fellow_sees()
        if draw < LIES and not one_of_us_sees:
            return [Move(speech.REPORT, (suspect, 1))]
        if draw < ACCUSES_AS_WOLF:
            return [Move(speech.ACCUSE, (suspect,))]
        return [Move(speech.DEFEND, (self._worst(victims, -chance),))]

    def _fellow_sees(self) -> bool:
        return any(seat in self._rivals for seat in self._wolves)

    def _deceives(self) -> bool:
        """Drawn anew for each word and vote; without deceit nothing is drawn."""
        return self._deceit > 0 and self._rng.random() < self._deceit

    def _as_liar(self, view: WerewolfView, victims: Sequence[int], chance: Array) -> Liar:
        """What the table thinks, as an onlooker would; a fellow is suspected whom it holds for worse than any victim."""
        fellows = [seat for seat in self._others(view) if seat not in victims]
        worst = self._worst(fellows, chance) if fellows else None
        suspected = worst if worst is not None and chance[worst] > max(chance[seat] for seat in victims) else None
        rivals = [seat for seat in self._rivals if seat in victims]
        return Liar(self._worst(victims, -chance), rivals, suspected, self._told, self._fellow_sees())


def _first(wishes: Sequence[Move], view: WerewolfView) -> Move:
    """The first wish that is legal; else to do nothing."""
    legal: tuple[Move, ...] = view.legal
    for move in wishes:
        if move in legal:
            return move
    return next((move for move in legal if not move.args), legal[0])
