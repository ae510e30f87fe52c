r"""The data of a replay page: one JSON object; this file is its schema. Ours.

The browser gets nothing else, and computes nothing of the game: what it shows stands here, as texts and numbers.

Conventions
-----------
* **Left out.** A field that has the default that stands here is not written: a browser reads `step.fault || ""`,
  `call.read || 0`. Fields without a default are always there. Tuples are lists.
* **Steps** are numbered from 0, as in `#step=41&seat=3`: every line of the transcript is one (moves, nature's included, and
  words that were no move), and the end of the game, or of what is left of it, is the last one (`kind` "end"). At step k
  everything with `step` <= k has happened.
* **`to`** says who knows something: absent (null) everybody; a list of seats: those alone; `[]` nobody at the table: it is
  for the view of everything. A page for seat s shows what has no `to`, or a `to` with s in it; the page of what everybody
  knows what has no `to`. `whom` of a step applies to everything in the step.
* **Seats** are numbers 0 .. n-1; -1 is nature: the moderator and services.
* **Texts** are data and come from anybody: they may hold markup, script, bidi control characters (U+202A-202E, 2066-2069,
  200E/F, 061C), other control characters and lone surrogates. Nothing is removed; a page puts them in by `textContent` alone
  and shows the characters that turn the direction of writing, and unprintable ones, as marks.
* **Chances** equal the Python API's to 1e-10.

What nobody at the table sees of the others never reaches `lines` with their seat in `to`: lines come from the Views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from parlour.envs.language.english import name

FORMAT: Final = 1
"""Of `Replay.parlour_replay`."""
ENOUGH_DIGITS: Final = 10
"""Decimals of a belief."""

To = tuple[int, ...] | None
"""Who knows it; None: everybody."""


@dataclass(frozen=True)
class SeatCard:
    """Who sits at a seat."""

    agent: str
    """`player_0`, or the name that the game gives the seat, such as `mediator`."""
    called: str = ""
    """The character's name, in a murder mystery; the name that people gave the seat."""
    player: str = ""
    """Who played it, as the header of the transcript says."""
    model: str = ""
    """Which model answered it, and at which host."""
    role: str = ""
    side: str = ""
    returned: float | None = None
    """None: the game has no outcome."""
    won: bool | None = None
    """None where nobody can say: no outcome, no sides."""
    died: int | None = None
    """The step from which the seat is out of the game; None if it never is."""
    decisions: Mapping[str, Any] = field(default_factory=dict)
    """As `Decisions.as_json`: own, by the heuristic, replaced by the table, questions, tokens, dollars."""


@dataclass(frozen=True)
class Turned:
    """Where a game turned."""

    step: int
    why: str
    """In one sentence."""


@dataclass(frozen=True)
class Header:
    """What the page's head tells."""

    game: str
    title: str
    config: Mapping[str, Any]
    seats: tuple[SeatCard, ...]
    file: str = ""
    """Name of the transcript's file, without its folder."""
    seed: int | None = None
    language: str = "en"
    """Language of the game's words."""
    rules: str = ""
    """Rules of the table, if they are the same for all."""
    sides: tuple[str, ...] = ()
    winner: str = ""
    reason: str = ""
    ended: str = ""
    """How the game ended, in one sentence; for an unfinished game, the reason, if known."""
    finished: bool = False
    turned: Turned | None = None
    """None: not known."""
    notes: tuple[str, ...] = ()
    """Notes about the page itself: what could not be replayed, what was left out, which players are no models."""


@dataclass(frozen=True)
class AskedCall:
    """One call to a model, or what a heuristic answered in its place, folded under its step. Known to the seat alone."""

    ask: str
    """The kind of question."""
    prompt: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Messages: (role, runs of pieces in `Replay.pieces`: number of the first, how many, and so on); joined, they are the message."""
    reply: str = ""
    thinking: str = ""
    answer: str = ""
    """Answer of a heuristic, or by a paper's rule, as JSON."""
    fault: str = ""
    """Why the reply was no answer, or the server gave none."""
    by: str = ""
    """`heuristic` or `paper`: it answered in the model's place, for `reason`."""
    reason: str = ""
    model: str = ""
    """What the server said had answered."""
    read: int | None = 0
    """Tokens of the prompt; None where the server did not report them, ..."""
    cached: int | None = 0
    """... of these from the server's own cache, ..."""
    written: int | None = 0
    """... and of the reply."""
    dollars: float | None = None
    """None: not known."""
    cut: int = 0
    """Lines of the record that did not fit."""


@dataclass(frozen=True)
class ReplayStep:
    """One line of the transcript."""

    seat: int
    kind: str
    """Kind of the move: `vote`; `refused` for words that were no move, `forfeit`, and `end` for the last step."""
    said: str = ""
    """The move in the table's words, as the seat's canonical sentence; for nature empty."""
    words: str = ""
    """Free speech that goes with it, as the table saw it; of nature the answer of a service."""
    raw: str = ""
    """The words as they came in, where the move was given in words."""
    whom: To = None
    """Who may see this step's own fields: the seat that moves, and those who saw the move at once. The page of a seat that is
    not among them shows the step's lines alone (by their own `to`)."""
    fault: str = ""
    """`unreadable`, `ambiguous`, `illegal`, `forfeit`: the words were refused."""
    by: str = ""
    """`table`, `heuristic` or `paper`: the move is not the seat's own, for `reason`."""
    reason: str = ""
    choice: int | None = None
    """Number in `Replay.choices`: what the seat was asked and might do. Known to the seat alone."""
    asks: tuple[AskedCall, ...] = ()
    """Known to the seat alone."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What else the line of the transcript holds. Known to nobody at the table."""


