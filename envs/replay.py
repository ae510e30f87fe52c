"""Transcripts: a header and one line a move, from which any game is played again without chance, index or model.

A transcript is JSON Lines. The first line is the header: `{"parlour": 1, "game", "config", ...}` with whatever else the
writer adds (seed, players). Then one line for every move, nature's included:

    {"n": 3, "seat": "player_1", "move": ["vote", [1]], "say": "I approve the team.", "to": ["player_1"], "raw": "aye"}

`words` holds free speech as the table saw it, `raw` the words as they came in, `to` the seats that saw the move at once
(absent: everybody). A line with `"fault"` and without `"move"` records words that were no move. A move that was not the seat's
own names its author in `by`, with the `reason`: `"table"` (`"default"`, `"random"`: what replaced words that could not
be used; `"clock"`: a person's time was over) or `"heuristic"` (why the model gave no answer). The last line of a finished game is
`{"outcome": {"returns", "winner", "reason"}, ...}`, or `{"unfinished": why, ...}` if the game was given up. A file that ends
within a line is read up to the line before.

A transcript may come from anybody: a path in its config is opened only in folders that the caller names, and words have a
greatest length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.common.json_values import json_value
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
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry
from parlour.envs.language.text import MAX_WORDS
from parlour.envs.registry import build, checked_options, known
from parlour.envs.spec import GameSpec

FORMAT: Final = 1
NATURE_NAME: Final = "nature"
BY_TABLE: Final = "table"
BY_HEURISTIC: Final = "heuristic"
"""The author of a move, if not the seat: the table, or the heuristic instead of the seat's model."""
_LONGEST_KIND: Final = 100
MAX_SERVICE_WORDS: Final = 100_000
"""Characters of one answer of a service that are read."""


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
        records = [_record(path, number, line) for number, line in enumerate(whole, 1)]
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
                outcome, closing = _outcome(path, number, record["outcome"]), record
            elif "unfinished" in record:
                closing = record
            else:
                entries.append(_entry(path, number, record))
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


# -- writing ---------------------------------------------------------------------------------------------------


def header_line(game_id: str, config: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """The first line of a transcript."""
    return _line({"parlour": FORMAT, "game": game_id, "config": dict(config), **extra})


def entry_line(number: int, entry: Entry, text: GameText[Any], notes: Mapping[str, Any] | None = None) -> str:
    """The line of a move, or of words that were none. `notes` are added under their own names."""
    line: dict[str, Any] = {"n": number, "seat": _who(entry.seat)}
    if entry.move is not None:
        line["move"] = [entry.move.kind, list(entry.move.args)]
        if entry.seat != NATURE:
            line["say"] = text.say(entry.move)
        if entry.move.words:
            line["words"] = entry.move.words
    if entry.to is not None:
        line["to"] = [name(seat) for seat in entry.to]
    if entry.raw is not None:
        line["raw"] = entry.raw
    if entry.fault:
        line["fault"] = entry.fault
    if entry.replaced:
        line |= {"by": BY_TABLE, "reason": entry.replaced}
    return _line({**line, **(notes or {})})


def outcome_line(outcome: Outcome, notes: Mapping[str, Any] | None = None) -> str:
    """The last line of a finished game. `notes` are added under their own names."""
    values = {"returns": list(outcome.returns), "winner": outcome.winner, "reason": outcome.reason}
    return _line({"outcome": values, **(notes or {})})


def unfinished_line(why: str, notes: Mapping[str, Any] | None = None) -> str:
    """The last line of a game that was given up. `notes` are added under their own names."""
    return _line({"unfinished": why, **(notes or {})})


def _line(value: Mapping[str, Any]) -> str:
    # lone surrogates of broken input are escaped, so that every file is valid UTF-8, and so are the characters besides
    # the line break that other readers take for one
    line = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return re.sub("[\u0085\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", line) + "\n"


def _who(seat: int) -> str:
    return NATURE_NAME if seat == NATURE else name(seat)


# -- reading ---------------------------------------------------------------------------------------------------


def _record(path: str | Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record, why = json_value(line), ""
    except ValueError as error:
        record, why = None, f" ({error})"
    if not isinstance(record, dict):
        raise ParlourError(f"{str(path)!r} line {number} is not a JSON object{why}; accepted: a transcript of parlour")
    return record


def _entry(path: str | Path, number: int, record: Mapping[str, Any]) -> Entry:
    try:
        seat = _seat(record["seat"])
        to = None if "to" not in record else tuple(_seat(who) for who in record["to"])
        move = None
        if "move" in record:
            kind, args = record["move"]
            if type(kind) is not str or not kind.isprintable() or len(kind) > _LONGEST_KIND or type(args) is not list:
                raise TypeError(f"move {value_shown(record['move'])}, accepted: a kind and a list of whole numbers")
            if not all(type(arg) is int for arg in args):
                raise TypeError(f"arguments {value_shown(args)}, accepted: whole numbers")
            move = Move(kind, tuple(args), _words(seat, record.get("words", "")))
        elif "fault" not in record:
            raise KeyError("move")
        replaced = str(record.get("reason", "")) if record.get("by") == BY_TABLE else ""
        return Entry(seat, move, to, record.get("raw"), str(record.get("fault", "")), replaced)
    except (KeyError, TypeError, ValueError) as error:
        raise ParlourError(f"{str(path)!r} line {number} is not a move: {error}") from None


def _words(seat: int, words: Any) -> str:
    most = MAX_SERVICE_WORDS if seat == NATURE else MAX_WORDS
    if not isinstance(words, str) or len(words) > most:
        raise ValueError(f"words of {len(words) if isinstance(words, str) else 0} characters, accepted: at most {most}")
    return words


def _outcome(path: str | Path, number: int, line: Any) -> Outcome:
    try:
        returns, winner, reason = line["returns"], line["winner"], line["reason"]
        if not all(type(x) in (int, float) for x in returns) or type(winner) is not str or type(reason) is not str:
            raise TypeError("returns, winner and reason; accepted: numbers and two texts")
        return Outcome(tuple(map(float, returns)), winner, reason)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ParlourError(f"{str(path)!r} line {number} is not an outcome: {error}") from None


def _seat(who: Any) -> int:
    if who == NATURE_NAME:
        return NATURE
    if not isinstance(who, str) or not re.fullmatch(r"player_\d{1,6}", who):
        raise ValueError(f"seat {value_shown(who)}, accepted: {NATURE_NAME}, player_0 ...")
    return int(who.removeprefix("player_"))


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
            raise ParlourError(f"move {number}: made by {_who(entry.seat)}; accepted: the seat to move, {_who(actor)}")


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
