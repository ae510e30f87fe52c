"""Mediated question answering on a replay page: signals, what was recommended and what was done, the path through the documents.

The graph is the service's own, built again from the corpus that the config names; a table with another service or corpus is
shown without it. No reader is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from parlour.envs.core import NATURE, Event
from parlour.envs.mediated_qa import vocabulary as game
from parlour.envs.mediated_qa.pipeline import Pipeline, generated
from parlour.envs.mediated_qa.retrieve import Path
from parlour.envs.mediated_qa.rules import MediatedQA
from parlour.training.replay.matter import GameMatter
from parlour.training.replay.model import Document, Graph, ReplayColumn, ReplayRow, ReplayTable
from parlour.training.replay.played import PlayedGame

_OUTCOMES: Final = ("answered right", "answered wrong", "kept silent, rightly", "kept silent, wrongly")
_MOST_GRAPHS: Final = 60  # questions whose graph is drawn
_DIGITS: Final = 6  # decimals of a signal
_LARGEST: Final = 1000
"""Questions of the largest corpus that is made again for a page."""


class _Asked(NamedTuple):
    """A question of the game, as far as it went."""

    step: int
    number: int
    state: int
    text: str
    events: tuple[tuple[int, Event], ...]


def mediated_matter(played: PlayedGame) -> GameMatter:
    """All that a page shows of a game of mediated questions beside its record."""
    table: MediatedQA = played.game  # type: ignore[assignment]  # of this game
    asked = list(_questions(played))
    pipeline, note = _pipeline(table)
    answers = tuple(
        Document(f"Question {number}: {question.text}", f"The answer that counts: {event.move.words}", step)
        for number, question in enumerate(asked, 1)
        for step, event in question.events
        if event.move.kind == game.JUDGED
    )
    graphs = tuple(_graph(pipeline, question) for question in asked[:_MOST_GRAPHS]) if pipeline else ()
    return GameMatter(
        tables=(_done(table, asked), _signals(table, asked, pipeline)),
        documents=answers,
        graphs=tuple(graph for graph in graphs if graph.nodes),
        roles=tuple((agent, "") for agent in table.agent_names),
        notes=(note,) if note else (),
    )


def _questions(played: PlayedGame) -> Iterator[_Asked]:
    """The questions with their events, as the mediator and the modules were shown them."""
    shown = [
        (news.step, event)
        for seat in range(played.game.seats)
        for news in played.news(seat)
        for event in news.events
        if (seat == game.Module.MEDIATOR if event.to is None else event.seat in (seat, NATURE))
    ]
    shown.sort(key=lambda pair: pair[0])
    begun: _Asked | None = None
    for step, event in shown:
        if event.move.kind == game.QUESTION:
            if begun:
                yield begun
            number, state = event.move.args
            begun = _Asked(step, number, state, event.move.words, ())
        elif begun:
            begun = begun._replace(events=(*begun.events, (step, event)))
    if begun:
        yield begun


# -- tables ----------------------------------------------------------------------------------------------------------


class _Turned(NamedTuple):
    """What is known of one module at one question."""

    number: int
    module: int
    advice: int
    chosen: int | None
    result: tuple[int, ...] | None
    """Outcome, then the joint action carried out."""


def _done(table: MediatedQA, asked: list[_Asked]) -> ReplayTable:
    """A row for each question and module: what was recommended, what it chose, and what was carried out."""
    texts = map(ReplayColumn, ("module", "recommended", "chosen", "carried out"))
    columns = (ReplayColumn("question", "number"), *texts, ReplayColumn("followed", "flag"), ReplayColumn("outcome"))
    rows = [row for number, question in enumerate(asked, 1) for row in _of_question(table, number, question)]
    columns += (ReplayColumn("net", "number"),)
    return ReplayTable("questions", "Recommended against done", columns, tuple(rows))


def _of_question(table: MediatedQA, number: int, question: _Asked) -> Iterator[ReplayRow]:
    """Rows as they become known: the mediator knows what it recommended, a module that and what it chose."""
    turns: dict[int, _Turned] = {}
    for step, (seat, (kind, args, _), _) in question.events:
        if kind == game.ADVISE:
            for module, advice in enumerate(args, game.Module.RETRIEVER):
                turns[module] = _Turned(number, module, advice, None if table.seats > 1 else advice, None)
                yield _row(table, turns[module], step, game.Module.MEDIATOR)
        elif kind == game.ADVICE and args[0] in turns:
            yield _row(table, turns[args[0]], step, args[0])
        elif seat in turns and kind == game.CHOICES[seat]:
            turns[seat] = turns[seat]._replace(chosen=args[0])
            yield _row(table, turns[seat], step, seat)
        elif kind == game.RESULT:
            for module, known in turns.items():
                ended = known._replace(result=args)
                shown = ended if table.seats == 1 else ended._replace(chosen=None)
                yield _row(table, shown, step, game.Module.MEDIATOR)
                if table.seats > 1:
                    yield _row(table, ended, step, module)


def _row(table: MediatedQA, known: _Turned, step: int, to: int) -> ReplayRow:
    names, result = table.actions.names[known.module], known.result
    followed = None if known.chosen is None else known.chosen == known.advice
    net = None if result is None else table.payment.net(game.Joint(*result[1:]), result[0])
    cells = (
        known.number,
        game.AGENTS[known.module],
        names[known.advice],
        "" if known.chosen is None else names[known.chosen],
        "" if result is None else names[result[known.module]],
        followed,
        "" if result is None else _OUTCOMES[result[0]],
        net,
    )
    return ReplayRow(step, cells, f"{known.number}.{known.module}", (to,))


def _signals(table: MediatedQA, asked: list[_Asked], pipeline: Pipeline | None) -> ReplayTable:
    """The state of each question, and the raw signals behind it, which a mediator may not see."""
    raw = (ReplayColumn(signal, "number") for signal in game.SIGNALS)
    columns = (ReplayColumn("question", "number"), ReplayColumn("text"), ReplayColumn("state"), *raw)
    rows = []
    for number, question in enumerate(asked, 1):
        signals = pipeline.signals(question.number) if pipeline and _is_the_same(pipeline, question) else None
        shown = tuple(round(value, _DIGITS) for value in signals) if signals else (None,) * len(game.SIGNALS)
        rows.append(ReplayRow(question.step, (number, question.text, game.STATES[question.state], *shown), to=()))
    return ReplayTable("signals", "Questions and their signals", columns, tuple(rows))


# -- graph -----------------------------------------------------------------------------------------------------------


def _pipeline(table: MediatedQA) -> tuple[Pipeline | None, str]:
    """The service over the generated corpus that the config names; and why there is none, if there is none."""
    config = table.config
    if config["corpus_size"] > _LARGEST:
        return None, f"No graph is drawn of more than {_LARGEST} questions."
    made = generated(
        config["corpus_seed"], config["corpus_size"], config["difficulty"], config["normalisation"], table.actions
    )
    return made, ""


def _is_the_same(pipeline: Pipeline, question: _Asked) -> bool:
    return question.number < pipeline.size and pipeline.text(question.number) == question.text


def _graph(pipeline: Pipeline, question: _Asked) -> Graph:
    """The documents that a question is linked to, and the path that a search goes; as deep as the retriever went."""
    title = f"Documents and path: {question.text}"
    if not _is_the_same(pipeline, question) or not pipeline.starts(question.number):
        return Graph(question.step, title, (), (), to=())
    starts = pipeline.starts(question.number)
    deep = any(
        event.move.kind == game.RETRIEVED and event.move.args[0] == game.Retrieve.DEEP for _, event in question.events
    )
    path = pipeline.search.path(pipeline.graph, starts[0], question.text, "deep" if deep else "shallow")
    return _drawn(pipeline, question.step, title, starts, path)


def _drawn(pipeline: Pipeline, step: int, title: str, starts: list[int], path: Path) -> Graph:
    net = pipeline.graph
    kept = list(dict.fromkeys([*starts, *path.nodes]))
    number = {node: k for k, node in enumerate(kept)}
    edges = tuple(
        (number[a], number[b], float(net.graph.edges[a, b]["weight"]))
        for a in kept
        for b in kept
        if a < b and net.graph.has_edge(a, b)
    )
    nodes = tuple((net.text[node], net.kind[node]) for node in kept)
    return Graph(step, title, nodes, edges, tuple(number[node] for node in path.nodes), to=())
