"""Cases played with methods, and the quiz after each: one result for a case and a method, which many processes may make.

Heuristics compute, so that games with them run in processes; a language model is waited for, so that games with one
run in threads, which share its cache, budget and meter. Results are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from parlour.envs.core import Move, accept
from parlour.envs.murder_mystery.vocabulary import ASK
from parlour.envs.murder_mystery.wellplay import load
from parlour.envs.settings import Settings
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery import MysterySeat
from parlour.policies.agents.murder_mystery.procedure import QuestionBudget
from parlour.policies.agents.murder_mystery.seat_memory import HASHING
from parlour.policies.llm.decisions import Decisions, by_player
from parlour.policies.llm.model import Model
from parlour.policies.retrieval.embedders import Embedder, MiniLMEmbedder
from parlour.training.measure.murder_mystery.methods import OP, MysteryMethod
from parlour.training.measure.murder_mystery.quiz import Mark, omniscient, quiz
from parlour.training.measure.murder_mystery.usage import CountedModel
from parlour.training.measure.murder_mystery.voting import votes
from parlour.training.play import rollout, seeds
from parlour.training.play.failures import RULE, Ceiling, Failures
from parlour.training.play.parallel.concurrent_games import check_jobs, play_recorded, refuse
from parlour.training.play.parallel.executor import opened
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from pydantic import Field

GAME: Final = "murder_mystery_v0"


class CaseSetting(Settings):
    """How each game is played and asked about."""

    rounds: int = 3
    """Number of rounds of questions."""
    questions: int = 1
    """Number of questions to one target at a time."""
    targets: int | None = None
    """Most players that a seat may ask about a victim in a round; None: everybody."""
    hearing: str = "all"
    """Who hears questions and answers: all or two."""
    rules: str = "questum"
    """Verdict: questum (half of the votes) or player (most votes)."""
    repetitions: int = Field(default=3, ge=0)
    """Number of repetitions of the quiz; 0 for no quiz."""
    budget: int | None = Field(default=None, ge=1)
    """Number of questions to the model, in a game of agents, after which nobody asks or prunes; None: no limit."""
    embedder: str = "hashing"
    """What turns texts into vectors for memory and quiz: hashing or minilm."""

    @property
    def options(self) -> dict[str, Any]:
        """Options of the game."""
        return {key: value for key, value in self if key not in ("repetitions", "budget", "embedder")}


class Verdict(NamedTuple):
    """The result of the vote on one victim."""

    victim: int
    counts: bool
    """Whether a player murdered this victim; if none did, it is in no win rate (Ghost Revenge's first one)."""
    found: int
    """The player that the vote found guilty; -1 for nobody."""
    solved: bool


@dataclass(frozen=True)
class CaseResult:
    """One case with one method."""

    case: str
    """Its reference."""
    title: str
    language: str
    method: str
    seed: int
    seats: int
    verdicts: tuple[Verdict, ...]
    marks: tuple[Mark, ...]
    """Everybody's questions."""
    omniscient: tuple[Mark, ...]
    """The questions to a reader of all scripts; with OP only."""
    asked: int
    """Questions that players put to players."""
    play: Decisions
    """What the game took of the model; for PP and OP, their votes."""
    quiz: Decisions
    """What the quiz took."""
    players: Mapping[str, Decisions] = field(default_factory=dict)
    """Policy -> whose the decisions of its seats were in the game; empty for PP and OP, which play none."""

    @property
    def victims(self) -> int:
        """How many count."""
        return sum(verdict.counts for verdict in self.verdicts)

    @property
    def solved(self) -> int:
        """Murders that the vote solved."""
        return sum(verdict.solved for verdict in self.verdicts)


@dataclass(frozen=True)
class CaseJob:
    """What is to be played."""

    case: str
    method: MysteryMethod
    seed: int
    table: CaseSetting = field(default_factory=CaseSetting)
    murderer: str = ""
    """Policy of the murderers, if it is the same in all methods; then only civilians are quizzed."""
    transcript: Path | None = None


def play_case(job: CaseJob, model: Model, stop: Event | None = None, failures: Failures = RULE) -> CaseResult:
    """Play one case with one method, and ask everybody everything.

    Raises:
        GameUnfinished: A player failed, and no heuristic may answer for it; only the game is looked at, not the quiz.
        ParlourError: The case cannot be read, an option or a setting is not accepted, or the transcript exists.
    """
    env = rollout.table(GAME, case=job.case, **job.table.options)
    game: Any = env.game_env.game
    method, case, embedder = job.method, game.case, _embedder(job.table.embedder)
    tally = CountedModel(model)
    asked, made = 0, dict[str, Decisions]()
    guilty = [bool(job.murderer) and any(character.murders) for character in case.characters]
    if method.policy:
        names = [job.murderer if other else method.policy for other in guilty]
        players = [make_policy(name, GAME, game.config, tally) for name in names]
        for player in players:
            if isinstance(player, MysterySeat):
                player.embedder = embedder
        _limit(players, tally, job.table.budget, kept=case.seats * len(case.victims))
        episode = play_recorded(env, players, names, job.seed, job.transcript, stop, failures)
        views, made = episode.last_views, by_player(zip(names, episode.decisions, strict=True))
        cast = tuple(move.args[0] for move in _own_moves(views, "vote"))
        asked = len(_own_moves(views, ASK))
    else:
        start = game.initial()
        views = tuple(game.view(start, seat) for seat in range(case.seats))
        cast = votes(case, views, tally, method.scripts, job.seed)
    play, tally = tally.spent, tally.part()
    marks: tuple[Mark, ...] = ()
    if job.table.repetitions:
        marks = quiz(
            case,
            views,
            tally,
            scripts=method.scripts,
            repetitions=job.table.repetitions,
            seed=job.seed,
            embedder=embedder,
            seats=[seat for seat, other in enumerate(guilty) if not other],
        )
    spent = tally.spent
    known = omniscient(case, views, model, job.table.repetitions, job.seed) if method == OP and marks else ()
    verdicts = tuple(_verdict(game, cast, victim) for victim in range(len(case.victims)))
    played = (job.case, case.title, case.language, method.name, job.seed, case.seats)
    return CaseResult(*played, verdicts, marks, known, asked, play, spent, made)


@cache
def _embedder(name: str) -> Embedder:
    return MiniLMEmbedder() if name == "minilm" else HASHING


def _limit(players: Sequence[Any], tally: CountedModel, budget: int | None, kept: int) -> None:
    """Give the seats that ask a model one budget together, if there is a limit."""
    if budget is not None:
        shared = QuestionBudget(lambda: tally.spent.asked, budget, kept)
        for player in players:
            if isinstance(player, MysterySeat):
                player.budget = shared


def _own_moves(views: Sequence[Any], kind: str) -> list[Move]:
    """The moves of a kind of all seats: each seat has seen its own."""
    return [event.move for view in views for event in view.events if (event.seat, event.move.kind) == (view.seat, kind)]


def _verdict(game: Any, cast: tuple[int, ...], victim: int) -> Verdict:
    murderers, accused = game.case.murderers(victim), game.found(cast, victim)
    return Verdict(victim, bool(murderers), accused, accused in murderers)


@dataclass(frozen=True)
class CaseWorker:
    """Plays one case at a time. Satisfies `parlour.training.play.parallel.threads.GameWorker`."""

    model: Model
    failures: Failures = RULE

    def play(self, job: CaseJob, stop: Event | None = None) -> CaseResult | rollout.Unfinished:
        """One case, given up at the next turn once `stop` is set; one in which a player failed, where those are skipped."""
        try:
            return play_case(job, self.model, stop, self.failures)
        except rollout.GameUnfinished as given_up:
            if not self.failures.skips:
                raise
            return given_up.game


def play_all(
    jobs: Sequence[CaseJob],
    model: Model,
    runner: GameRunner = ONE_AT_A_TIME,
    what: str = "games",
    keep: Callable[[CaseResult], None] = lambda _: None,
    skip: Callable[[int, rollout.Unfinished], None] = refuse,
) -> list[CaseResult]:
    """Play all jobs; the results are in their order.

    Args:
        jobs: What is played.
        model: Who answers.
        runner: How games are played; its workers are processes, where no language model is asked. Otherwise, and in each
            process of a pool, as many games are played at once, in threads, as the model has calls under way.
        what: What the progress line calls them.
        keep: Called with each result, in order, as soon as it and all before it are there.
        skip: Called with the number of a job whose game was given up because a player failed; it has no result.

    Raises:
        ParlourError: See `play_case`; or as `failures` says.
    """
    check_jobs(jobs, runner.workers)
    failures, pool = runner.failures, runner.pool

    ceiling = Ceiling(failures.max_fallback)

    def kept(number: int, played: CaseResult | rollout.Unfinished) -> list[CaseResult]:
        if isinstance(played, rollout.Unfinished):
            skip(number, played)
            ceiling.add([jobs[number].method.name] * len(played.decisions), played.decisions)
            return []
        keep(played)
        ceiling.add(played.players, played.players.values())
        return [played]

    in_threads = pool is not None or model.is_language_model
    with opened(1 if in_threads or len(jobs) < 2 else runner.workers) as processes:
        players = [CaseWorker(model, failures)] * (max(1, min(model.concurrency, len(jobs))) if in_threads else 1)
        play_jobs = replace(runner, pool=pool or processes).play_jobs(players, jobs, kept, what)
        return [result for results in play_jobs for result in results]


def generated(number: int, first: int = 0, language: str = "en", more: str = "") -> list[tuple[str, int]]:
    """References and seeds of held-out generated cases.

    Args:
        number: How many.
        first: Number of the first one.
        language: `"en"` or `"zh"`; the stories are the same.
        more: What follows in the reference, such as `":5:1"`.
    """
    last = len(seeds.HELD_OUT) - number
    if not 0 <= first <= last:
        raise accept("seed", first, range(last + 1))
    return [(f"seed:{seed}:{language}{more}", seed) for seed in seeds.HELD_OUT[first : first + number]]


def in_folder(folder: Path, first: int = 0) -> list[tuple[str, int]]:
    """References and seeds of all cases below a folder: WellPlay scripts and cases in JSON.

    Raises:
        ParlourError: There is none.
    """
    scripts = load.folders(folder)
    inside = {path for script in scripts for path in script.rglob("*.json")}
    cases = sorted(path for path in folder.rglob("*.json") if path not in inside and '"format"' in _head(path))
    references = [str(path) for path in (*scripts, *cases)]
    if not references:
        raise accept("cases", str(folder), "a folder with WellPlay scripts or cases in JSON")
    return [(reference, seeds.HELD_OUT[first + number]) for number, reference in enumerate(references)]


def _head(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(200)
