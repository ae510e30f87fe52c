"""Transcripts: a header and one line a move, from which any game is played again without chance, index or model.

`parlour.envs.language.transcript_lines` writes and reads its lines. A file that ends within a line is read up to the line before.

A transcript may come from anybody: a path in its config is opened only in folders that the caller names, and words have a
greatest length.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import (
    NATURE,
    OVER,
    Game,
    GameText,
    IllegalMove,
    Move,
    Outcome,
    ParlourError,
    accept,
    given_up,
    value_shown,
)
from parlour.envs.language.entries import Entry
from parlour.envs.language.transcript_lines import FORMAT, read_entry, read_outcome, read_record, seat_name
from parlour.envs.registry import build, checked_options, known
from parlour.envs.spec import GameSpec


@dataclass(frozen=True)
class Transcript:
    """A game as it was written down."""

    header: Mapping[str, Any]
    entries: tuple[Entry, ...]
    """Moves, nature's included, and words that were no move; in order."""
    outcome: Outcome | None
    """None if the game was not finished."""
    own: GameSpec | None = field(default=None, repr=False, kw_only=True)
    """The game, where it is not looked up by its name in the header."""
    closing: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False, kw_only=True)
    """The last line, with all its notes: the outcome, or why the game was given up; empty without one."""
    lines: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, compare=False, kw_only=True)
    """The line of each entry with all its notes, where the transcript was read from a file."""
    folders: tuple[Path, ...] = field(default=(), repr=False, compare=False, kw_only=True)
    """In which a path that its config names may lie."""

    @classmethod
    def read(cls, path: str | Path, spec: GameSpec | None = None, *, folders: Iterable[str | Path] = ()) -> Transcript:
        """Read a transcript.

        Args:
            path: The file.
            spec: The game; None to look it up by its name in the header.
            folders: Paths that the config may name, such as that of a case, and folders of such; nothing else is opened.

        Raises:
            ParlourError: The file cannot be read or is no transcript; the message names the file and the line.
        """
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise ParlourError(f"transcript {str(path)!r} cannot be read: {error.strerror}") from None
        return cls.parse(content, path, spec, folders=folders)

    @classmethod
    def parse(
        cls, content: bytes, path: str | Path, spec: GameSpec | None = None, *, folders: Iterable[str | Path] = ()
    ) -> Transcript:
        """A transcript from the content of its file, which messages call `path`. Otherwise as `read`."""
        whole = [line for line in content.split(b"\n")[:-1] if line.strip()]
        records = [read_record(path, number, line) for number, line in enumerate(whole, 1)]
        if not records or records[0].get("parlour") != FORMAT:
            raise ParlourError(
                f'{str(path)!r} is not a transcript of parlour; accepted: a header with "parlour": {FORMAT}'
            )
        header = records[0]
        if not isinstance(header.get("game"), str) or not isinstance(header.get("config"), dict):
            raise ParlourError(f"{str(path)!r} line 1: the header lacks the game's name and config")
        outcome, closing = None, dict[str, Any]()
        entries, noted = [], []
        for number, record in enumerate(records[1:], 2):
            if "outcome" in record:
                outcome, closing = read_outcome(path, number, record["outcome"]), record
            elif "unfinished" in record:
                closing = record
            else:
                entries.append(read_entry(path, number, record))
                noted.append(record)
        return cls(
            header,
            tuple(entries),
            outcome,
            own=spec,
            closing=closing,
            lines=tuple(noted),
            folders=tuple(map(Path, folders)),
        )

    @staticmethod
    def files(directory: str | Path) -> list[Path]:
        """The transcripts (`*.jsonl`) of a folder, by name. Raises `ParlourError` if there is none."""
        paths = sorted(path for path in Path(directory).glob("*.jsonl") if path.is_file())
        if not paths:
            raise ParlourError(f"folder {str(directory)!r} holds no transcript; accepted: a folder with *.jsonl files")
        return paths

    @property
    def spec(self) -> GameSpec:
        """The game. Raises `ParlourError` as `parlour.envs.registry.known` does."""
        return self.own or known(self.header["game"]).spec

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves, nature's included."""
        return tuple(entry.move for entry in self.entries if entry.move is not None)

    @property
    def heard(self) -> bool:
        """Whether it holds what was said: a published game that was imported without its log does not, and all are silent."""
        published = self.header.get("published")
        return not isinstance(published, Mapping) or "words" in published

    def assumed_moves(self) -> frozenset[int]:
        """The numbers of the moves, from 0 and nature's included, that the record of an imported game does not tell.

        Empty where a format tells every move. Whoever counts cards or guesses, or learns from them, leaves these out.

        Raises:
            ParlourError: The header's `record.assumed` is not a list of whole numbers.
        """
        record = self.header.get("record")
        numbers = record.get("assumed", []) if isinstance(record, Mapping) else []
        if not isinstance(numbers, list) or any(type(number) is not int for number in numbers):
            raise accept("record.assumed", numbers, "a list of whole numbers, as `import` writes")
        return frozenset(numbers)

    def game(self) -> Game[Any]:
        """The rules it was played by. Raises `ParlourError` for a config that cannot be used or opens other paths."""
        spec, config = self.spec, self.header["config"]
        opened = checked_options(spec, config).opens()
        if opened is not None and not any(_lies_in(opened, folder) for folder in self.folders):
            named = ", ".join(map(str, self.folders)) or "none was named"
            raise ParlourError(
                f"{opened!r}, which the transcript names, is not opened; accepted: paths in folders that are named "
                f"to open them (--cases): {named}"
            )
        try:
            game: Game[Any] = build(spec, config)
        except (TypeError, OverflowError) as error:
            raise ParlourError(f"the header's config cannot be used: {error}") from None
        return game

    def states(self) -> Iterator[Any]:
        """The states of the game, from the initial one to the one after the last move. Raises as `parlour.envs.replay.states` and `game`."""
        return states(self.game(), self.moves)

    def finished(self, game_id: str) -> tuple[Any, list[Any]] | None:
        """The rules and all states of a finished game; None for a game that was not finished.

        Raises:
            ParlourError: It is of another game than `game_id`, its moves do not fit the rules, or they lead to
                another outcome.
        """
        outcome = self.outcome
        if self.header["game"] != game_id:
            raise accept("game", self.header["game"], game_id)
        if outcome is None:
            return None
        game = self.game()
        reached = list(states(game, self.moves))
        if self.lines or outcome.reason != "forfeit":  # one that was made in this process may give up anywhere
            _check_outcome(self, game, reached[-1])
        return game, reached


