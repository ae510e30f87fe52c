"""How records of games become transcripts: what a format is, names of players, the way through the rules, files and folders.

A record holds choices and consequences. The choices are moves and go through `Game.apply`, which alone decides what is
legal; the consequences are compared, by the reader of the format, with the state that the moves lead to.

A name counts where it stands as a whole word, spelt as the record spells it: "Eve's plan" and "Alice+Eve" name Eve,
"Everyone" and "Steve" do not. Short forms ("me, D, and E") are left as they are: which player a letter means is a guess.

Files and folders: see `json_objects.read_records`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from parlour.envs.core import Game, GameText, IllegalMove, Move, Outcome, ParlourError, check_one_of
from parlour.envs.language import transcript_lines
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry, entry_of
from parlour.envs.language.text import clean
from parlour.envs.plugins import OpenTable
from parlour.training.records.json_objects import JsonObject, UnplayableError, named_games, read_records
from parlour.training.runs.progress import Stage, StageProgress, no_progress


@dataclass(frozen=True, kw_only=True)
class RecordFormat:
    """One form in which games are recorded."""

    game: str
    """Registry name of the game whose command imports it; a transcript may be of another that a package adds."""
    name: str
    fields: tuple[str, ...]
    """A record is of this format if it has all of these."""
    key: str
    """The field that names a game."""
    named: Callable[[JsonObject], str]
    """The name of a game, as a file may be called."""
    transcript: Callable[[JsonObject, Path | None], str]
    """What is written of a game, mostly its transcript; the second argument is the folder with the logs of the games, if
    one is named."""
    logs: bool = False
    """Whether speech is in separate logs."""
    other: Callable[[JsonObject], str | None] = lambda at: None
    """What a game is called whose name an earlier one has, if it has another."""
    prefix: str = ""
    """Prefix of the names of files."""
    leaves_out: bool = False
    """Whether a game that cannot be played is left out, and not the whole file refused."""


PACKAGES: Final[OpenTable[RecordFormat]] = OpenTable("parlour.records", RecordFormat)
"""Formats that installed packages add."""


def formats_of(game: str, own: Sequence[RecordFormat]) -> tuple[RecordFormat, ...]:
    """Parlour's formats of a game, then the formats of packages."""
    return (*own, *(form for form in PACKAGES.values() if form.game == game))


CONTRADICTS: Final = "contradicts the rules, the format or itself"
"""The reason of every other refusal."""


@dataclass(frozen=True)
class Refusal:
    """A game that was left out."""

    game: str
    reason: str
    message: str
    """One line, with where it stands."""


def refuse_file(refusal: Refusal) -> None:
    """Refuse the whole file. Raises `ParlourError` with the message."""
    raise ParlourError(refusal.message)


def record_notes(form: str, at: JsonObject, game_id: str | None, names: Sequence[str]) -> dict[str, Any]:
    """The origin and the seating, for the header of an imported record.

    `memory` is whether players remembered earlier games; a format adds what else it knows.
    """
    source = {"format": form, "source": at.fields.get("source"), "game_id": game_id}
    return source | {"model": None, "reasoning_effort": None, "memory": False, "names": list(names)}


LONGEST: Final = 100
"""Characters of a name."""


