"""Games of Avalon as a table of judged utterances: who said it, and what a model, or a heuristic, read in it.

Each utterance of a discussion is put to the model as questions (`questions`): the attitude to the others and the
self-proposal of all, the identity and what is shared in the first round only, where they are measured. A speech without
words is a claim; its canonical sentence goes to the heuristics, which read such sentences exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs import replay
from parlour.envs.avalon.vocabulary import LEADS, MERLIN, PERCIVAL, TEAM, VOTES, side_of
from parlour.envs.core import Event, Move, check_from
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.replay import Transcript, text_of
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Model, OfflineModel, RequestContext
from parlour.training.measure.avalon import measures as metrics
from parlour.training.measure.avalon.measures import CountedGame
from parlour.training.papers.avalon_social import responses
from parlour.training.papers.avalon_social.questions import Attitude, Disclosure, SelfProposal, Sharing, seat
from parlour.training.papers.avalon_social.responses import Response
from parlour.training.papers.avalon_social.roles import Identity

INFORMED: Final = (MERLIN, PERCIVAL)
"""Whose sharing is measured."""
_JUDGE: Final = RequestContext("judge")


@dataclass(frozen=True)
class Utterance:
    """A contribution to a discussion, judged."""

    quest: int
    """0-4."""
    speaker: int
    team: tuple[int, ...] | None
    """The team that was voted on next; None if none was."""
    trusts: tuple[int, ...]
    distrusts: tuple[int, ...]
    proposes_self: bool
    identity: Identity | None
    """None after the first round."""
    revealed: tuple[int, ...]
    """Seats that the night showed Merlin or Percival, and that the speaker names for it; none after the first round."""


@dataclass(frozen=True)
class JudgedGame:
    """A finished game, judged."""

    game: CountedGame
    players: tuple[str, ...]
    """Who played each seat; empty names if the header does not tell."""
    heard: bool
    """Whether what was said is known; if not, there are no utterances."""
    utterances: tuple[Utterance, ...]
    responses: tuple[Response, ...]
    replies: tuple[Response, ...]
    """Replies of models, if the transcript holds them."""


@dataclass(frozen=True)
class Judged:
    """What `measures` counts over."""

    model: str
    """Who judged."""
    tables: tuple[JudgedGame, ...]
    counted: Mapping[str, Any]
    """What `parlour.training.measure.avalon.compute` finds in the same games."""
    questions: int
    """Number of different questions to the model."""
    fallbacks: int
    """How many of them a heuristic had to answer in the model's place."""


class _Said(NamedTuple):
    """An utterance before it is judged."""

    quest: int
    speaker: int
    team: tuple[int, ...] | None
    move: Move
    words: str


def judge(transcripts: Iterable[Transcript], model: Model | None = None, workers: int = 1) -> Judged:
    """Judge the discussions of finished games of Avalon; unfinished ones are left out.

    Args:
        transcripts: As `parlour.envs.replay.Transcript.read` returns them.
        model: Who judges; the heuristics by default.
        workers: How many questions are put at once. The result does not depend on it.

    Raises:
        ParlourError: A transcript is of another game, or its moves do not fit the rules; or the model cannot be reached.
    """
    given = list(transcripts)
    games = list(metrics.counted_games(given))
    finished = [_read(table, game) for table, game in zip(given, games, strict=True) if game is not None]
    bench = JudgeBench(model or OfflineModel(), workers)
    bench.ask(question for table, said in finished for utterance in said for question in _questions(table, utterance))
    tables = tuple(
        replace(table, utterances=tuple(_utterance(table, utterance, bench) for utterance in said))
        for table, said in finished
    )
    return Judged(bench.model.name, tables, metrics.of_games(games), bench.questions, bench.fallbacks)


def judge_directory(directory: str | Path, model: Model | None = None, workers: int = 1) -> Judged:
    """`judge` over all transcripts (`*.jsonl`) of a folder.

    Raises:
        ParlourError: See `judge`; or the folder holds no transcript, or an unreadable transcript.
    """
    return judge((replay.Transcript.read(path) for path in replay.Transcript.files(directory)), model, workers)


