"""Murder mysteries by heuristic: ask everybody about motives, means, sightings and whereabouts until nothing new comes,
and vote for the player with the most evidence against them.

It reads only `info["view"]`, and knows the game by the names of its moves (see the card of `murder_mystery_v0`) and the
language of facts. A civilian tells all that it is asked for. A murderer tells its planned lies about its own victim, and
of the truth what does not speak against itself. In a case of prose only it asks the same questions and has no words to
answer with; of what others say it understands nothing, and suspects by chance.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
from parlour.envs.core import Move
from parlour.envs.murder_mystery import vocabulary as game
from parlour.envs.murder_mystery.vocabulary import MysteryView, facts
from parlour.envs.murder_mystery.vocabulary.facts import Fact

_IN_ORDER: Final = (facts.MOTIVE, facts.MEANS, facts.SIGHTING, facts.WHEREABOUTS, facts.RELATION, facts.OPEN)
"""What is asked first."""
_AT_THE_SCENE: Final = 2.0
_ELSEWHERE: Final = -2.0
_CAUGHT: Final = 1.0
_NOISE: Final = 1e-6


class MysteryPlayer:
    """One seat of one game."""

    def __init__(self, view: MysteryView, rng: np.random.Generator) -> None:
        self._rng = rng
        self._me: int = view.seat
        self._read = 0
        self._exchange: tuple[int, int, int] | None = None  # target, topic, victim of the question on the table
        self._victim = self._target = 0
        self._told = 0
        self._exhausted: set[tuple[int, int, int]] = set()
        self._claims: dict[Fact, set[int]] = defaultdict(set)  # what was told -> by whom
        for fact in (*view.public, *view.facts):
            self._claims[fact].add(self._me)

    def act(self, view: MysteryView) -> Move:
        """The move, one of `view.legal`."""
        self._hear(view)
        kind = view.legal[0].kind
        if kind == game.CHOOSE:
            return self._choose(view)
        if kind == game.ASK:
            topics = [t for t in _IN_ORDER if (view.target, t, view.victim) not in self._exhausted]
            return Move(game.ASK, (topics[0] if topics else facts.OPEN, game.ANYBODY))
        if kind in (game.TELL, game.ANSWER):
            return self._reply(view)
        if kind in (game.SUSPECT, game.VOTE):
            return self._name(view)
        return view.legal[0]

    # -- reading the record ------------------------------------------------------------------------------------

    def _hear(self, view: MysteryView) -> None:
        for seat, (kind, args, words), _ in view.events[self._read :]:
            if kind == game.TURN:
                self._settle()
                self._victim = args[1]
            elif kind == game.CHOOSE and args:
                self._settle()
                self._target = args[0]
            elif kind == game.ASK:
                self._settle()
                self._exchange, self._told = (self._target, args[0], self._victim), 0
                if args[1] >= 0:
                    self._exchange = None  # about one person: says nothing of what else there is
            elif kind == game.TELL:
                self._told += 1
                self._claims[Fact(facts.KINDS[args[0]], tuple(args[1:]))].add(seat)
            elif words and kind in (game.ANSWER, game.INTRODUCE):
                for fact in facts.read(words, view.vocabulary, seat):
                    self._claims[fact].add(seat)
        self._read = len(view.events)

    def _settle(self) -> None:
        """A question has been answered: if it was not answered in full, nothing more is to be had by it."""
        if self._exchange is not None and self._told < game.TOLD:
            self._exhausted.add(self._exchange)
        self._exchange = None

    # -- asking and answering ----------------------------------------------------------------------------------

    def _choose(self, view: MysteryView) -> Move:
        """Whoever has been asked least; nobody if there is nothing left to ask."""
        self._settle()
        left = {
            move: sum((move.args[0], topic, view.victim) not in self._exhausted for topic in _IN_ORDER)
            for move in view.legal
            if move.args
        }
        most = max(left.values(), default=0)
        if not most:
            return game.NOBODY
        best = [move for move, count in left.items() if count == most]
        chosen: Move = best[int(self._rng.integers(len(best)))]
        return chosen

    def _reply(self, view: MysteryView) -> Move:
        tells = [move for move in view.legal if move.kind == game.TELL]
        fact_of = {move: Fact(facts.KINDS[move.args[0]], tuple(move.args[1:])) for move in tells}
        if view.murders[view.victim]:
            lies, true = set(view.lies), set(view.facts)
            tells = [m for m in tells if fact_of[m] in lies] or [
                m for m in tells if fact_of[m] in true and self._harmless(fact_of[m], view)
            ]
        elif view.lies and not any(view.murders):
            claimed = {(lie.args[0], lie.args[2]) for lie in view.lies if lie.kind in ("at", "saw")}
            tells = [
                move
                for move, fact in fact_of.items()
                # not where somebody was of whom one planned to say it
                if fact in view.lies or fact.kind not in ("at", "saw") or (fact.args[0], fact.args[2]) not in claimed
            ]
        if tells:
            return tells[0]
        return game.ENOUGH if game.ENOUGH in view.legal else game.SAYS

    def _harmless(self, fact: Fact, view: MysteryView) -> bool:
        """Whether a murderer may let a true fact be known: it is not about itself, or about where a lie does not place it."""
        kind, args = fact
        if kind == "died" or self._me not in (args[0], args[-1]):
            return kind != "died"
        if kind == "at":
            lied = {lie.args[2] for lie in view.lies if lie.kind == "at"}
            return args[2] not in lied and all(args[2] != time for _, time, _ in self._deaths(view, view.victim))
        return kind == "lacked" or kind == "peace"

    # -- suspecting --------------------------------------------------------------------------------------------

    def _name(self, view: MysteryView) -> Move:
        kind = view.legal[0].kind
        against = self.suspicion(view, view.victim) + self._rng.random(len(view.names)) * _NOISE
        best: Move = max(view.legal, key=lambda move: against[move.args[0]])
        return best if best.kind == kind else view.legal[0]

    def suspicion(self, view: MysteryView, victim: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Evidence against each seat: motive, means and opportunity. Shape (seats,)."""
        seats, person = len(view.names), len(view.names) + victim
        deaths = self._deaths(view, victim)
        motive, means, chance = np.zeros(seats), np.zeros(seats), np.zeros(seats)
        means_known = {fact[2] for fact in deaths} - {facts.UNKNOWN}
        for (kind, args), _ in self._by_others():
            of = args[0]
            if of >= seats:
                continue
            if kind in ("motive", "peace") and args[-1] == person:
                motive[of] = 1.0 if kind == "motive" and motive[of] >= 0 else -1.0
            elif kind in ("had", "lacked") and (not means_known or args[1] in means_known):
                means[of] = 1.0 if kind == "had" and means[of] >= 0 else -1.0
            elif kind == "saw":
                chance[of] += self._opportunity(args, deaths)
            elif kind == "at":
                seen = [fact.args for fact in self._claims if fact.kind == "saw" and fact.args[0] == of]
                chance[of] += _CAUGHT * any(time == args[2] and place != args[1] for _, place, time in seen)
        return motive + means + chance

    def _by_others(self) -> list[tuple[Fact, set[int]]]:
        """What was told, without what people say in their own favour or disfavour where others are to be asked."""
        own = ("peace", "lacked")
        return [(f, by) for f, by in self._claims.items() if f.kind not in own or by - {f.args[0]}]

    def _deaths(self, view: MysteryView, victim: int) -> list[tuple[int, int, int]]:
        """Place, time and means of a death, each as somebody said."""
        person = len(view.names) + victim
        return [fact.args[1:] for fact in self._claims if fact.kind == "died" and fact.args[0] == person]  # type: ignore[misc]

    def _opportunity(self, seen: tuple[int, ...], deaths: list[tuple[int, int, int]]) -> float:
        """What a sighting says: near the scene at the time, or elsewhere; 0 where neither is known."""
        places, times = {d[0] for d in deaths} - {facts.UNKNOWN}, {d[1] for d in deaths} - {facts.UNKNOWN}
        if seen[2] not in times or not places:
            return 0.0
        return _AT_THE_SCENE if seen[1] in places else _ELSEWHERE
