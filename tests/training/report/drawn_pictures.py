"""Every picture that parlour draws, each from a small made-up result: name of the picture -> a function that draws it to a file.

The results have long names, few games and wide intervals on purpose; numbers mean nothing. `PICTURES` holds all of them; a test
compares the modules that draw with the modules that these functions call.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
from parlour.envs.mediated_qa.corpora import load
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn import practice
from parlour.training.learn.mediators import corpus_check, stakes_report
from parlour.training.learn.mediators.stakes import StakesScore
from parlour.training.learn.selfplay import report as selfplay
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.tuning import report as tuning
from parlour.training.learn.tuning.study import Trial
from parlour.training.measure.arena import picture as arena
from parlour.training.measure.arena.strengths import Strength
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.werewolf import trust_picture
from parlour.training.papers import figures, grace_pictures
from parlour.training.papers.questum_games import OVERALL
from parlour.training.papers.reproduce import Reproduction, TableCell
from parlour.training.statistics import Estimate

LONG = "a-player-with-a-long-name:file=runs/somewhere/policy.npz"
WHO = "made-up players"


def mean(value, half=0.2, n=12):
    return Estimate(value, value - half, value + half, n, 0.5)


# -- arena and self-play -----------------------------------------------------------------------------------------


def draw_arena(path, players=("heuristic", "random", LONG)):
    strength = Strength(Estimate(10.0, -300.0, 900.0), Estimate(5.0, -50.0, 60.0), Estimate(-5.0, -50.0, 60.0), (1, 3))
    namespace = SimpleNamespace(
        config=SimpleNamespace(players=players),
        sides=("good", "evil"),
        title=f"avalon_v0, num_players 5, rules official: 8 deals, {8 * len(players) ** 2} games",
        shown=str,
        standing=[(name, strength) for name in players],
        cycles=[(LONG, "heuristic", "random")] * 5,
        scored=frozenset(players),
        decisions=dict.fromkeys(players, Decisions()),
        cell=lambda a, b: Estimate.rate(len(a) % 9, 8),
    )
    arena.draw(namespace, path)


def population(snapshots=2):
    members = [Member("heuristic", "heuristic"), Member("random", "random"), Member("mine", "policy.npz")]
    members += [Member(f"s{k:03d}", f"s{k:03d}.npz", 400_000 * k) for k in range(snapshots)]
    return SimpleNamespace(
        config=SimpleNamespace(game="avalon_v0"),
        crossplay=SimpleNamespace(members=members, rate=lambda a, b: Estimate.rate(19 if a < b else 1, 20)),
        snapshots=members[3:],
        first="s000",
        ratings=[SimpleNamespace(name=member.name, mu=25.0 + k, sigma=1.0) for k, member in enumerate(members)],
    )


# -- learners ----------------------------------------------------------------------------------------------------


def draw_practice(path, games=12):
    won = [k % 3 == 0 for k in range(games)]
    practice.learning_curve(won, practice.PracticeConfig(), OfflineModel()).draw(path)


def draw_seat(path):
    from parlour.training.learn.ppo import seat
    from parlour.training.learn.ppo.config import SeatConfig

    points = [seat.SeatPoint(800, 96, 20, 0.55, 0.34, 0.74, 0.4)]
    beside = [seat.SeatBaseline(name, 20, 0.2, 0.08, 0.42) for name in (seat.UNTRAINED, seat.RANDOM)]
    seat.curve(SimpleNamespace(config=SeatConfig(steps=800), points=points, baselines=beside)).draw(path)


def draw_mediator(path):
    from parlour.training.learn.mediators import train
    from parlour.training.learn.mediators.learn import GraceConfig

    run = SimpleNamespace(
        points=[train.MediatorPoint(40 * (k + 1), 8.0, 20, 5.0 + k, -3.0, 20.0) for k in range(3)],
        config=GraceConfig(),
        held_out=SimpleNamespace(utilities=np.arange(40.0).reshape(20, 2)),
        training=range(120),
        limits=(-20.0, 50.0),
    )
    train.curve(run).draw(path)


def draw_trials(path):
    rng = np.random.default_rng(0)
    trials = [Trial(k, {"x": k / 9}, tuple(0.1 * k + rng.normal(size=8)), k != 3) for k in range(9)]
    problem = SimpleNamespace(name="made-up numbers", games=2, settings={})
    tuning.draw_trials(SimpleNamespace(problem=problem, trials=trials, chosen=trials[8]), path)


# -- mediated question answering ---------------------------------------------------------------------------------


def draw_question(path, question=0):
    folder = path.parent / "corpus"
    (folder / "notes").mkdir(parents=True, exist_ok=True)
    (folder / "notes" / "Edda Marlow.txt").write_text(
        "Edda Marlow was a director. She was born in 1912 in Telby for $5."
    )
    (folder / "notes" / "Isko Sand.txt").write_text("Isko Sand was born in Vik. Isko Sand knew Edda Marlow.")
    asked = [
        '{"id": "a", "question": "In which town was Edda Marlow born, who directed Isko Sand, for $5 or $6?", "answer": "Telby"}',
        '{"id": "b", "question": "Who sold it?", "answer": null}',
    ]
    (folder / "questions.jsonl").write_text("\n".join(asked))
    corpus = load(folder / "questions.jsonl", folder / "notes")
    corpus_check.draw_question(KnowledgeGraph(corpus.passages), corpus.questions[question], path)


def draw_stakes(path, values=(110.0,)):
    names = (
        "learned mediator",
        "contextual policy",
        "best static",
        "oracle",
        "no retrieval",
        "GraphRAG",
        "refusal by confidence",
    )
    scores = [
        StakesScore(
            value, price, name, 60, mean(0.5), mean(0.1 * k + price / 900), mean(0.6 - 0.05 * k, 0.1), mean(3.0)
        )
        for value in values
        for price in (0.0, 50.0, 200.0)
        for k, name in enumerate(names)
    ]
    scores.append(replace(scores[0], price=float("inf"), risk=None))
    stakes_report.draw_risks(SimpleNamespace(scores=scores, reader="answered by rules", reading="GraphRAG"), [], path)


def draw_scores(path):
    systems = (
        ("learned mediator", "our signals"),
        ("token-confidence refusal", ""),
        ("GraphRAG", "the paper's signals"),
    )
    cells = [
        TableCell(row, of, measure, 20.0 * k if measure != "net utility" else None, Estimate.rate(30, 60))
        if measure != "net utility"
        else TableCell(row, of, measure, None, Estimate(12.0, -3.0, 25.0, 60), share=False)
        for k, (row, of) in enumerate(systems)
        for measure in ("accuracy", "abstention", "effective reliability", "net utility")
    ]
    grace_pictures.scores(cells, path, WHO)


def draw_heatmap(path):
    rows = {state: dict.fromkeys(PUBLISHED, 1 / len(PUBLISHED)) for state in STATES[:4]}
    panel = ("our signals", rows, dict.fromkeys((*STATES, NO_SIGNAL), 9))
    grace_pictures.heatmap([panel, panel], path, WHO)


def draw_utilities(path):
    earned = {state: ([-40.0, 5.0, 110.0], Estimate(25.0, -180.0, 230.0, 3)) for state in (*STATES, NO_SIGNAL)}
    grace_pictures.utilities([("our signals", earned), ("the paper's signals", earned)], path, WHO)


# -- trust -------------------------------------------------------------------------------------------------------


def trust_graph(players=8, days=6):
    """Player_2 dies after day 2, player_5 after day 3; player_1 was dead before the first moment."""
    graph = TrustGraph(players, 0)
    for day in range(1, days + 1):
        for speaker in range(2, players):
            graph.observe(day, speaker, "words", [((speaker + day) % players, 0.9 if speaker % 2 else -0.9)])
        for target in range(1, players):
            graph.retrieve(target, day)
        graph.mark(f"day {day}, vote", day, [1, *([2] if day > 2 else []), *([5] if day > 3 else [])])
    return graph


def draw_trust(path, days=6):
    trust_picture.draw(trust_graph(days=days), path)


# -- the papers' figures -----------------------------------------------------------------------------------------

ROLES = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin")


def cell(row, of, measure, paper=None, share=True, n=40):
    ours = Estimate(0.9, 0.4, 0.95, n) if share else Estimate(3.0, -2.0, 4.0, n)
    return TableCell(row, of, measure, paper, ours, share=share)


def figure_cells(name):
    if name.startswith("gratr-"):
        rows = ("GRATR v. history window", "history window v. GRATR", "GRATR v. native RAG", "native RAG v. GRATR")
        measured = [
            cell(row, of, "score", 5.4, name == "gratr-fig4") for row in rows for of in ("Werewolf", "Seer", "Witch")
        ]
        return [*measured, TableCell("GRATR v. native RAG", "Guard", "score", None, None)]
    if name == "questum-sensors":
        cells = [
            cell(row, f"{k} sensors, 5 choices", "overall") for k in (1, 2, 3) for row in ("mean", "lowest", "highest")
        ]
        cells += [cell("mean", f"{k} sensors, 5 choices", "questions to the model", share=False) for k in (1, 2, 3)]
        return [*cells, cell("emotion+motivation", "Overall", "win rate")]
    if name == "questum-rounds":
        rows = [f"{n} rounds, {m} questions" for n in (3, 1, 2) for m in (1, 2)]
        measured = [cell(row, "Overall", measure) for row in rows for measure in ("win rate", "overall")]
        return [*measured, *(cell(row, "Overall", "gameplay: questions to the model", share=False) for row in rows)]
    players = ("agent", "baseline")
    if name == "avalon-fig6":
        shared = [cell(who, role, "shared in round 1") for who in players for role in ROLES[:2]]
        rounds = [(role, other, k) for role in ROLES[3:] for other in ROLES if other != role for k in (1, 2, 3)]
        return shared + [cell(who, f"{a} to {b}", f"teamwork in round {k}") for who in players for a, b, k in rounds]
    of = [f"{a} to {b}" for a in ROLES for b in ROLES if a != b] if name in ATTITUDES else (*ROLES, "evil")
    measures = [f"measure {k} of what is shown" for k in range(2 if name in ATTITUDES else 4)]
    return [cell(who, group, measure, 40.0) for who in players for group in of for measure in measures]


ATTITUDES = ("avalon-fig5", "avalon-fig11", "avalon-fig12")


def draw_figure(name, path):
    reproduction = Reproduction(name, "a title of usual length for a table", "offline", tuple(figure_cells(name)), ())
    picture = figures.picture_of(reproduction, "a game, 40 held-out deals", OfflineModel())
    assert picture is not None
    picture.draw(path)


def draw_quiz(path):
    rows = ("Questum", "O-CoT", "PP", "OP")
    cells = tuple(cell(row, OVERALL, scores.OVERALL) for row in rows)
    figures._quiz(Reproduction("compare", "a title", "offline", cells, ()), path, WHO)


ALIKE = {
    "avalon-fig11": "avalon-fig5",
    "avalon-fig12": "avalon-fig5",
    "avalon-fig3": "avalon-fig2",
    "avalon-fig4": "avalon-fig2",
    "gratr-fig4": "gratr-fig3",
    "player-fig3": "questum-rounds",
}
"""Figures that the same function draws from cells of the same kind."""
PICTURES = {
    "arena": draw_arena,
    "arena of eight": partial(draw_arena, players=tuple(f"player number {k}" for k in range(8))),
    "cross-play": lambda path: selfplay.draw(population(), path),
    "cross-play of a whole run": lambda path: selfplay.draw(population(9), path),
    "practice": draw_practice,
    "seat": draw_seat,
    "mediator": draw_mediator,
    "trials": draw_trials,
    "question": draw_question,
    "question that is not linked": partial(draw_question, question=1),
    "stakes": draw_stakes,
    "stakes of two values": partial(draw_stakes, values=(50.0, 110.0)),
    "grace-3": draw_scores,
    "grace-4": draw_heatmap,
    "grace-5": draw_utilities,
    "trust": draw_trust,
    "quiz": draw_quiz,
    "trust on one day": partial(draw_trust, days=1),
    **{name: partial(draw_figure, name) for name in figures.FIGURES if name not in (*ALIKE, "compare")},
}
