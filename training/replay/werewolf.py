"""Werewolf on a replay page: votes by day, what the roles did by night, who lives, exact posteriors, agents' own trust.

The posterior is `parlour.envs.werewolf.belief`, with the usual habits, read from each seat's View as a player reads it. Lines of players who are out of the game end: trust in the dead is not that in the living.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from parlour.envs.core import NATURE
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.agents.werewolf.gratr.recorded import recorded_graphs
from parlour.policies.agents.werewolf.gratr.statements import Snapshot
from parlour.training.replay.matter import GameMatter, roles_of
from parlour.training.replay.model import (
    BeliefLines,
    Document,
    ReplayColumn,
    ReplayRow,
    ReplayTable,
    Turned,
    seat_columns,
)
from parlour.training.replay.played import News, PlayedGame
from parlour.training.replay.record import lines_of
from parlour.training.replay.tracks import Alive, Track, ended, exact_lines, of_the_living

_BY: Final = "The exact posterior over all sets of werewolves, by the heuristic's fixed habits, from what {} was shown."
_RECORDED: Final = "What {}'s own method made of the others, as the transcript holds it, to four digits."
_BY_GRATR: Final = "The trust in {}'s graph at each decision, as the transcript holds it."
_GRAPH: Final = "trust graph"
_CHAIN_COLUMNS: Final = (
    ReplayColumn("player", "seat"),
    ReplayColumn("day", "number"),
    ReplayColumn("about", "seat"),
    ReplayColumn("chain"),
    ReplayColumn("carries", "number"),
    ReplayColumn("% of the judgement", "number"),
    ReplayColumn("trust", "number"),
)
_DEPTH: Final = 1
"""Steps of beliefs behind beliefs that are shown."""
_MOST_LINES: Final = 200
"""Lines of what one seat's beliefs rest on."""
_BY_NIGHT: Final = (
    *(game.KILL, game.CHOSEN, game.GUARDS, game.ATTACKED, game.HEALS, game.POISONS, game.CHECKS, game.CHECKED),
    speech.RECOMMEND,
)


def werewolf_matter(played: PlayedGame) -> GameMatter:
    """All that a page shows of a game of Werewolf beside its record."""
    return matter_with(played, SeatBeliefs, _BY)


def matter_with(played: PlayedGame, believe: Callable[..., Any], by: str) -> GameMatter:
    """The same for any game with the Views of Werewolf.

    Args:
        played: The game.
        believe: `(view, *, onlooker) -> beliefs`, read as `SeatBeliefs`.
        by: What computes them; `{}` is who was shown what.
    """
    roles = roles_of(played.last_views)
    if not roles:
        return GameMatter()
    alive = _alive(played)
    graphs = _trust_graphs(played, alive)
    exact = (
        line for holder in (*range(played.game.seats), None) for line in _followed(played, holder, alive, believe, by)
    )
    return GameMatter(
        tables=(_days(played), _nights(played), *graphs.tables),
        documents=graphs.documents,
        beliefs=(*exact, *_recorded(played, alive), *graphs.beliefs),
        alive=alive,
        roles=roles,
        turned=_turned(played),
    )


def _alive(played: PlayedGame) -> Alive:
    """Who lives, from the steps on at which all are told."""
    changes: list[tuple[int, tuple[int, ...]]] = []
    for news in _views(played, 0):
        living = tuple(map(int, news[0].alive))
        if not changes or changes[-1][1] != living:
            changes.append((news[1].step, living))
    return tuple(changes)


def _views(played: PlayedGame, seat: int) -> Iterator[tuple[WerewolfView, News]]:
    """The news of a seat with its Views."""
    for news in played.news(seat):
        view: Any = news.view
        if view.role:
            yield view, news


# -- tables ----------------------------------------------------------------------------------------------------------


def _days(played: PlayedGame) -> ReplayTable:
    """A row for each day: the votes, and their result."""
    first = ReplayColumn("day", "number"), ReplayColumn("died in the night", "seats")
    last = [ReplayColumn("executed", "seats"), *[ReplayColumn("shot", "seats")] * _has_hunter(played)]
    columns = (*first, *seat_columns("target", played.game.seats), *last)
    return ReplayTable("days", "Votes by day", columns, tuple(_votes(played)))