@dataclass(frozen=True)
class Line:
    """One line of the record, as the players who know it read it."""

    step: int
    """First step at which it is known."""
    seat: int
    """Who moved or spoke; -1 the moderator."""
    kind: str
    """Kind of the move or announcement."""
    text: str
    to: To = None
    words: str = ""
    """The free speech within it, where there is some: `text` holds it in quotation marks."""


@dataclass(frozen=True)
class SelfKnowledge:
    """What the first section of a seat's text says, from a step on: who it is, and what it knows from outside the talk."""

    step: int
    seat: int
    text: str


@dataclass(frozen=True)
class Offer:
    """What a seat was asked, and what it might do."""

    ask: str
    options: tuple[str, ...]
    more: int = 0
    """Options that are not listed here."""


@dataclass(frozen=True)
class ReplayColumn:
    """A column of a table."""

    title: str
    kind: str = "text"
    """What its cells are:
    `text`; `number`; `seat` (a number, or null); `seats` (a list); `flag` (true, false, null);
    `ballot` (of a seat in the table of teams and votes: `[vote, on_team]`, vote 1 approves, 0 rejects, null none);
    `target` (of a seat in the table of votes by day: a seat, -1 for nobody, -2 it was dead, null not told)."""
    seat: int | None = None
    """Whose column it is, of `ballot` and `target`."""


def seat_columns(kind: str, seats: int) -> tuple[ReplayColumn, ...]:
    """A column for each seat of a table."""
    return tuple(ReplayColumn(name(seat), kind, seat) for seat in range(seats))


@dataclass(frozen=True)
class ReplayRow:
    """A row of a table, known from its step on."""

    step: int
    cells: tuple[Any, ...]
    """One for each column."""
    key: str = ""
    """A later row with the same key takes the place of this one, as of a team when its votes are shown; empty: none does."""
    to: To = None


@dataclass(frozen=True)
class ReplayTable:
    """A table of one game's own matter."""

    id: str
    """`teams`, `cards` (avalon), `days`, `nights`, `chains` (werewolf), `suspicions`, `votes`, `sensors`,
    `quiz` (murder mystery), `questions`,
    `signals` (mediated QA)."""
    title: str
    columns: tuple[ReplayColumn, ...]
    rows: tuple[ReplayRow, ...]
    note: str = ""


@dataclass(frozen=True)
class Document:
    """A text beside the record: a case's briefing, a script, what really happened, a quiz."""

    title: str
    text: str
    step: int = 0
    to: To = None


@dataclass(frozen=True)
class Graph:
    """What documents a question is linked to, and the path that was taken through them."""

    step: int
    title: str
    nodes: tuple[tuple[str, str], ...]
    """(label, kind), kind one of `Document`, `Sentence`, `Entity`, `Concept`."""
    edges: tuple[tuple[int, int, float], ...]
    """(node, node, weight)."""
    path: tuple[int, ...] = ()
    """Nodes in order."""
    to: To = None


@dataclass(frozen=True)
class BeliefLines:
    """What somebody holds for likely, over the steps: one line for each subject."""

    id: str
    """`evil:3`: what, and who holds it; unique."""
    title: str
    """In words: "player_3: chance of being evil"."""
    what: str
    """`evil`, `Merlin`, `werewolf`, `Seer`, `murderer of ...`, `trust` ..."""
    holder: int | None
    """Whose belief; None of an onlooker, who knows what everybody knows."""
    source: str
    """`exact`: the posterior of the heuristic's habits, worked out from the holder's Views; `recorded`: the player's own, as
    the transcript holds it."""
    low: float
    high: float
    """Upper end of the axis."""
    points: tuple[tuple[int, tuple[float | None, ...]], ...]
    """(step, a value for each of `subjects`), where it changed: it holds until the next. Null: no value, as of a player that
    is out of the game."""
    subjects: tuple[int, ...] = ()
    """Seats; where `labels` are given, numbers of those."""
    labels: tuple[str, ...] = ()
    """Labels of subjects that are no seats."""
    by: str = ""
    """How it was made, in one sentence."""


@dataclass(frozen=True)
class Replay:
    """A game as a page shows it."""

    parlour_replay: int
    """`FORMAT`."""
    header: Header
    steps: tuple[ReplayStep, ...]
    lines: tuple[Line, ...]
    """In the order in which they came."""
    who: tuple[SelfKnowledge, ...] = ()
    alive: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(step, 1/0 of each seat) where it changed; empty in a game in which nobody leaves."""
    choices: tuple[Offer, ...] = ()
    pieces: tuple[str, ...] = ()
    """Pieces of prompts: each occurs here once."""
    tables: tuple[ReplayTable, ...] = ()
    documents: tuple[Document, ...] = ()
    graphs: tuple[Graph, ...] = ()
    beliefs: tuple[BeliefLines, ...] = ()
