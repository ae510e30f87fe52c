"""What one seat remembers: its own script in segments, and the talk that it heard, a question with its answer in one.

Questum, appendix C.1: segments of at most 50 tokens, a question-and-answer pair as a single segment, retrieval of the
nearest by L2 distance up to a budget of 4000 tokens each for script and dialogue (5000 at the quiz), in original order
(decisions 4.6). The talk is read from the View's own events, so the memory holds nothing that the seat did not hear.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.core import NATURE, Event
from parlour.envs.murder_mystery import vocabulary as game
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, say
from parlour.policies.agents.murder_mystery.scene import Scene, Talk, in_one_line, scene_of
from parlour.policies.agents.murder_mystery.wording import put
from parlour.policies.retrieval.embedders import CachedHashing, Embedder
from parlour.policies.retrieval.memory import SCRIPT, TALK, Memory, segments

PLAY: Final = 4000
"""Tokens of script, and as many of dialogue, in a question of the game."""
QUIZ: Final = 5000
"""The same at the quiz."""
HASHING: Final = CachedHashing()
"""The embedded default."""


class Exchange(NamedTuple):
    """A question that is being put or answered."""

    asker: int
    target: int
    victim: int
    question: str
    answers: tuple[str, ...]


class SeatMemory:
    """The memory of one seat in one game.

    Args:
        view: The seat's View; its script and what it has heard so far go in.
        embedder: Turns texts into vectors.
    """

    def __init__(self, view: MysteryView, embedder: Embedder) -> None:
        self.scene: Scene = scene_of(view)
        self.seat: int = view.seat
        self.memory = Memory(embedder)
        self.script = [piece for piece in segments(view.script) if piece.strip()]
        self.memory.add(self.script, tag=SCRIPT)
        self.talks: list[Talk] = []
        self._read = 0
        self._turn = (-1, -1)
        self._target = -1
        self._open: Exchange | None = None
        self._found: dict[tuple[str, str, int], list[int]] = {}
        self.take(view)

    def take(self, view: MysteryView) -> None:
        """Note what is new in a View of the same seat."""
        for event in view.events[self._read :]:
            self._note(event)
        self._read = len(view.events)

    # -- what is found -----------------------------------------------------------------------------------------

    def excerpts(self, query: str, budget: int = PLAY) -> list[str]:
        """The segments of the script nearest to a query, in the order of the script, each in one line."""
        return [in_one_line(self.script[position]) for position in self._retrieve(query, SCRIPT, budget)]

    def dialogue(self, query: str, budget: int = PLAY) -> list[Talk]:
        """The talk nearest to a query, in the order in which it was heard."""
        return [self.talks[position - len(self.script)] for position in self._retrieve(query, TALK, budget)]

    def nearest(self, query: str, count: int) -> list[Talk]:
        """The `count` pieces of talk nearest to a query, in the order in which they were heard."""
        nearest = self.memory.search(query, count, tag=TALK) if self.talks else []
        return [self.talks[position - len(self.script)] for position in sorted(excerpt.position for excerpt in nearest)]

    def asked(self, target: int, victim: str) -> int:
        """How many questions about a victim a seat has answered, as far as this one heard: |Q_j| of PLAYER*."""
        name = self.scene.players[target]
        return sum(bool(talk.asker) and talk.speaker == name and talk.victim == victim for talk in self.talks)

    def pending(self) -> Exchange | None:
        """The question that waits for an answer."""
        return self._open

    def _retrieve(self, query: str, tag: str, budget: int) -> list[int]:
        key = (query, tag, budget)
        if key not in self._found:
            excerpts = self.memory.retrieve(query, budget, tag=tag)
            self._found[key] = [excerpt.position for excerpt in excerpts]
        return self._found[key]

    # -- what is noted -----------------------------------------------------------------------------------------

    def _note(self, event: Event) -> None:
        seat, (kind, args, words), _ = event
        if kind in (game.ROUND, game.TURN, game.CHOOSE, game.ASK):
            self._close()
        if seat == NATURE:
            self._turn = (args[0], args[1]) if kind == game.TURN else self._turn
        elif kind == game.INTRODUCE:
            name = self.scene.players[seat]
            said = words or self.scene.say.i_am.format(name)
            self._add(Talk(asker="", speaker=name, victim="", question="", answer=said))
        elif kind == game.CHOOSE:
            self._target = args[0] if args else -1
        elif kind == game.ASK:
            self._open = Exchange(seat, self._target, self._turn[1], words or self._sentence(args), ())
        elif kind in (game.TELL, game.ANSWER, game.FINISH) and self._open is not None:
            self._hear(seat, kind, args, words)

    def _hear(self, seat: int, kind: str, args: tuple[int, ...], words: str) -> None:
        assert self._open is not None
        fact = Fact(KINDS[args[0]], args[1:]) if kind == game.TELL else None
        said = words or (say(fact, self.scene.vocabulary, seat) if fact else "")
        if said:
            self._open = self._open._replace(answers=(*self._open.answers, said))
        if kind != game.TELL:
            self._close()

    def _close(self) -> None:
        """The answer is over."""
        if self._open is None:
            return
        asker, target, victim, question, answers = self._open
        self._open = None
        talk = Talk(
            asker=self.scene.players[asker],
            speaker=self.scene.players[target],
            victim=self.scene.victims[victim],
            question=question,
            answer=self.scene.join(answers) or self.scene.say.nothing,
        )
        self._add(talk)

    def _sentence(self, args: tuple[int, ...]) -> str:
        """A question that was chosen from the list, in words."""
        victim = self.scene.victims[self._turn[1]] if self._turn[1] >= 0 else ""
        return put(self.scene, args[0], victim, about=args[1])

    def _add(self, talk: Talk) -> None:
        self.memory.add([talk.text], tag=TALK)
        self.talks.append(talk)
        self._found.clear()