class Names:
    """The players of one record, by seat.

    >>> Names(["Eve", "Bob"]).with_seats("Everyone trusts Eve's team, Bob.")
    "Everyone trusts player_0's team, player_1."
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._seats = {who: seat for seat, who in enumerate(names)}
        longest_first = "|".join(re.escape(who) for who in sorted(names, key=len, reverse=True))
        self._named = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)")

    @classmethod
    def of(cls, players: Sequence[JsonObject], key: str) -> Self:
        """The names of a record's players. Raises `ParlourError` for a name that is empty, too long or another player's."""
        accepted = f"a name of its own for each player, of 1 to {LONGEST} characters"
        names: list[str] = []
        for at in players:
            name = at.of(str, key, accepted)
            if not name.strip() or len(name) > LONGEST or name in names:
                raise at.refused(key, accepted)
            names.append(name)
        return cls(names)

    def __len__(self) -> int:
        return len(self.names)

    def with_seats(self, words: str) -> str:
        """The words as the table hears them: names of seats for names of players, through the one door for words."""
        return clean(self._named.sub(lambda match: name(self._seats[match[0]]), clean(words)))

    def seat(self, at: JsonObject, key: str) -> int:
        """The seat of the player that a field names. Raises `ParlourError` for a field that names none."""
        return self._seats[at.one_of(key, self.names)]

    def seats(self, at: JsonObject, key: str) -> list[int]:
        """The seats of a list of different players, in its order. Raises `ParlourError` for any other list."""
        given = at.texts(key)
        if not set(given) <= set(self.names) or len(set(given)) != len(given):
            raise at.refused(key, f"a list of different players of {', '.join(self.names)}")
        return [self._seats[given_name] for given_name in given]


CUT: Final = "the record ends here"
"""Why a transcript of a record that stops before the end of the game is unfinished."""


class Logged(Protocol):
    """A state that keeps what was seen."""

    @property
    def log(self) -> Any: ...


S = TypeVar("S", bound=Logged)


class RecordedMoves(Generic[S]):
    """A game at its table, as far as its record was read.

    Args:
        game_id: By which the registry knows it.
        game: Its rules.
        text: Its wording.
    """

    def __init__(self, game_id: str, game: Game[S], text: GameText[Any]) -> None:
        self._game_id, self._game, self._text = game_id, game, text
        self.state: S = game.initial()
        self.entries: list[Entry] = []

    @property
    def actor(self) -> int:
        """The seat to move, `NATURE` or `OVER`."""
        return self._game.actor(self.state)

    def play(self, move: Move, at: JsonObject, raw: str | None = None) -> None:
        """Make a move; `raw` are the words that came with it. Raises `ParlourError`, with where it stands, if it is illegal."""
        before = self.state
        try:
            self.state = self._game.apply(before, move)
        except IllegalMove as error:
            raise ParlourError(f"{at.where}: {error}") from None
        self.entries.append(entry_of(self._game, before, self.state, move, raw, ""))

    def read(self, words: str, at: JsonObject, raw: str | None) -> None:
        """The seat to move says these words, which the game's own reader takes for a move; `raw` is how they came in."""
        self.play(self._text.parse(words, self._game.view(self.state, self.actor)), at, raw)

    @property
    def over(self) -> bool:
        return self._game.outcome(self.state) is not None

    @property
    def outcome(self) -> Outcome:
        """How the game ended, once it has."""
        outcome = self._game.outcome(self.state)
        assert outcome is not None
        return outcome

    def transcript(self, notes: Mapping[str, Any]) -> str:
        """The game as a transcript; `notes` go into the header."""
        header = transcript_lines.header_line(self._game_id, self._game.config, notes)
        lines = [transcript_lines.entry_line(number, entry, self._text) for number, entry in enumerate(self.entries)]
        last = transcript_lines.outcome_line(self.outcome) if self.over else transcript_lines.unfinished_line(CUT)
        return "".join([header, *lines, last])


AUTO: Final = "auto"


def read_as(
    formats: Sequence[RecordFormat],
    path: str | Path,
    logs: str | Path | None,
    form: str,
    progress: StageProgress = no_progress,
    leave_out: Callable[[Refusal], None] = refuse_file,
) -> dict[str, str]:
    """What is written of each game of a file or folder, by the name of the game, in the order of the records.

    Args:
        formats: The game's formats.
        path: The records.
        logs: The folder with the games' logs of speech, if the format has them; without it everybody is silent.
        form: The format by name, or "auto": the first record tells.
        progress: Called with the number of games read.
        leave_out: Called with each game that cannot be played, if the format leaves such games out.

    Raises:
        ParlourError: A file cannot be read, no game can be played, or a record contradicts the rules, the format or its log; the message names
            the file, the line, the game, the place in it and the reason.
    """
    check_one_of("format", form, (AUTO, *(format_.name for format_ in formats)))
    chosen, records = _chosen(formats, form, read_records(path))
    if logs is not None and not chosen.logs:
        with_logs = ", ".join(format_.name for format_ in formats if format_.logs)
        raise ParlourError(f"--logs does not go with the format {chosen.name}; accepted: {with_logs}")
    folder = None if logs is None else Path(logs)
    games = list(named_games(path, records, chosen.key, chosen.named, chosen.other))
    texts: dict[str, str] = {}
    last: ParlourError | None = None
    for game, at in Stage("Importing", len(games), "games").counted(games, progress):
        try:
            texts[f"{chosen.prefix}{game}"] = chosen.transcript(at, folder)
        except ParlourError as error:
            if not chosen.leaves_out:
                raise
            leave_out(Refusal(game, error.reason if isinstance(error, UnplayableError) else CONTRADICTS, str(error)))
            last = error
    if not texts:
        raise ParlourError(f"none of {len(games)} games can be played; the last one: {last}")
    return texts


def _chosen(
    formats: Sequence[RecordFormat], form: str, records: Iterator[JsonObject]
) -> tuple[RecordFormat, Iterator[JsonObject]]:
    """The format, and all records."""
    if form != AUTO:
        return next(format_ for format_ in formats if format_.name == form), records
    first = next(records, None)
    if first is None:
        return formats[0], records
    fitting = [format_ for format_ in formats if set(format_.fields) <= set(first.fields)]
    if len(fitting) != 1:
        text = "; ".join(f"{format_.name} (with {', '.join(format_.fields)})" for format_ in formats)
        raise first.error("no format, or more than one, has its fields", text)
    return fitting[0], chain([first], records)