def _has_hunter(played: PlayedGame) -> bool:
    return game.HUNTER in played.last_views[0].roles


def _votes(played: PlayedGame) -> Iterator[ReplayRow]:
    day, died = 0, tuple[int, ...]()
    executed: tuple[int, ...] | None = None
    shot: tuple[int, ...] | None = None
    hunter = _has_hunter(played)
    votes: list[int | None] = []
    for view, news in _views(played, 0):
        for seat, (kind, args, _), to in news.events:
            if kind == game.DAWN:
                day, died, executed, shot = args[0], args[1:], None, None
                votes = [None if living else game.DEAD for living in view.alive]
            elif kind == game.BALLOT and to is None:
                votes[seat] = args[0] if args else game.NO_VOTE
            elif kind == game.VOTES:
                votes = list(args[1:])
            elif kind == game.EXECUTED:
                executed = args
            elif kind == game.SHOOTS:
                shot = args
            else:
                continue
            yield ReplayRow(news.step, (day, died, *votes, executed, *((shot,) * hunter)), str(day))


def _nights(played: PlayedGame) -> ReplayTable:
    """What was done and told in secret, each known to those whom it was told."""
    day, rows = 0, []
    for line in lines_of(played):
        if line.kind == game.NIGHT:
            day += 1
        elif line.to is not None and line.kind in _BY_NIGHT:
            who = None if line.seat == NATURE else line.seat
            rows.append(ReplayRow(line.step, (day, who, line.text), to=line.to))
    columns = ReplayColumn("night", "number"), ReplayColumn("player", "seat"), ReplayColumn("what")
    return ReplayTable("nights", "By night", columns, tuple(rows))


# -- beliefs ---------------------------------------------------------------------------------------------------------


def _followed(
    played: PlayedGame, holder: int | None, alive: Alive, believe: Callable[..., Any], by: str
) -> Iterator[BeliefLines]:
    """The lines of one seat, or of an onlooker; who is the seer is told of those who hunt him, and of the onlooker."""
    wolf, seer = Track(), Track()
    beliefs = None
    onlooker = holder is None
    hunts = onlooker
    for view, news in _views(played, holder or 0):
        if beliefs is None:
            beliefs = believe(view, onlooker=onlooker)
            hunts = onlooker or view.side == game.WOLVES
        for event in news.events:
            beliefs.see(event, view)
        belief = beliefs.onlooker if onlooker else beliefs.own
        assert belief is not None
        wolf.at(news.step, of_the_living(belief.wolf_chance(), alive, news.step))
        seer.at(news.step, of_the_living(belief.seer_chance(), alive, news.step))
    tracks = {game.WEREWOLF: wolf} | ({game.SEER: seer} if hunts else {})
    for what, track in tracks.items():
        a = "a werewolf" if what == game.WEREWOLF else "the seer"
        yield exact_lines(what, f"chance of being {a}", holder, track, played.game.seats, by)


def _recorded(played: PlayedGame, alive: Alive) -> Iterator[BeliefLines]:
    """What agents that keep a trust in each player had noted (`beliefs` of a line)."""
    seats = played.game.seats
    tracks: dict[int, Track] = {}
    for step, (entry, notes) in enumerate(zip(played.entries, played.notes, strict=True)):
        beliefs = notes.get("beliefs")
        if entry.seat >= 0 and isinstance(beliefs, Mapping):
            trust = [_trust(beliefs.get(name(seat))) for seat in range(seats)]
            tracks.setdefault(entry.seat, Track()).at(step, of_the_living(trust, alive, step))
    for seat, track in sorted(tracks.items()):
        title, by = "own trust, from -1 (adversary) to 1 (ally)", _RECORDED.format(name(seat))
        points = ended(track.points, alive)
        line, subjects = f"recorded trust: {name(seat)}", tuple(range(seats))
        yield BeliefLines(line, title, "trust", seat, "recorded", -1.0, 1.0, points, subjects, by=by)


