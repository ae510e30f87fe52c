"""The six-module agent of Lan et al. 2023 (arXiv 2310.14985, section 4): each module is a question, each can be switched off.

At each turn: analysis, planning, action, response; at the end of each round: memory (a summary of the talk so far; teams,
votes and results are kept word for word); after a game in practice: experience learning. Secret moves go to the moderator in the
option's own words, so the response module handles only public speech. Any module can be switched off. Without memory, the others
read only the current round. Without analysis, they count superficially. Without a plan, they follow no line. Without the action
module, the response module decides and does not see the analysis. Without the two parts of experience learning, the strategies
for the own role, or for other roles, stay unchanged. Decisions 3.2 compare it with the published code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.language.english import name
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.avalon import asks, experience, notes
from parlour.policies.agents.avalon.asks import About
from parlour.policies.agents.avalon.experience import Experience, Lesson
from parlour.policies.agents.avalon.lines import lines_of
from parlour.policies.agents.avalon.seat import TALK, AvalonSeat, AvalonSeatSettings, AvalonSituation, situation
from parlour.policies.llm.model import SeatModel
from pydantic import Field, field_validator

MEMORY, ANALYSIS, PLAN, ACTION, IMPROVE, OTHERS = "memory", "analysis", "plan", "action", "improve", "others"


class AvalonSettings(AvalonSeatSettings):
    """What can be set."""

    without: tuple[Literal["memory", "analysis", "plan", "action", "improve", "others"], ...] = ()
    """Modules that are switched off, joined by +; the response, which speaks, cannot be."""
    about: About = "all"
    """The players that the analysis covers."""
    try_out: bool = False
    """Whether this is practice, in which lines of play with few games are tried."""
    experience: Annotated[Experience, Accepts("a file of `train avalon`")] = Field(default_factory=Experience)
    """Strategies from games before, from a file; the first strategies by default. Shared, not copied."""

    @field_validator("without")
    @classmethod
    def _sorted(cls, without: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(without))


class AvalonAgent(AvalonSeat):
    """Plays Avalon by six modules."""

    name: ClassVar[str] = "avalon_agent"
    settings_type: ClassVar[type[Settings]] = AvalonSettings
    chosen: AvalonSettings

    def _begin(self) -> None:
        super()._begin()
        self._kept, self._summarised = "", 1
        self._plan: list[str] = []

    def _think(self, view: AvalonView, options: dict[str, str]) -> asks.Respond | str:
        """Memory, analysis, planning and action, for the response to put into words."""
        self.remember()
        now = situation(view, self.notes_taken.score)
        analysis = self.analyse()
        plan = self.devise(now, analysis)
        chosen = self.choose(now, plan, analysis, options)
        if chosen and now.does != TALK:
            self.seat_model.pass_over()
            return chosen
        offered = {chosen: options[chosen]} if chosen else options
        return asks.Respond(**self.playing(now), plan=plan, options=offered, chosen=chosen, refused=[])

    # -- the modules -------------------------------------------------------------------------------------------

    def remember(self) -> None:
        """Eq. 1: when a round has ended, its messages join the summary of those before."""
        while self._summarised < len(self.notes_taken.rounds):
            ended = self.notes_taken.rounds[self._summarised - 1]
            if ended and MEMORY not in self.chosen.without:
                record = {**self.record(), "messages": ended}
                self._kept = self.seat_model.ask(asks.Summarise(**record)).summary
            self._summarised += 1

    def hear(self, view: AvalonView) -> None:  # type: ignore[override]  # of its own game
        """Summarise the round that has ended."""
        if self._seated:
            self._take(view)
            self.remember()

    def analyse(self) -> list[str]:
        """Eq. 2: what is thought of the others, in lines; none without the module."""
        if ANALYSIS in self.chosen.without:
            return []
        others = "" if OTHERS in self.chosen.without else self._lesson.others
        return self.seat_model.ask(asks.Analyse(**self.record(), about=self.chosen.about, others=others)).in_lines()

    def devise(self, now: AvalonSituation, analysis: list[str]) -> list[str]:
        """Eq. 3: the plan, in lines; none without the module."""
        if PLAN in self.chosen.without:
            return []
        assert self.me is not None
        plan = self.seat_model.ask(
            asks.Devise(
                **self.playing(now),
                lines=dict(lines_of(self.me.role)),
                previous=self._plan,
                analysis=analysis,
                try_out=self.chosen.try_out,
            )
        )
        self._plan = plan.in_lines()
        return self._plan

    def choose(self, now: AvalonSituation, plan: list[str], analysis: list[str], options: dict[str, str]) -> str:
        """Eq. 4: the code of the option taken; empty without the module, so that the response decides."""
        if ACTION in self.chosen.without:
            return ""
        return self.seat_model.ask(asks.Act(**self.playing(now), plan=plan, analysis=analysis, options=options)).choice

    def record(self) -> dict[str, Any]:
        """The record that every module sees: summarised rounds first, then the other rounds."""
        before, since = self.notes_taken.rounds[: self._summarised - 1], self.notes_taken.rounds[self._summarised - 1 :]
        facts = (
            [] if MEMORY in self.chosen.without else notes.facts_in(line for messages in before for line in messages)
        )
        messages = [line for messages in since for line in messages]
        return {"me": self.me, "facts": facts, "summary": self._kept, "messages": messages}

    def playing(self, now: AvalonSituation) -> dict[str, Any]:
        """The same, with what it plays by and what is asked now."""
        return {**self.record(), "strategy": self._lesson.strategy, "now": now}

    @property
    def line(self) -> str:
        """The line of play of its last plan; empty without one."""
        return asks.line_in(self._plan)

    @property
    def _lesson(self) -> Lesson:
        assert self.me is not None
        return self.chosen.experience.of(self.me.role)

    # -- experience --------------------------------------------------------------------------------------------

    def learn(self, role_of: Sequence[str], *, won: bool, seed: int, again: bool = False) -> Lesson | None:
        """What a finished game taught about the role that was played; None if the seat never had a turn.

        Args:
            role_of: The role of each seat, revealed after the game.
            won: Whether the seat's side won.
            seed: Seed of these questions.
            again: Whether another seat in the same role has learned from this game already: its record is not counted
                twice.
        """
        if self.me is None:
            return None
        lesson, role = self._lesson, self.me.role
        ask = SeatModel(self.model, self.seat, seed, self.seat_model.rules, self.name).ask
        record = {**self._whole_game(), "role_of": {name(j): role for j, role in enumerate(role_of)}}
        strategy, suggestions, others = lesson.strategy, list(lesson.suggestions), lesson.others
        if IMPROVE not in self.chosen.without:
            suggestions = ask(
                experience.Suggest(**record, won=won, line=self.line, strategy=strategy, earlier=suggestions)
            ).suggestions
            strategy = ask(experience.Improve(role=role, strategy=strategy, suggestions=suggestions)).strategy
        if OTHERS not in self.chosen.without and not again:
            others = ask(experience.StudyOthers(**record, earlier=others)).strategies
        return Lesson(strategy, tuple(suggestions), others, lesson.games + (not again))

    def _whole_game(self) -> dict[str, Any]:
        """The record after the game; without memory all lines of all rounds."""
        if MEMORY not in self.chosen.without:
            return self.record()
        messages = [line for messages in self.notes_taken.rounds for line in messages]
        return {"me": self.me, "facts": [], "summary": "", "messages": messages}
