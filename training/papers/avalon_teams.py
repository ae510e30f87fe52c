"""The teams of the Avalon tables: who plays them, with which experience, and the games of one row.

After Lan et al. 2023 (arXiv 2310.14985, section 5.3): the six-module agent as a whole side against the baseline agent. The paper
plays 10 consecutive games in which both sides continue to learn. Ours practise first, on other deals, and then play the measured
games without learning. These games are independent of each other, and all rows play the same deals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from parlour.envs import replay
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import check_one_of
from parlour.envs.replay import Transcript
from parlour.policies.agents.avalon import AvalonAgent, BaselineAgent, Experience
from parlour.policies.experts.catalogue import EXPERT, expert
from parlour.policies.llm.decisions import Decisions
from parlour.training.learn.practice import Practice, PracticeConfig, practise, sides_of
from parlour.training.papers.cells import OpponentSetting, PaperTable, deals_of, folder_name
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job, MakePolicy
from parlour.training.runs.folder import store_settings
from parlour.training.runs.run import Run

GAME: Final = "avalon_v0"
AVALON_PLAYERS: Final = 6
AVALON_RULES: Final = "paper"
_SETTINGS: Final = "avalon-config.json"
AGENT, BASELINE, SECOND = "agent", "baseline", "second agent"
OTHER_SIDES: Final = (BASELINE, AGENT, EXPERT)
PRACTISED: Final = partial(
    PaperTable,
    "",
    setting=OpponentSetting,
    games="avalon_v0, {0.games} held-out deals as either side, after {0.practice} practice games",
)
UNPRACTISED: Final = partial(PRACTISED, games="avalon_v0, {0.games} held-out deals as either side, without practice")


@dataclass(frozen=True)
class Variant:
    """How the agent of a row is made."""

    row: str
    without: tuple[str, ...] = ()
    about: str = "all"
    learns: bool = True
    """Whether it has practised."""


@dataclass(frozen=True)
class RowGames:
    """The games of a row on one side."""

    won: tuple[bool, ...]
    """On each deal."""
    transcripts: tuple[Transcript, ...]


class Club:
    """The practice that the rows of a table need, each done once; none without `learns`."""

    def __init__(self, setting: OpponentSetting, *, learns: bool) -> None:
        check_one_of("opponent", setting.against, OTHER_SIDES)
        self.setting, self.learns = setting, learns
        self.players: dict[str, Decisions] = {}
        """Row -> the decisions of its team in the games played so far."""
        self._done: dict[tuple[tuple[str, ...], str], Practice] = {}
        self._deals = deals_of(setting, setting.games)
        self._env = rollout.table(GAME, num_players=AVALON_PLAYERS, rules=AVALON_RULES)
        if setting.out is not None:
            played = {"model": setting.model.name, "practice": setting.practice if learns else 0}
            store_settings(setting.out, {**played, "against": setting.against, "seed": setting.seed}, file=_SETTINGS)

    def practised(self, without: tuple[str, ...] = (), about: str = "all") -> Practice:
        """What an agent without these modules has learned, and the baseline agent against it."""
        if not self.learns or not self.setting.practice:
            return Practice()
        key = (without, about)
        if key not in self._done:
            config = PracticeConfig(
                games=self.setting.practice,
                num_players=AVALON_PLAYERS,
                rules=AVALON_RULES,
                without=without,
                about=about,
                seed=self.setting.seed,
            )
            out = self.setting.out
            folder = None if out is None else out / folder_name("practice", *without, about)
            self._done[key] = practise(config, Run(folder, self.setting.progress), self.setting.model)
        return self._done[key]

    def agent(self, variant: Variant) -> MakePolicy:
        """The maker of a row's agent."""
        learned = self.practised(variant.without, variant.about).experience if variant.learns else Experience()
        return partial(
            AvalonAgent, self.setting.model, without=variant.without, about=variant.about, experience=learned
        )

    def baseline(self) -> MakePolicy:
        """The maker of the baseline agent, with what it learned against the whole agent."""
        return partial(BaselineAgent, self.setting.model, experience=self.practised().pool)

    def opponent(self) -> tuple[str, MakePolicy]:
        """Who plays the other side, by name."""
        if self.setting.against == BASELINE:
            return BASELINE, self.baseline()
        if self.setting.against == EXPERT:
            base: GameEnv = self._env.unwrapped
            return EXPERT, partial(expert, GAME, base.game.config)
        return SECOND, self.agent(Variant(SECOND))

    def play(self, row: str, name: str, make: MakePolicy, side: str) -> RowGames:
        """Play a row's deals with its team on one side."""
        other = self.opponent()
        if other[0] == name:
            other = (f"other {name}", other[1])
        called = f"{row} as {side}".replace(" ", "-").replace("(", "").replace(")", "")
        with self.setting.folder(called) as folder:
            jobs = [
                Job(seed, self._seated(seed, side, (name, make), other), folder / f"{GAME}-{number}.jsonl")
                for number, seed in enumerate(self._deals, 1)
            ]
            episodes = self.setting.runner.play(self._env, jobs, f"{row}, {side}")
            transcripts = tuple(replay.Transcript.read(job.transcript) for job in jobs if job.transcript is not None)
        for job, episode in zip(jobs, episodes, strict=True):
            team = [made for (who, _), made in zip(job.players, episode.decisions, strict=True) if who == name]
            self.players[row] = sum(team, self.players.get(row, Decisions()))
        return RowGames(tuple(episode.outcome.winner == side for episode in episodes), transcripts)

    def _seated(
        self, seed: int, side: str, own: tuple[str, MakePolicy], other: tuple[str, MakePolicy]
    ) -> tuple[tuple[str, MakePolicy], ...]:
        return tuple(own if dealt == side else other for dealt in sides_of(self._env, seed))
