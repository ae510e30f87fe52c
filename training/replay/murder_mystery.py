"""A murder mystery on a replay page: the case, scripts, what really happened, suspicions, votes, quiz, and worlds that are left.

A seat's belief about the murderer is the share of worlds in which each seat did it (`parlour.envs.murder_mystery.belief`), among
the worlds that agree with its script, the briefing, and the statements it heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from parlour.envs.core import Event
from parlour.envs.language.english import name
from parlour.envs.murder_mystery import vocabulary as game
from parlour.envs.murder_mystery.belief import PUBLIC, Told, clauses, consistent, worlds
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, read, say
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS
from parlour.training.replay.matter import GameMatter
from parlour.training.replay.model import BeliefLines, Document, ReplayColumn, ReplayRow, ReplayTable
from parlour.training.replay.mystery_sensors import questum_beliefs
from parlour.training.replay.played import PlayedGame
from parlour.training.replay.tracks import Track

_WORDED: Final = (game.ANSWER, game.INTRODUCE)
_FOUND: Final = {
    game.Verdict.MISSED: "not solved",
    game.Verdict.SOLVED: "solved",
    game.Verdict.NO_PLAYER: "no player did it",
}
_BY: Final = "The share of the worlds in which each seat did it, of those that agree with all that {} knows and heard."


def mystery_matter(played: PlayedGame) -> GameMatter:
    """All that a page shows of a murder mystery beside its record."""
    views = played.last_views
    case: Case = played.game.case  # type: ignore[attr-defined]  # of a murder mystery
    own = questum_beliefs(played, views)
    return GameMatter(
        tables=(_suspicions(played, views), _votes(played, views), *own.tables, _quiz(case, len(played.entries))),
        documents=(*_scripts(views), _truth(case)),
        beliefs=(*_left(played, views), *own.beliefs),
        roles=tuple((view.role, view.side) for view in views),
        called=tuple(view.name for view in views),
        notes=("The quiz is put after the game: its answers are no part of a transcript.",),
    )


# -- texts -----------------------------------------------------------------------------------------------------------


def _scripts(views: list[MysteryView]) -> Iterator[Document]:
    """The briefing, and for each seat its own script with its objectives and planned lies."""
    yield Document(f"The case: {views[0].title}", views[0].briefing)
    for view in views:
        lies = [f"Planned lie: {say(lie, view.vocabulary, view.seat)}" for lie in view.lies]
        text = "\n".join([view.script, *view.objectives, *lies])
        yield Document(f"Script of {view.name} ({name(view.seat)})", text, to=(view.seat,))


def _truth(case: Case) -> Document:
    """Who did it; in generated cases also where, when and by what means."""
    sentences = []
    for number, victim in enumerate(case.victims):
        did = ", ".join(f"{case.names[seat]} ({name(seat)})" for seat in case.murderers(number))
        sentences.append(f"{victim.name}: murdered by {did or 'no player'}.")
    if case.truth is not None:
        for number, death in enumerate(case.truth.deaths):
            sentences.append(
                say(Fact("died", (case.seats + number, death.place, death.time, death.means)), case.vocabulary, None)
            )
        sentences += [say(fact, case.vocabulary, None) for fact in case.truth.facts]
    return Document("What really happened", "\n".join(sentences), to=())


# -- tables ----------------------------------------------------------------------------------------------------------


def _suspicions(played: PlayedGame, views: list[MysteryView]) -> ReplayTable:
    """Whom each seat suspected, in reports to the moderator and in its vote: known to the seat alone."""
    rows = []
    for seat, view in enumerate(views):
        victim = rounds = 0
        for news in played.news(seat):
            for event in news.events:
                kind, args, _ = event.move
                if kind == game.ROUND:
                    rounds = args[0]
                elif kind == game.WANTED:
                    victim = args[1]
                elif kind in (game.SUSPECT, game.VOTE) and event.seat == seat:
                    when = "vote" if kind == game.VOTE else f"round {rounds + 1}"
                    rows.append(ReplayRow(news.step, (when, seat, view.victims[victim], args[0]), to=(seat,)))
    columns = (ReplayColumn("when"), ReplayColumn("player", "seat"), ReplayColumn("victim"))
    rows.sort(key=lambda row: row.step)
    return ReplayTable("suspicions", "Suspicions and votes", (*columns, ReplayColumn("suspects", "seat")), tuple(rows))


def _votes(played: PlayedGame, views: list[MysteryView]) -> ReplayTable:
    """How many votes each seat has, and who was found."""
    columns = [ReplayColumn("victim"), *(ReplayColumn(name(seat), "number", seat) for seat in range(len(views)))]
    columns += [ReplayColumn("found", "seat"), ReplayColumn("result")]
    rows, counts = [], dict[int, tuple[int, ...]]()
    for news in played.news(0):
        for event in news.events:
            kind, args, _ = event.move
            if kind == game.VOTES:
                counts[args[0]] = args[1:]
            elif kind == game.VERDICT:
                suspect = args[1] if args[1] >= 0 else None
                cells = (views[0].victims[args[0]], *counts.get(args[0], ()), suspect, _FOUND[game.Verdict(args[2])])
                rows.append(ReplayRow(news.step, cells))
    return ReplayTable("votes", "The vote", tuple(columns), tuple(rows))


def _quiz(case: Case, end: int) -> ReplayTable:
    """The questions that each seat is asked after the game, with what counts as right; from the last step on."""
    texts = map(ReplayColumn, ("question", "options", "right"))
    columns = (ReplayColumn("asked", "seat"), ReplayColumn("points", "number"), *texts)
    rows = []
    for seat, asked in enumerate(case.questions):
        for question in asked:
            options = "; ".join(f"{letter}) {text}" for letter, text in zip(LETTERS, question.options, strict=False))
            right = ", ".join(LETTERS[key] for key in question.keys)
            rows.append(ReplayRow(end, (seat, question.points, question.text, options, right), to=()))
    return ReplayTable("quiz", "The quiz after the game", columns, tuple(rows))


# -- beliefs ---------------------------------------------------------------------------------------------------------


def _left(played: PlayedGame, views: list[MysteryView]) -> Iterator[BeliefLines]:
    """For each victim the onlooker and each seat that did not kill it; cases of prose only tell no facts."""
    if not views[0].vocabulary.places:
        return
    for victim in range(len(views[0].victims)):
        yield _line(played, views[0], victim, None)
        yield from (_line(played, view, victim, view.seat) for view in views if not view.murders[victim])


def _line(played: PlayedGame, view: MysteryView, victim: int, holder: int | None) -> BeliefLines:
    seats, person = len(view.names), len(view.names) + victim
    statements: dict[Told, None] = dict.fromkeys((PUBLIC, fact) for fact in view.public)
    every = list(worlds(seats, view.liars))
    if holder is not None:  # what a seat knows itself is certain to it
        statements |= dict.fromkeys((PUBLIC, fact) for fact in view.facts)
        every = [world for world in every if world.murderer != holder and (world.bad >> holder & 1) == bool(view.lies)]
    track, known = Track(), -1
    for news in played.news(0 if holder is None else holder):
        for event in news.events:
            if holder is not None or event.to is None:
                statements |= dict.fromkeys(_facts(event, view, holder))
        if len(statements) != known:
            known = len(statements)
            left = Counter(world.murderer for world in consistent(clauses(statements, person), every))
            track.at(news.step, (left[seat] / left.total() if left else None for seat in range(seats)))
    whose, whom = "everybody" if holder is None else name(holder), view.victims[victim]
    title, key = f"can have killed {whom}: share of the worlds left", f"exact murderer of {victim}: {whose}"
    what, subjects, by = f"murderer of {whom}", tuple(range(seats)), _BY.format(whose)
    return BeliefLines(key, title, what, holder, "exact", 0.0, 1.0, track.points, subjects, by=by)


def _facts(event: Event, view: MysteryView, holder: int | None) -> Iterator[Told]:
    """What an event tells, and who tells it."""
    seat, (kind, args, words), _ = event
    if seat == holder:
        return
    if kind == game.TELL:
        yield seat, Fact(KINDS[args[0]], tuple(args[1:]))
    elif kind in _WORDED and words:
        yield from ((seat, fact) for fact in read(words, view.vocabulary, seat))