def _lies_in(path: str, folder: Path) -> bool:
    try:
        return Path(path).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, with a null character, a circle of links
        return False


# -- playing again ---------------------------------------------------------------------------------------------


def states(game: Game[Any], moves: tuple[Move, ...]) -> Iterator[Any]:
    """The states of a game, from the initial one to the one after the last move.

    Raises:
        IllegalMove: A move does not fit, with its number.
    """
    state = game.initial()
    yield state
    for number, move in enumerate(moves):
        try:
            state = game.apply(state, move)
        except IllegalMove as error:
            raise IllegalMove(f"move {number}: {error}") from None
        yield state


@dataclass(frozen=True)
class Step:
    """A moment of a game played again: what everybody observes, and what is done then."""

    observations: Mapping[str, Any]
    """Agent -> observation, before the move."""
    agent: str
    """Who moves; empty at the end."""
    move: Move | None
    """None at the end."""


def reenact(
    transcript: Transcript, observation: str = "text", *, watched: Collection[str] | None = None
) -> Iterator[Step]:
    """Play a transcript again in its environment: a Step before each move of a seat, and one after the last.

    A transcript that stops while nature is to move ends with the last move of a seat before it.

    Args:
        transcript: The game.
        observation: As in `GameEnv`.
        watched: Agents whose observations are made; None for all.

    Raises:
        IllegalMove: A move does not fit the rules, with its number.
        ParlourError: The recorded outcome differs from the outcome of the moves.
    """
    game, moves = transcript.game(), transcript.moves
    reached = list(states(game, moves))
    actors = list(map(game.actor, reached))
    _check_seats(transcript, actors)
    _check_outcome(transcript, game, reached[-1])
    nature = [move for actor, move in zip(actors, moves, strict=False) if actor == NATURE]
    seats = [move for actor, move in zip(actors, moves, strict=False) if actor >= 0]
    cut = actors[-1] == NATURE
    if cut and not seats:
        return
    env = GameEnv(transcript.spec, game, observation=observation)  # type: ignore[arg-type]
    env.reset(options={"nature": nature})
    for number, move in enumerate(seats, 1):
        yield Step(_observed(env, watched), env.agent_selection, move)
        if cut and number == len(seats):
            return
        env.play(move)
    yield Step(_observed(env, watched), "" if actors[-1] == OVER else env.agent_selection, None)


def _observed(env: GameEnv, watched: Collection[str] | None) -> dict[str, Any]:
    return {agent: env.observe(agent) for agent in (env.possible_agents if watched is None else watched)}


def _check_seats(transcript: Transcript, actors: Sequence[int]) -> None:
    moves = (entry for entry in transcript.entries if entry.move is not None)
    for number, (entry, actor) in enumerate(zip(moves, actors, strict=False)):
        if entry.seat != actor:
            raise ParlourError(
                f"move {number}: made by {seat_name(entry.seat)}; accepted: the seat to move, {seat_name(actor)}"
            )


def _check_outcome(transcript: Transcript, game: Game[Any], last: Any) -> None:
    saved, reached = transcript.outcome, game.outcome(last)
    final = transcript.entries[-1] if transcript.entries else None
    # a seat that gives up ends the game by no move
    if reached is None and final is not None and final.fault == "forfeit" and final.seat == game.actor(last):
        reached = given_up(game.seats, final.seat)
    if saved is not None and saved != reached:
        raise ParlourError(
            f"the outcome {value_shown(saved)} is not the one of the moves; accepted: {value_shown(reached)}"
        )


def text_of(transcript: Transcript) -> GameText[Any]:
    """The wording of the transcript's game."""
    return transcript.spec.text(transcript.game())