def _trust(belief: Any) -> float | None:
    """The number of a noted belief, `[stance, trust]`; None if it is none."""
    if not isinstance(belief, list) or len(belief) != 2 or type(belief[1]) not in (int, float):
        return None
    return float(belief[1]) if -1 <= belief[1] <= 1 else None


# -- trust of GRATR --------------------------------------------------------------------------------------------------


def _trust_graphs(played: PlayedGame, alive: Alive) -> GameMatter:
    """The graphs that GRATR's seats noted: the chains judged for each decision, the graph's trust where a seat decided by another,
    and what the last beliefs rest on. Lines of the dead end.
    """
    tracks: dict[int, Track] = {}
    documents: dict[int, Document] = {}
    rows: list[ReplayRow] = []
    lines = ((entry.seat, notes) for entry, notes in zip(played.entries, played.notes, strict=True))
    for step, seat, graph in recorded_graphs(lines):
        moment = graph.history[-1]
        tracks.setdefault(seat, Track()).at(step, moment.trust)
        rows += (row for row in _chain_rows(step, seat, moment))
        living = of_the_living(moment.trust, alive, step)
        others = [k for k, value in enumerate(living) if value is not None and k != seat]
        text = [line for k in others for line in graph.explain(k).lines(_DEPTH)]
        title = f"What {name(seat)}'s trust graph rests on"
        documents[seat] = Document(title, "\n".join(text[:_MOST_LINES]), step, (seat,))
    beliefs = [_graph_lines(seat, track, alive, played.game.seats) for seat, track in sorted(tracks.items())]
    tables = (ReplayTable("chains", "Judged chains of evidence", _CHAIN_COLUMNS, tuple(rows)),) if rows else ()
    return GameMatter(
        tables=tables, beliefs=tuple(beliefs), documents=tuple(documents[seat] for seat in sorted(documents))
    )


def _chain_rows(step: int, seat: int, moment: Snapshot) -> Iterator[ReplayRow]:
    """The chains judged for one decision, those about the same player together, the heaviest first."""
    for about in sorted({chain.players[0] for chain in moment.chains}):
        chains = [chain for chain in moment.chains if chain.players[0] == about]
        total = sum(chain.weight for chain in chains)
        for chain in sorted(chains, key=lambda chain: -chain.weight):
            path = " \u2192 ".join(map(name, chain.players))
            share = 100 * chain.weight / total if total else None
            cells = (
                seat,
                moment.turn,
                about,
                path,
                round(chain.u, 4),
                share and round(share, 1),
                round(moment.trust[about], 4),
            )
            yield ReplayRow(step, cells, f"{seat}.{moment.turn}.{path}", (seat,))


def _graph_lines(seat: int, track: Track, alive: Alive, seats: int) -> BeliefLines:
    title, points = f"{_GRAPH}, from -1 (adversary) to 1 (ally)", ended(track.points, alive)
    by = _BY_GRATR.format(name(seat))
    line, subjects = f"{_GRAPH}: {name(seat)}", tuple(range(seats))
    return BeliefLines(line, title, "trust", seat, "recorded", -1.0, 1.0, points, subjects, by=by)


def _turned(played: PlayedGame) -> Turned | None:
    """The last vote that executed a villager, if the werewolves won; the first that executed a werewolf, if the village won."""
    if played.outcome is None or played.outcome.winner == game.DRAW:
        return None
    lost = game.VILLAGE if played.outcome.winner == game.WOLVES else game.WOLVES
    sides = [getattr(played.game.view(played.last, seat), "side", "") for seat in range(played.game.seats)]
    executed = [
        (step, event.move.args[0])
        for step, event in played.shown_to_all
        if event.move.kind == game.EXECUTED and event.move.args and sides[event.move.args[0]] == lost
    ]
    if not executed:
        return None
    step, seat = executed[-1 if lost == game.VILLAGE else 0]
    return Turned(step, f"The table executed {name(seat)}, who was on the side that lost.")
