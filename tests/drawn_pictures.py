"""Every picture that parlour draws, each from a small made-up result: name of the picture -> a function that draws it to a file.

The results have long names, few games and wide intervals on purpose; numbers mean nothing. `PICTURES` holds all of them; a test
compares the modules that draw with the modules that these functions call.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
from parlour.envs.avalon.belief import ONLOOKER
from parlour.envs.avalon.vocabulary import FAILS
from parlour.envs.mediated_qa.corpora import load
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn import practice
from parlour.training.learn.clone import report as clone
from parlour.training.learn.clone.report import ALL, ChoiceScore
from parlour.training.learn.habits import report as habits
from parlour.training.learn.habits.avalon_fit import AVALON
from parlour.training.learn.habits.report import BeliefRead
from parlour.training.learn.mediators import corpus_check, stakes_files
from parlour.training.learn.mediators.stakes import StakesScore
from parlour.training.learn.selfplay import report as selfplay
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.tuning import report as tuning
from parlour.training.learn.tuning.problem import Parameter, Space
from parlour.training.learn.tuning.report import SurfacePoint
from parlour.training.learn.tuning.study import Trial
from parlour.training.measure.analysis import pictures as analysis
from parlour.training.measure.analysis.beliefs import BeliefLine, BeliefPoint
from parlour.training.measure.analysis.compare import ComparedGuesses, ComparedVotes
from parlour.training.measure.arena import picture as arena
from parlour.training.measure.arena.strengths import Strength
from parlour.training.measure.calibration import CalibrationBin
from parlour.training.measure.statistics import Estimate, paired, rate
from parlour.training.measure.werewolf import trust_picture
from parlour.training.papers import (
    avalon_people,
    avalon_people_differences,
    avalon_people_players,
    figures,
    grace_pictures,
)
from parlour.training.papers.avalon_people_differences import Contrast
from parlour.training.papers.demo import murder_mystery as mystery
from parlour.training.papers.reproduce import Reproduction, ReproductionSetting, TableCell, Value

LONG = "a-player-with-a-long-name:file=runs/somewhere/policy.npz"
WHO = "made-up players"


def mean(value, half=0.2, n=12):
    return Estimate(value, value - half, value + half, n, 0.5)


# -- arena and self-play -----------------------------------------------------------------------------------------


def draw_arena(path, players=("heuristic", "random", LONG)):
    strength = Strength(Estimate(10.0, -300.0, 900.0), Estimate(5.0, -50.0, 60.0), Estimate(-5.0, -50.0, 60.0), (1, 3))
    config = SimpleNamespace(
        players=players, game="avalon_v0", options={"num_players": 5, "rules": "official"}, games=8
    )
    namespace = SimpleNamespace(
        config=config,
        sides=("good", "evil"),
        played=range(8 * len(players) ** 2),
        standing=[(name, strength) for name in players],
        cycles=[(LONG, "heuristic", "random")] * 5,
        scored=frozenset(players),
        decisions=dict.fromkeys(players, Decisions()),
        cell=lambda a, b: rate(len(a) % 9, 8),
    )
    assert arena.draw(namespace, path)


def population(snapshots=2):
    members = [Member("heuristic", "heuristic"), Member("random", "random"), Member("mine", "policy.npz")]
    members += [Member(f"s{k:03d}", f"s{k:03d}.npz", 400_000 * k) for k in range(snapshots)]
    return SimpleNamespace(
        config=SimpleNamespace(game="avalon_v0"),
        crossplay=SimpleNamespace(members=members, rate=lambda a, b: rate(19 if a < b else 1, 20)),
        snapshots=members[3:],
        first="s000",
        ratings=[SimpleNamespace(name=member.name, mu=25.0 + k, sigma=1.0) for k, member in enumerate(members)],
    )


# -- learners ----------------------------------------------------------------------------------------------------


def draw_practice(path, games=12):
    practice._draw_curve([k % 3 == 0 for k in range(games)], path.parent, practice.PracticeConfig(), OfflineModel())


def draw_seat(path):
    from parlour.training.learn.ppo import seat
    from parlour.training.learn.ppo.phase_config import SeatConfig

    points = [seat.SeatPoint(800, 96, 20, 0.55, 0.34, 0.74, 0.4)]
    beside = {name: seat.SeatBaseline(name, 20, 0.2, 0.08, 0.42) for name in (seat.UNTRAINED, seat.RANDOM)}
    seat._draw(points, beside, SeatConfig(steps=800), path)


def draw_mediator(path, learner="counts"):
    from parlour.training.learn.mediators import train
    from parlour.training.learn.mediators.learn import GraceConfig

    run = SimpleNamespace(
        points=[train.MediatorPoint(40 * (k + 1), 8.0, None, 20, 5.0 + k, -3.0, 20.0) for k in range(3)],
        config=GraceConfig(learner=learner),
        held_out=SimpleNamespace(utilities=np.arange(40.0).reshape(20, 2)),
        training=range(120),
    )
    assert train._draw(run, path)


X = Parameter("x", 0.0, 1.0, 0.5)
Y = Parameter("a-parameter-with-a-name", 1e-3, 1.0, 0.1)


def draw_trials(path):
    trials = [(Trial(k, {"x": k / 9}, (0.1,) * 8, k != 3), mean(0.1 * k)) for k in range(9)]
    tuning.draw_trials(trials, 8, path, WHO)


def draw_surface(path, parameters=(X, Y)):
    ends = [(parameter.low, parameter.default, parameter.high) for parameter in parameters]
    grid = np.array(np.meshgrid(*ends)).reshape(len(parameters), -1).T.tolist()
    cells = [
        SurfacePoint(dict(zip([p.name for p in parameters], at, strict=True)), mean(0.3 * k - 1))
        for k, at in enumerate(grid)
    ]
    tuning.draw_surface(cells, Space(parameters), {p.name: p.high for p in parameters}, path, WHO)


# -- recorded games ----------------------------------------------------------------------------------------------


def draw_beliefs(path):
    roles = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin")
    game = SimpleNamespace(
        name="a-recorded-game-with-a-long-name-20251130_214011",
        seats=5,
        roles=roles,
        evil=frozenset({3, 4}),
        log=range(60),
        transcript=SimpleNamespace(header={"players": {f"player_{k}": LONG for k in range(5)}}),
        noted=lambda key: "-",
    )
    fails = {10: 0, 30: 1, 58: 2}
    at = [-1, 5, *fails]
    points = tuple(
        BeliefPoint(k, 0, FAILS if k in fails else "vote", (0, fails.get(k, 0), 0), (0.4,) * 5, (0.2,) * 5, 0.1)
        for k in at
    )
    viewers = [(ONLOOKER, False), (ONLOOKER, True), *((seat, True) for seat in range(5))]
    analysis.beliefs(game, [BeliefLine(viewer, words, points) for viewer, words in viewers], path)


def draw_votes(path):
    groups = (("all", "all"), ("role", "Loyal Servant"), ("memory", "short-term and long-term"))
    rows = [ComparedVotes(by, group, 3, 20, mean(0.97, 0.02), mean(0.5), mean(0.1)) for by, group in groups]
    analysis.votes(rows, "a-language-model-with-a-long-name", path)


def draw_guesses(path):
    both = [True, False, True, False]
    rows = [ComparedGuesses("all", "all", rate(3, 4), rate(2, 4), 2, 1.2, paired(both, both))]
    analysis.guesses(rows, "recorded players", path)


def draw_clone(path):
    kinds, models = (
        ("vote", "team", "quest", "guess"),
        ("clone", "unheard", "logistic", "heuristic", "habits", "chance"),
    )
    scores = [
        ChoiceScore(kind, ALL, model, 90, 7, mean(0.5), mean(-0.7 - 0.1 * k), None, None)
        for kind in kinds
        for k, model in enumerate(models)
    ]
    bins = {
        name: [CalibrationBin(k / 10, k / 10 + 0.1, 9, k / 10, k / 10) for k in range(10)]
        for name in ("clone", "heuristic", "habits")
    }
    assert clone._draw(path, scores, bins)


def draw_habits(path, groups=AVALON.panels):
    rng = np.random.default_rng(0)
    reads = [
        BeliefRead(k, n, 0, 1.0, tuple(rng.random(n).tolist()), tuple(int(x < 0.4) for x in rng.random(n)))
        for k in range(20)
        for n in (5, 6)
    ]
    readings = dict.fromkeys((habits.DEFAULT, "learned from the others", "and with words"), reads)
    habits.draw(path, readings, {group: AVALON.groups(())[group] for group in groups})


def draw_people(path):
    setting = ReproductionSetting(out=path.parent)
    study = avalon_people.PeopleStudy("avalon-people", setting, path.parent)
    for players, won in ((5, 907), (6, 840), (10, 12)):
        study.add("people", f"{players} players", avalon_people.WINS, rate(won, 2000))
    avalon_people.draw_rates(study, path.name, avalon_people.WINS, ["5 players", "6 players", "10 players"])


def draw_among_people(path):
    study = avalon_people.PeopleStudy("avalon-people", ReproductionSetting(out=path.parent, games=4000), path.parent)
    for players in avalon_people_players.SIZES:
        for name, won, log in (("clone", 0.0, -0.49), ("anchored, 0.3", 0.07, -0.5), ("heuristic", 0.11, None)):
            of = f"{players} players"
            study.add(name, of, avalon_people_players.LESS_CLONE, Value(won, 4000, won - 0.02, won + 0.02, share=True))
            if log is not None:
                votes = f"vote: {avalon_people_players.HUMAN}"
                study.add(name, of, votes, Value(log, 700, log - 0.02, log + 0.02))
    avalon_people_players.draw_among_people(study)
    (path.parent / "among_people.png").replace(path)


def draw_differences(path):
    study = avalon_people.PeopleStudy("avalon-people", ReproductionSetting(out=path.parent), path.parent)
    words = "Loyal Servant, later quest: approves a team without himself that another named"
    lines = []
    for k in range(10):
        people, expert = 0.4 + 0.05 * k, 0.9 - 0.08 * k
        own, others = (Estimate(at, at - 0.03, at + 0.03, 300) for at in (people, expert))
        lines.append(Contrast(words, own, {"expert": others, "anchored, 0.03": own}, {"expert": own}))
    avalon_people_differences.draw_contrasts(study, path.name, "5 players", lines)


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
    corpus_check.draw(KnowledgeGraph(corpus.passages), corpus.questions[question], path)


def draw_stakes(path, values=(110.0,)):
    names = (
        "learned mediator",
        "contextual policy",
        "best static",
        "oracle",
        "no retrieval",
        "GraphRAG",
        "token-confidence refusal",
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
    stakes_files._draw(SimpleNamespace(scores=scores, reader="extract"), [], path)


def draw_scores(path):
    systems = (
        ("learned mediator", "our signals"),
        ("token-confidence refusal", ""),
        ("GraphRAG", "the paper's signals"),
    )
    cells = [
        TableCell(row, of, measure, 20.0 * k if measure != "net utility" else None, rate(30, 60))
        if measure != "net utility"
        else TableCell(row, of, measure, None, None, value=Value(12.0, 60, -3.0, 25.0))
        for k, (row, of) in enumerate(systems)
        for measure in ("accuracy", "abstention", "effective reliability", "net utility")
    ]
    grace_pictures.scores(cells, path, WHO)


def draw_heatmap(path):
    rows = {state: dict.fromkeys(PUBLISHED, 1 / len(PUBLISHED)) for state in STATES[:4]}
    panel = ("our signals", rows, dict.fromkeys((*STATES, NO_SIGNAL), 9))
    grace_pictures.heatmap([panel, panel], path, WHO)


def draw_utilities(path):
    earned = {state: ([-40.0, 5.0, 110.0], Value(25.0, 3, -180.0, 230.0)) for state in (*STATES, NO_SIGNAL)}
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
    trust_picture.draw(trust_graph(days=days), path, name=lambda k: f"player_{k}\nWerewolf", title="", who=WHO)


# -- the papers' figures -----------------------------------------------------------------------------------------

ROLES = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin")


def cell(row, of, measure, paper=None, share=True, n=40):
    return TableCell(
        row,
        of,
        measure,
        paper,
        None,
        value=Value(0.9 if share else 3.0, n, 0.4 if share else -2.0, 0.95 if share else 4.0, share),
    )


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
    of = [f"{a} to {b}" for a in ROLES for b in ROLES if a != b] if name == "avalon-fig5" else (*ROLES, "evil")
    measures = [f"measure {k} of what is shown" for k in range(2 if name == "avalon-fig5" else 4)]
    return [cell(who, group, measure, 40.0) for who in players for group in of for measure in measures]


def draw_figure(name, path):
    reproduction = Reproduction(name, "a title of usual length for a table", "offline", tuple(figure_cells(name)), ())
    assert figures.draw(reproduction, ReproductionSetting(out=path.parent), "a game, 40 held-out deals")
    (path.parent / f"{name}.png").rename(path)


def draw_quiz(path):
    rows = ("Questum", "O-CoT", "PP", "OP")
    cells = tuple(cell(row, mystery.OVERALL, mystery.scores.OVERALL) for row in rows)
    mystery._draw(Reproduction("quiz", "a title", "offline", cells, ()), 40, path)


ALIKE = {"avalon-fig3": "avalon-fig2", "avalon-fig4": "avalon-fig2", "gratr-fig4": "gratr-fig3"}
"""Figures that the same function draws from cells of the same kind."""
PICTURES = {
    "arena": draw_arena,
    "arena of eight": partial(draw_arena, players=tuple(f"player number {k}" for k in range(8))),
    "cross-play": lambda path: selfplay.draw_crossplay(population(), path),
    "cross-play of a whole run": lambda path: selfplay.draw_crossplay(population(9), path),
    "self-play": lambda path: selfplay.draw_curve(population(), path),
    "practice": draw_practice,
    "seat": draw_seat,
    "mediator": draw_mediator,
    "trials": draw_trials,
    "surface": draw_surface,
    "surface of one parameter": partial(draw_surface, parameters=(Y,)),
    "beliefs": draw_beliefs,
    "votes": draw_votes,
    "guesses": draw_guesses,
    "clone": draw_clone,
    "habits": draw_habits,
    "people": draw_people,
    "among people": draw_among_people,
    "differences": draw_differences,
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
    **{name: partial(draw_figure, name) for name in figures.FIGURES if name not in ALIKE},
}