class JudgeBench:
    """Puts each different question once, several at a time, and keeps the answers."""

    def __init__(self, model: Model, workers: int = 1) -> None:
        check_from("workers", workers, 1)
        self.model, self._workers = model, workers
        self._offline = OfflineModel()
        self._answers: dict[tuple[Ask[Any], bool], Any] = {}
        self.questions = self.fallbacks = 0

    def ask(self, questions: Iterable[tuple[Ask[Any], bool]]) -> None:
        """Ask questions; each says whether it is about free words, that is, for the model."""
        new = [question for question in dict.fromkeys(questions) if question not in self._answers]
        free = [question for question, words in new if words]
        with ThreadPoolExecutor(self._workers) as pool:
            answers = list(pool.map(lambda question: self.model.answer(question, _JUDGE), free))
        self.questions += len(free)
        self.fallbacks += sum(answered.fell_back for answered in answers)
        self._answers |= {(question, True): answer.value for question, answer in zip(free, answers, strict=True)}
        claims = [question for question, words in new if not words]
        self._answers |= {(question, False): self._offline.answer(question, _JUDGE).value for question in claims}

    def answer(self, question: Ask[Any], words: bool = True) -> Any:
        """The answer to a question that was put."""
        return self._answers[question, words]


# -- one game --------------------------------------------------------------------------------------------------


def _read(transcript: Transcript, game: CountedGame) -> tuple[JudgedGame, list[_Said]]:
    agents = transcript.header.get("players")
    named = agents if isinstance(agents, Mapping) else {}
    players = tuple(str(named.get(name(holder), "")) for holder in range(len(game.roles)))
    given = responses.at_the_table(transcript), tuple(responses.of_models(transcript))
    said = list(_said(game.log, text_of(transcript).say)) if transcript.heard else []
    return JudgedGame(game, players, transcript.heard, (), *given), said


def _said(log: Iterable[Event], say: Any) -> Iterator[_Said]:
    """The utterances of a game, each with the team that was voted on after it."""
    quest = 0
    team: tuple[int, ...] = ()
    open_: list[_Said] = []
    for speaker, move, _ in log:
        if move.kind == LEADS:
            quest = move.args[0]
        elif move.kind in speech.ACTS:
            open_.append(_Said(quest, speaker, None, move, move.words or say(move)))
        elif move.kind == TEAM:
            team = move.args
        elif move.kind == VOTES:
            yield from (question._replace(team=team) for question in open_)
            open_ = []
    yield from open_


def _questions(table: JudgedGame, said: _Said) -> Iterator[tuple[Ask[Any], bool]]:
    free, roles = bool(said.move.words), table.game.roles
    yield attitude(said.words, said.speaker, len(roles)), free
    yield self_proposal(said.words, said.speaker), free
    if said.quest == 0:
        yield disclosure(said.words, said.speaker, roles[said.speaker]), free
        if roles[said.speaker] in INFORMED:
            yield sharing_question(said.words, said.speaker, roles, table.game.known[said.speaker]), free


def attitude(words: str, speaker: int, seats: int) -> Attitude:
    """The question about an utterance's attitudes."""
    others = tuple(name(other) for other in range(seats) if other != speaker)
    return Attitude(speaker=name(speaker), others=others, words=words)


def self_proposal(words: str, speaker: int) -> SelfProposal:
    """The question about an utterance's self-proposal."""
    return SelfProposal(speaker=name(speaker), words=words)


def disclosure(words: str, speaker: int, role: str) -> Disclosure:
    """The question about what an utterance does with the speaker's identity."""
    return Disclosure(speaker=name(speaker), role=role, side=side_of(role), words=words)


def sharing_question(words: str, speaker: int, roles: tuple[str, ...], known: tuple[int, ...]) -> Sharing:
    """The question about the night knowledge in an utterance."""
    names, shown = tuple(map(name, known)), tuple(sorted(roles[holder] for holder in known))
    return Sharing(speaker=name(speaker), role=roles[speaker], known=names, shown_as=shown, words=words)


def _utterance(table: JudgedGame, said: _Said, bench: JudgeBench) -> Utterance:
    answers = {question.kind: bench.answer(question, free) for question, free in _questions(table, said)}
    trusted, distrusted = _seats(answers[Attitude.kind].trusts), _seats(answers[Attitude.kind].distrusts)
    identity = answers[Disclosure.kind].identity if Disclosure.kind in answers else None
    shared = _seats(answers[Sharing.kind].told if Sharing.kind in answers else ())
    proposes_self = answers[SelfProposal.kind].proposes_self
    return Utterance(said.quest, said.speaker, said.team, trusted, distrusted, proposes_self, identity, shared)


def _seats(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(seat(who) for who in names))
