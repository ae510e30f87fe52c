"""The mixed tables of GRATR's paper (Zhu et al. 2024, section "Setup"): who sits where, and the games against one opponent.

Eight players, four of each method: one holds the three leaders and a villager, the other the three werewolves and the
other villager. Each deal is played twice, with the two blocks changed over, so that both methods hold every seat of it
once. The villager with the lower seat goes with the werewolves first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.core import accept
from parlour.envs.werewolf.presets import Shown
from parlour.policies import make_policy
from parlour.policies.llm.decisions import Decisions, by_player
from parlour.training.learn.tuning.gratr import PLAYERS, RULES, wolves_block
from parlour.training.measure.werewolf import transcripts
from parlour.training.measure.werewolf.transcripts import Seen
from parlour.training.papers.cells import OpponentSetting, deals_of, folder_name
from parlour.training.play import rollout
from parlour.training.play.decisions import of_transcript
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.records.werewolf.played import GAME

GRATR: Final = "gratr"
PAPER: Final = f"{GRATR}:mode=paper,floor=none"
"""GRATR as the tables seat it."""
ALL_OPPONENTS: Final = OpponentSetting().against
"""Not one opponent, but all of them."""


class GratrSetting(OpponentSetting):
    """How a table of GRATR's paper is played."""

    ours: str = ""
    """GRATR's tables: GRATR with settings, such as gratr:gamma=0.02, by the paper's procedure unless they mean another one; None: gratr:mode=paper,floor=none."""
    votes: Shown | None = None
    """GRATR's tables: whether players see each vote by day as it is cast, as in its code, or all at once; None: together."""


@dataclass(frozen=True)
class Opponent:
    """A method that GRATR is compared with."""

    policy: str
    """Its name among the policies, with settings behind a colon where it has any."""
    label: str


OPPONENTS: Final = (
    Opponent("werewolf_window:older=3", "history window"),
    Opponent("werewolf_rag", "native RAG"),
    Opponent("werewolf_rerank", "rerank RAG"),
)
"""The paper's opponents, in the order of its groups."""
RULE: Final = Opponent("heuristic", "heuristic")
"""An extra one, which asks nobody: the Bayesian player."""


@dataclass(frozen=True)
class Match:
    """The games against one opponent, two for each deal: GRATR with the werewolves, then with the leaders."""

    ours: str
    """GRATR as it is seated: its name, with settings behind a colon where it has any."""
    opponent: Opponent
    games: tuple[Seen, ...]
    decisions: Mapping[str, Decisions] = field(default_factory=dict)
    """Policy -> whose the decisions of its seats were, in all games."""

    @property
    def deals(self) -> tuple[tuple[Seen, Seen], ...]:
        """The two games of each deal."""
        return tuple(zip(self.games[0::2], self.games[1::2], strict=True))


def opponents(setting: GratrSetting, among: Sequence[Opponent]) -> tuple[Opponent, ...]:
    """The opponents of GRATR: all, or only the opponent in `setting.against`, with settings after a colon if it has any.

    Raises:
        ParlourError: There is no such opponent.
    """
    plain, _, settings = setting.against.partition(":")
    known = {opponent.policy.partition(":")[0]: opponent for opponent in among}
    chosen = tuple(opponent for name, opponent in known.items() if plain in (ALL_OPPONENTS, name))
    if settings and plain != ALL_OPPONENTS:
        chosen = tuple(Opponent(setting.against, f"{opponent.label} with {settings}") for opponent in chosen)
    if not chosen or (settings and plain == ALL_OPPONENTS):
        raise accept("opponent", setting.against, (ALL_OPPONENTS, *known))
    return chosen


def play_teams(setting: GratrSetting, opponent: Opponent) -> Match:
    """Play the held-out deals of a setting against one opponent, or those that are missing in its folder.

    Raises:
        ParlourError: The number of games is odd or the seed too large; `setting.ours` is no GRATR; or the folder holds other games.
    """
    ours = setting.ours or GRATR
    if ours.partition(":")[0] != GRATR:
        raise accept("ours", ours, f"{GRATR}, with settings behind a colon")
    ours = seated(ours)
    if setting.games % 2:
        raise accept("games", setting.games, "an even number: each deal is played twice")
    deals = deals_of(setting, setting.games // 2)
    env = rollout.table(GAME, num_players=PLAYERS, rules=RULES, votes=setting.votes)
    config = env.game_env.game.config
    makers = {policy: partial(make_policy, policy, GAME, config, setting.model) for policy in (ours, opponent.policy)}
    # the tables share the folder of the games: one for each opponent and model
    with setting.folder(folder_name(ours, opponent.policy, setting.model.name)) as folder:
        jobs = [
            Job(seed, tuple((who, makers[who]) for who in seats), folder / f"{GAME}-{seed}-{block}.jsonl")
            for seed in deals
            for block, seats in blocks(env, seed, opponent.policy, ours).items()
        ]
        setting.runner.play_each(env, jobs, lambda _number, _episode: None, opponent.label)  # all is in the transcripts
        return Match(ours, opponent, tuple(_read(job) for job in jobs), by_player(_decisions(jobs)))


def seated(ours: str) -> str:
    """GRATR by the paper's procedure, unless its settings mean another one.

    >>> seated("gratr:gamma=0.02"), seated("gratr:mode=code")
    ('gratr:mode=paper,floor=none,gamma=0.02', 'gratr:mode=code')
    """
    words = [word for word in ours.partition(":")[2].split(",") if word]
    if any(word.partition("=")[0] in ("mode", "parameters") for word in words):
        return ours
    return ",".join([PAPER, *words])


def _decisions(jobs: Sequence[Job]) -> Iterator[tuple[str, Decisions]]:
    """Of each seat's policy, from the transcripts: games of a run before this one count as well."""
    for job in jobs:
        assert job.transcript is not None
        made = of_transcript(replay.Transcript.read(job.transcript))
        yield from zip((who for who, _ in job.players), made, strict=True)


def blocks(env: Any, seed: int, other: str, ours: str = PAPER) -> dict[str, list[str]]:
    """Who sits at each seat, in the game in which GRATR holds the werewolves and in the other one."""
    env.reset(seed=seed)
    block = wolves_block([env.game_env.view(seat).role for seat in range(PLAYERS)])
    return {
        "gratr-werewolves": [ours if seat in block else other for seat in range(PLAYERS)],
        "gratr-leaders": [other if seat in block else ours for seat in range(PLAYERS)],
    }


def _read(job: Job) -> Seen:
    assert job.transcript is not None
    seen = transcripts.read_transcript(job.transcript)
    assert seen is not None, "the game was played to its end"
    return seen
