"""Clones of people, experts that play among them, and what people do otherwise: the last steps of `avalon_people.py`.

* clones: networks that learn from the earlier games predict the later ones, beside frequencies, the heuristic, a logistic model and
  the clone of GPT-5.1
* experts: with five and with six players, self-play is anchored to a clone of the earlier half at three strengths. Each player sits in one
  seat among four or five clones of the later half. One range of deals chooses the strength, a second one reports all. How human a player
  is: the log likelihood of decisions of people in the later half under it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.registry import build, known
from parlour.policies.cloned import GAME
from parlour.policies.experts import has_expert
from parlour.training.learn.clone.choices import CloneConfig
from parlour.training.learn.clone.report import ALL, CLONE, PICTURE, PLAYER, ChoiceScore, by_game
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.measure.statistics import paired, rate
from parlour.training.papers.avalon_people_differences import differences
from parlour.training.papers.avalon_people_study import GPT51, PeopleStudy
from parlour.training.papers.avalon_records import TRANSCRIPTS
from parlour.training.papers.cells import Value, deals_of, opposite, valued
from parlour.training.play.extras import import_extra
from parlour.training.play.runner import GameRunner
from parlour.training.results import plots

STRENGTHS: Final = (0.3, 0.1, 0.03)
"""Coefficients of the divergence from the clone."""
SIZES: Final = (5, 6)
"""Numbers of players of the tables of experts."""
EXPERT, HEURISTIC = "expert", "heuristic"
SEAT: Final = "wins in one seat among clones of other people"
CHOSEN_BY: Final = "the same on the deals that chose the strength"
LESS_CLONE: Final = "points more than a clone in that seat"
LESS_EXPERT: Final = "points more than the expert in that seat"
HUMAN: Final = "mean log likelihood of people's decisions, in nats"
FORETOLD: Final = "decisions foretold (most probable move)"
LIKELIHOOD: Final = "mean log likelihood of a decision, in nats"
_GPT51_CLONE: Final = "clone of GPT-5.1"
_EPOCHS: Final = CloneConfig().epochs


# -- clones --------------------------------------------------------------------------------------------------------


def clones(study: PeopleStudy) -> None:
    """Learn from the first four fifths, test on the last fifth; a row for each model, and for each number of players."""
    by_date = import_extra("parlour.training.learn.clone.by_date", "train")
    gpt51 = _clone_of_gpt51(study)
    names = {f"clone:{gpt51}": _GPT51_CLONE}
    beside = () if gpt51 is None else tuple(names)
    dated = by_date.clone_networks(
        study.folder / TRANSCRIPTS, study.folder / "clones", CloneConfig(method="networks", beside=beside)
    )
    for score in dated.scores:
        if score.role == ALL:
            _add_score(study, replace(score, model=names.get(score.model, score.model)))
    study.written.append(("clones/report.md", "clones of people, tested on later games, by role too"))
    if (study.folder / "clones" / PICTURE).exists():
        study.pictures.append((f"clones/{PICTURE}", "How well clones predict people"))


def _clone_of_gpt51(study: PeopleStudy) -> Path | None:
    games, folder = study.gpt51(), study.folder / f"{GPT51}_clone"
    if games is not None and not (folder / PLAYER).exists():
        import_extra("parlour.training.learn.clone.run", "train").clone(games, folder, CloneConfig())
    return None if games is None else folder / PLAYER


def _add_score(study: PeopleStudy, score: ChoiceScore) -> None:
    of = "" if score.players is None else f"{score.players} players"
    for measure, value, less in (
        (LIKELIHOOD, valued(score.log, share=False), score.log_less),
        (FORETOLD, valued(score.top, share=True), score.top_less),
    ):
        apart = None if less is None else opposite(less, share=measure == FORETOLD)
        study.add(score.model, of, f"{score.what}: {measure}", value, apart)


# -- experts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Halves:
    """A table and its people: clones of both halves, and the decisions of the later half."""

    players: int
    config: Mapping[str, Any]
    """The table: usual roles, no talk."""
    earlier: str
    """The clone of the earlier half, by its name on the command line."""
    later: str
    games: Sequence[Any]
    """Recorded games of the later half at this table."""
    decisions: Any
    """Their decisions (`clone.networks.Decisions`)."""


def experts(study: PeopleStudy) -> None:
    """For each table: three strengths of the anchor, one seat among strangers, and the likelihood of people's decisions."""
    recorded = import_extra("parlour.training.learn.batch.recorded", "train")
    games = recorded.read_games(study.folder / TRANSCRIPTS)
    later = len(games) - round(0.5 * len(games))
    for players in SIZES:
        some = [game for game in games if int(game.config["num_players"]) == players]
        if min(sum(game.number < later for game in some), sum(game.number >= later for game in some)):
            _at_table(study, _halves(study, some, players, later))


