"""The agent that the six-module agent is compared with: history, reflection, experiences of similar situations.

After Xu et al. 2023 (arXiv 2309.04658), as the code of arXiv 2310.14985 puts it to Avalon: the 15 newest messages and the 15
most informative older ones, three fixed questions answered from the three messages most like each, a reflection, a
suggestion from experiences whose reflections are alike (cosine above 0.85, the 50 newest), an answer. An experience scores
1000 less the length of the game if it was won, and the length if it was lost. Messages are rated all at once, where that
code asks once for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.policies.agents.avalon import baseline_asks as asks
from parlour.policies.agents.avalon.baseline_asks import Past
from parlour.policies.agents.avalon.experience import RoleStore
from parlour.policies.agents.avalon.lines import first_strategy
from parlour.policies.agents.avalon.seat import AvalonSeat, situation
from parlour.policies.retrieval.embedders import CachedHashing, HashingEmbedder
from parlour.policies.retrieval.memory import Memory
from parlour.policies.settings import Settings, setting

NEWEST: Final = 15
MOST_INFORMATIVE: Final = 15
ALIKE: Final = 0.85
WINDOW: Final = 50
_FOUND: Final = 3
QUESTIONS: Final = (
    "Who was on the team of a quest that failed?",
    "Who accuses whom of being evil?",
    "Who approved a team, and who rejected it?",
)


@dataclass
class Pool(RoleStore):
    """Experiences by role, the oldest first. Shared by the seats of a team; it changes only between games."""

    FORMAT: ClassVar[str] = "parlour avalon experiences 1"
    HOLDS: ClassVar[str] = "experiences"

    past: dict[str, list[Past]] = field(default_factory=dict)

    def add(self, role: str, past: Sequence[Past]) -> None:
        """Add experiences; only the newest `WINDOW` stay."""
        self.past[role] = [*self.past.get(role, []), *past][-WINDOW:]

    def alike(self, role: str, reflection: str) -> list[Past]:
        """The experiences in a role whose reflection is like this one."""
        kept = self.past.get(role, [])
        if not kept:
            return []
        *rows, wanted = CachedHashing().embed([*(one.reflection for one in kept), reflection])
        cosines = (np.stack(rows) @ wanted).tolist()
        return [one for one, cosine in zip(kept, cosines, strict=True) if cosine > ALIKE]

    def _plain(self) -> dict[str, Any]:
        return {role: [one.model_dump() for one in past] for role, past in self.past.items()}

    @classmethod
    def _read(cls, roles: Any) -> Self:
        return cls({role: [Past(**one) for one in past] for role, past in roles.items()})


@dataclass(frozen=True)
class BaselineSettings(Settings):
    """What can be set: `experience`, a file."""

    pool: Pool = setting(factory=Pool)
    """Experiences from games before. Shared, not copied."""

    @classmethod
    def words(cls) -> tuple[str, ...]:
        return ("experience",)

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        return cls(*map(Pool.load, words.values()))


class BaselineAgent(AvalonSeat):
    """Plays Avalon by history, reflection and similar experiences."""

    name: ClassVar[str] = "avalon_baseline"
    settings_type: ClassVar[type[Settings]] = BaselineSettings
    chosen: BaselineSettings

    def _begin(self) -> None:
        super()._begin()
        self._lines: list[str] = []
        self._weights: list[int] = []
        self._memory = Memory(HashingEmbedder())
        self._turns: list[tuple[str, str]] = []
        """Of each turn, the reflection and the words it led to."""

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        words = super().act(observation, info)
        if self._turn is not None:
            self._turns[-1] = (self._turns[-1][0], words)  # of several, the last ones; the others were no answer
        return words

    def _think(self, view: AvalonView, options: dict[str, str]) -> asks.AnswerTable:
        assert self.me is not None
        self._hear()
        now, messages = situation(view, self.notes_taken.score), self._kept()
        material = [[found.text for found in self._memory.search(question, _FOUND)] for question in QUESTIONS]
        findings = self.seat_model.ask(asks.LookUp(me=self.me, questions=list(QUESTIONS), material=material)).answers
        reflection = self.seat_model.ask(
            asks.ReflectOnFindings(me=self.me, messages=messages, findings=findings, now=now)
        ).reflection
        past = self.chosen.pool.alike(self.me.role, reflection)
        suggestion = (
            self.seat_model.ask(asks.Advise(me=self.me, reflection=reflection, past=past)).suggestion if past else ""
        )
        self._turns.append((reflection, ""))
        return asks.AnswerTable(
            me=self.me,
            strategy=first_strategy(self.me.role),
            messages=messages,
            reflection=reflection,
            suggestion=suggestion,
            now=now,
            options=options,
            refused=[],
        )

    def _hear(self) -> None:
        """Rate and remember what was said since the last turn."""
        lines = [line for messages in self.notes_taken.rounds for line in messages]
        new = lines[len(self._lines) :]
        if new:
            self._weights += self.seat_model.ask(asks.Weigh(messages=new)).weights
            self._memory.add(new, tag="dialogue")
            self._lines = lines

    def _kept(self) -> list[str]:
        """The newest messages and the most informative of the older ones, in order."""
        older = range(max(0, len(self._lines) - NEWEST))
        best = sorted(older, key=lambda k: (-self._weights[k], -k))[:MOST_INFORMATIVE]
        return [self._lines[k] for k in sorted(best)] + self._lines[len(older) :]

    def learn(self, *, won: bool, moves: int) -> list[Past]:
        """The experiences of a finished game: every turn, scored by how the game went."""
        score = 1000 - moves if won else moves
        return [Past(reflection=reflection, response=words, score=score) for reflection, words in self._turns]