def _halves(study: PeopleStudy, games: Sequence[Any], players: int, later: int) -> Halves:
    """Learn a clone of each half, as `train clone --method networks --held-out 0.5` does."""
    from parlour.policies.cloned import CloneNetworks

    learning = import_extra("parlour.training.learn.clone.networks", "train")
    folder = study.folder / f"{players}_players"
    folder.mkdir(exist_ok=True)
    decisions = learning.decisions_of(games)
    clones = {}
    for name, chosen in (("earlier", decisions.game < later), ("later", decisions.game >= later)):
        file = folder / f"{name}.npz"
        if not file.exists():
            network = learning.fit_network(decisions.where(chosen), 0, _EPOCHS)
            CloneNetworks({players: network}, {"games": len(np.unique(decisions.game[chosen]))}).save(file)
        clones[name] = f"clone:{file}"
    spec = known(GAME).spec
    config = build(spec, {"num_players": players, "rules": "official", "talk": False}).config
    usual = [game for game in games if game.number >= later and build(spec, game.config).config == config]
    here = decisions.where(np.isin(decisions.game, [game.number for game in usual]))
    return Halves(players, config, clones["earlier"], clones["later"], usual, here)


def _at_table(study: PeopleStudy, halves: Halves) -> None:
    names = {CLONE: halves.earlier}
    names |= {f"anchored, {kl}": _anchored(study, halves, kl) for kl in STRENGTHS}
    if has_expert(GAME, halves.config):
        names[EXPERT] = EXPERT
    names[HEURISTIC] = HEURISTIC
    of = f"{halves.players} players"
    chosen = _seats(study, halves, names, of)
    _how_human(study, halves, names, of)
    study.written.append((f"{halves.players}_players", f"clones and experts of {of}; chosen: {chosen}"))
    differences(study, halves, {name: names[name] for name in (EXPERT, chosen) if name in names})


def _anchored(study: PeopleStudy, halves: Halves, kl: float) -> str:
    """Self-play from the clone, anchored to it with this strength; the name of the player."""
    training = import_extra("parlour.training.learn.selfplay.run", "train")
    steps = 1000 * study.setting.practice
    folder = study.folder / f"{halves.players}_players" / f"anchored-{kl}"
    training.selfplay(anchored_config(halves.players, halves.earlier, kl, steps), folder)
    return str(folder / training.POLICY)


def anchored_config(players: int, clone: str, kl: float, steps: int) -> SelfplayConfig:
    """Self-play among clones: one seat in 70 % of the games, all seats in the others."""
    return SelfplayConfig(
        options={"num_players": players, "rules": "official", "talk": False},
        features="belief",
        steps=steps,
        start=clone,
        imitation_steps=max(1, steps // 5),
        hidden=(192, 64),
        fixed="start",
        fixed_share=0.7,
        pool_share=0.0,
        one_seat=1.0,
        kl=kl,
        last_kl=kl,
        validation_deals=100,
        deals=100,
        test_deals=100,
        shown=2,
    )


def _seats(study: PeopleStudy, halves: Halves, names: Mapping[str, str], of: str) -> str:
    """Play the seats; the strength that won most on the first range of deals."""
    module = import_extra("parlour.training.learn.batch.matches", "train")
    table = module.StrangersTable(GAME, {"num_players": halves.players, "rules": "official", "talk": False})
    games = study.setting.games
    both = deals_of(study.setting, 2 * games)
    played = {
        name: [
            module.seat_games(table, (player, halves.later), halves.later, deals, GameRunner())
            for deals in (both[:games], both[games:])
        ]
        for name, player in names.items()
    }
    for name, (choosing, reporting) in played.items():
        won = reporting.won.tolist()
        study.add(name, of, CHOSEN_BY, rate(int(choosing.won.sum()), len(choosing.won)))
        study.add(name, of, SEAT, rate(sum(won), len(won)))
        study.add(name, of, LESS_CLONE, paired(won, reporting.reference.tolist()))
        if EXPERT in played:
            study.add(name, of, LESS_EXPERT, paired(won, played[EXPERT][1].won.tolist()))
    strengths = [name for name in played if name.startswith("anchored")]
    return max(strengths, key=lambda name: int(played[name][0].won.sum()))


def _how_human(study: PeopleStudy, halves: Halves, names: Mapping[str, str], of: str) -> None:
    """The mean log likelihood of people's decisions under each player that has probabilities, by kind of decision."""
    predicted = import_extra("parlour.training.learn.clone.networks", "train")
    kinds = predicted.KINDS
    for name, player in names.items():
        if name == HEURISTIC:
            continue
        logs = predicted.by_player(player, halves.games, halves.decisions).log
        for kind, what in enumerate(kinds):
            some = halves.decisions.kind == kind
            by_deal = by_game(zip(halves.decisions.game[some].tolist(), logs[some].tolist(), strict=True))
            study.add(name, of, f"{what}: {HUMAN}", valued(by_deal, share=False))


def draw_among_people(study: PeopleStudy) -> None:
    """A row for each table: points over the clone, and how human each player is."""
    rows = {n: list(_points(study, f"{n} players")) for n in SIZES}
    rows = {n: row for n, row in rows.items() if row}
    if not plots.available() or not rows:
        return
    file, title = "among_people.png", "Who does best among people, and who plays like them"
    with plots.picture(
        study.folder / file,
        9,
        2.4 * len(rows) + 0.4,
        title=title,
        who="One seat among clones of other people; people's votes at the same table; official rules, no talk",
        n=f"n = {study.setting.games:,} deals; {plots.INTERVAL}s",
    ) as made:
        panels = made.subplots(len(rows), 2, squeeze=False)
        for (points, votes), (players, measured) in zip(panels, rows.items(), strict=True):
            names = [name for name, _, _ in measured]
            _panel(points, names, [wins.drawn for _, wins, _ in measured], LESS_CLONE, f"{players} players")
            human = [(name, value) for name, _, value in measured if value is not None]
            likely = "log likelihood of people's votes (nats)"
            _panel(votes, [name for name, _ in human], [value.drawn for _, value in human], likely, "")
    study.pictures.append((file, title))


def _panel(axes: Any, names: Sequence[str], of: Sequence[plots.Estimated], words: str, title: str) -> None:
    plots.points(axes, range(len(names)), of, across=True)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    plots.label(axes, words, "", title, grid="x")


def _points(study: PeopleStudy, of: str) -> Iterator[tuple[str, Value, Value | None]]:
    """Name, points over the clone, and log likelihood of votes where it has probabilities."""
    figures = {(cell.row, cell.measure): cell.figure for cell in study.cells if cell.of == of}
    for (name, measure), points in figures.items():
        if measure == LESS_CLONE and points is not None:
            yield name, points, figures.get((name, f"vote: {HUMAN}"))
