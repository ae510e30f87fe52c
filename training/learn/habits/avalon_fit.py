"""Habits of Avalon learned from recorded games: conduct, weights of evidence, and what was said.

Conduct is fitted to recorded choices: maximum a posteriori in log-odds, by number of players, with a part that all share.
The coefficients of a table of n are `shared + own[n]`. The shared part has a normal prior around today's fixed rates, the own part
one around zero; so six to ten players borrow from five as far as they have few games of their own. Votes are fitted to all
votes on each team at once: they share a mood that no record tells, which is summed over.

Votes of one table agree for reasons outside all terms (speech, habit), and naive Bayes counts each of them in full. So
log likelihoods are multiplied by a weight for each kind of evidence, fitted by the loss of the true evil side. The conduct by which
a game is read must not have been learned from that game: `learn` sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.avalon import GAME, vocabulary as game
from parlour.envs.avalon.conduct import MOOD_SHARES, MOODS, over_moods
from parlour.envs.avalon.deals import Array, tables
from parlour.envs.avalon.habits import (
    CARD_TERMS,
    LEADERS,
    TEAM_TERMS,
    VOTE_TERMS,
    VOTERS,
    AvalonHabits,
    ClaimHabits,
    Conduct,
    HabitsFile,
    LearnedHabits,
    Terms,
    Weights,
    read_habits,
)
from parlour.envs.avalon.likelihoods import Likelihoods
from parlour.envs.avalon.presets import PLAYERS
from parlour.training.learn.habits.avalon import (
    SPOKEN,
    Ballot,
    Cases,
    PublicGame,
    RecordedChoice,
    fit_words,
    of_games,
    read,
    read_often,
    statements_of,
)
from parlour.training.learn.habits.learner import (
    LEARNED,
    HabitsOfGame,
    Learning,
    Loss,
    Widths,
    by_table,
    folds,
    odds,
    one_hot,
)

WORDS: Final = "learned, words"
"""The reading that also uses speech."""
READER: Final = "learned, reader"
"""The reading by evidence."""


def fit(cases: Cases, widths: Widths) -> dict[int, Conduct]:
    """Number of players -> conduct, for all numbers of players."""
    votes = fit_votes(cases.votes, widths)
    teams = {kind: _fit(cases.teams[kind], _team_prior(kind), widths) for kind in LEADERS if kind != "Oberon"}
    teams["Oberon"] = _fit(cases.teams["Oberon"], _mean(teams["good"]), widths)
    cards = _fit(cases.cards, one_hot(CARD_TERMS, always=odds(AvalonHabits().fail)), widths)
    joins = _fit(cases.joins, (odds(AvalonHabits().fail),), widths)
    return {n: Conduct(votes[n], tuple(teams[kind][n] for kind in LEADERS), cards[n], joins[n][0]) for n in PLAYERS}


def _mean(fitted: Mapping[int, Terms]) -> Terms:
    return tuple(float(x) for x in np.mean(list(fitted.values()), axis=0))


def _team_prior(kind: str) -> Terms:
    habits = AvalonHabits()
    even = 0.7  # of the teams drawn at random that have an evil member, at the smallest table
    rate = {"evil": habits.evil_on_own_team, "Merlin": 1 - habits.clean_team_merlin, "good": even}[kind]
    return one_hot(TEAM_TERMS, dirty=odds(rate) - odds(even))


def _fit(cases: Sequence[RecordedChoice], prior: Terms, widths: Widths) -> dict[int, Terms]:
    """Number of players -> coefficients."""
    groups = [_Group([case for case in cases if case.players == n]).loss for n in PLAYERS]
    return dict(zip(PLAYERS, by_table(groups, prior, widths), strict=True))


class _Group:
    """The cases of one number of players; those with as many options in one array."""

    def __init__(self, cases: Sequence[RecordedChoice]) -> None:
        by_options: dict[int, list[RecordedChoice]] = {}
        for case in cases:
            by_options.setdefault(len(case.terms), []).append(case)
        self._parts = [
            (np.stack([case.terms for case in some]), np.array([case.chosen for case in some]))
            for _, some in sorted(by_options.items())
        ]

    def loss(self, coefficients: Array) -> tuple[float, Array]:
        """- log likelihood and its gradient."""
        total, gradient = 0.0, np.zeros(len(coefficients))
        for terms, chosen in self._parts:
            value, slope = (
                _yes_or_no(terms[:, 0], chosen, coefficients)
                if terms.shape[1] == 1
                else _choice(terms, chosen, coefficients)
            )
            total += value
            gradient += slope
        return total, gradient


def _yes_or_no(terms: Array, chosen: Array, coefficients: Array) -> tuple[float, Array]:
    logits = terms @ coefficients
    value = float(np.logaddexp(0.0, logits).sum() - logits @ chosen)
    return value, (1 / (1 + np.exp(-logits)) - chosen) @ terms


def _choice(terms: Array, chosen: Array, coefficients: Array) -> tuple[float, Array]:
    logits = terms @ coefficients
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.arange(len(chosen))
    value = -float(np.log(weights[rows, chosen]).sum())
    slope = np.einsum("ct,ctf->f", weights, terms) - terms[rows, chosen].sum(axis=0)
    return value, slope


# -- votes -------------------------------------------------------------------------------------------------------

_GOOD, _OBERON = VOTERS.index("good"), VOTERS.index("Oberon")
MOOD = 0.5
"""Where the prior of the mood's coefficient lies: at zero it could not be distinguished from its negative."""


def fit_votes(ballots: Sequence[Ballot], widths: Widths) -> dict[int, tuple[Terms, ...]]:
    """Number of players -> coefficients by `VOTERS`. Oberon's prior lies at the good seats'."""
    losses = [_Votes([ballot for ballot in ballots if ballot.players == n]).loss for n in PLAYERS]
    prior = tuple(term for kind in VOTERS for term in _prior(kind))
    fitted = by_table(losses, prior, widths)
    return {n: _by_kind(np.array(terms)) for n, terms in zip(PLAYERS, fitted, strict=True)}


def _prior(kind: str) -> Terms:
    habits = AvalonHabits()
    rate = {
        "evil, dirty": habits.approve_dirty_evil,
        "evil, clean": habits.approve_clean_evil,
        "Merlin, dirty": habits.approve_dirty_merlin,
        "Merlin, clean": habits.approve_clean_merlin,
        "good": habits.approve_blind,
    }
    return one_hot(VOTE_TERMS, always=odds(rate[kind]), mood=MOOD) if kind in rate else (0.0,) * len(VOTE_TERMS)


def _split(packed: Array) -> Array:
    """Coefficients by `VOTERS`, shape (kinds, terms): Oberon's are packed as their difference to the good seats'."""
    rows = packed.reshape(len(VOTERS), -1).copy()
    rows[_OBERON] += rows[_GOOD]
    return rows


def _by_kind(packed: Array) -> tuple[Terms, ...]:
    return tuple(tuple(float(x) for x in row) for row in _split(packed))


class _Votes:
    """The ballots of one number of players, one voter a row."""

    def __init__(self, ballots: Sequence[Ballot]) -> None:
        self._empty = not ballots
        if not self._empty:
            self._terms = np.concatenate([ballot.terms for ballot in ballots])
            self._cast = np.concatenate([np.array(ballot.votes, dtype=np.float64) for ballot in ballots])
            kinds = np.concatenate([np.array(ballot.kinds) for ballot in ballots])
            self._kinds = np.arange(len(VOTERS)) == kinds[:, None]
            self._which = kinds
            counts = np.array([len(ballot.votes) for ballot in ballots])
            self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            self._ballot = np.repeat(np.arange(len(ballots)), counts)

    def loss(self, packed: Array) -> tuple[float, Array]:
        """- log likelihood and its gradient."""
        if self._empty:
            return 0.0, np.zeros_like(packed)
        rows = _split(packed)[self._which]
        logits = np.einsum("vt,vt->v", self._terms, rows)[:, None] + rows[:, -1:] * MOODS
        signed = np.where(self._cast[:, None] == 1, logits, -logits)
        by_mood = np.add.reduceat(-np.logaddexp(0.0, -signed), self._starts, axis=0)
        total = over_moods(by_mood)
        shares = np.exp(by_mood - total[:, None]) * MOOD_SHARES
        wrong = (1 / (1 + np.exp(-logits)) - self._cast[:, None]) * shares[self._ballot]
        slope = (wrong.sum(axis=1)[:, None] * self._terms).T @ self._kinds
        slope[-1] = (wrong @ MOODS) @ self._kinds
        slope[:, _GOOD] += slope[:, _OBERON]
        return -float(total.sum()), slope.T.ravel()


# -- weights of evidence -----------------------------------------------------------------------------------------


class EvidenceWeights(NamedTuple):
    """How much each kind of evidence counts."""

    votes: float
    teams: float
    cards: float
    words: float


KINDS = EvidenceWeights._fields
_PRIOR = (0.0, 0.0, 0.0, log(0.5))
"""Prior means of the logarithms of the weights."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for each deal after each quest of one game, by kind of evidence."""

    players: int
    logs: Array
    """Log likelihoods, shape (quests, kinds, H)."""
    true: Array
    """1 for the deals with the true evil side, shape (H,)."""


def evidence(record: PublicGame, conduct: Conduct, claimed: ClaimHabits | None = None) -> Evidence:
    """Read one game by conduct, and its words by claim habits, every kind of evidence by itself."""
    key = record.key()
    unweighed = None if claimed is None else replace(claimed, weight=1.0)
    likely = Likelihoods(key, replace(conduct, weights=Weights()), AvalonHabits(), unweighed)
    true = (tables(key).evil == record.evil).all(axis=1).astype(np.float64)
    total, totals = np.zeros((len(KINDS), len(true))), []
    team: tuple[int, ...] = ()
    for seat, (kind, args, words), _ in record.events:
        if words and kind in SPOKEN:
            total[KINDS.index("words")] += likely.words(seat, words, reason=kind == game.TEAM)
        if kind == game.LEADS:
            likely.lead(args[0])
        elif kind == game.TEAM:
            team = args
            total[KINDS.index("teams")] += likely.team(seat, team)
        elif kind == game.VOTES:
            total[KINDS.index("votes")] += likely.votes(team, args[1:])
        elif kind == game.FAILS:
            total[KINDS.index("cards")] += likely.cards(team, args[1], None)
        elif kind == game.SCORE:
            likely.public.score(*args)
            totals.append(total.copy())
    return Evidence(record.players, np.array(totals).reshape(len(totals), len(KINDS), len(true)), true)


def fit_weights(games: Sequence[Evidence], widths: Widths) -> dict[int, EvidenceWeights]:
    """Number of players -> weights; their logarithms have the priors."""
    losses = [_weights_loss([game for game in games if game.players == n]) for n in PLAYERS]
    fitted = by_table(losses, _PRIOR, widths)
    return {
        n: EvidenceWeights(*(float(np.exp(term)) for term in terms)) for n, terms in zip(PLAYERS, fitted, strict=True)
    }


def _weights_loss(games: Sequence[Evidence]) -> Loss:
    def loss(log_weights: Array) -> tuple[float, Array]:
        weights = np.exp(log_weights)
        total, slope = 0.0, np.zeros(len(KINDS))
        for played in games:
            weighed = np.einsum("k,qkh->qh", weights, played.logs)
            for quest, logs in enumerate(weighed):
                of_all, of_true = _share(logs), _share(np.where(played.true == 1, logs, -np.inf))
                total += of_all[0] - of_true[0]
                slope += played.logs[quest] @ (of_all[1] - of_true[1])
        return total, slope * weights

    return loss


def _share(odds: Array) -> tuple[float, Array]:
    """Log of the sum of the exponentials, and the share of each in it."""
    top = float(odds.max())
    weights = np.exp(odds - top)
    total = float(weights.sum())
    return top + float(np.log(total)), weights / total


def weighed(conduct: Conduct, claimed: ClaimHabits | None, weights: EvidenceWeights) -> LearnedHabits:
    """Habits with weights."""
    return LearnedHabits(
        conduct=replace(conduct, weights=Weights(weights.votes, weights.teams, weights.cards)),
        words=None if claimed is None else replace(claimed, weight=weights.words),
    )


# -- learning ----------------------------------------------------------------------------------------------------


def learn(games: Sequence[PublicGame], how: Learning) -> HabitsFile:
    """Habits from games: evidence (`avalon_reader`) if `how.reader`; else conduct from all of them, with weights of evidence from
    each fold as read by conduct from the others.
    """
    if how.reader:
        from parlour.training.learn.habits.avalon_reader import fit_evidence  # needs Numba

        return HabitsFile({n: LearnedHabits(evidence=evidence) for n, evidence in fit_evidence(games).items()})
    unseen = []
    for fold in folds(games, min(how.folds, len(games)), how.seed):
        left_out = set(fold)
        conduct, claimed = _fitted([game for k, game in enumerate(games) if k not in left_out], how)
        unseen += [evidence(games[k], conduct[games[k].players], claimed.get(games[k].players)) for k in fold]
    weights = fit_weights(unseen, how.weight_widths)
    conduct, claimed = _fitted(games, how)
    return HabitsFile({n: weighed(conduct[n], claimed.get(n), weights[n]) for n in conduct})


def _fitted(games: Sequence[PublicGame], how: Learning) -> tuple[dict[int, Conduct], dict[int, ClaimHabits]]:
    said = statements_of(games) if how.words else []
    return fit(of_games(games), how.widths), fit_words(said) if said else {}


def _record(name: str, roles: tuple[str, ...], _rules: Any, state: Any) -> PublicGame:
    return PublicGame(name, roles, tuple(event for event in state.log if event.to is None))


def _variants(games: Sequence[PublicGame], how: Learning) -> dict[str, Learning]:
    if how.reader:
        return {READER: how}
    words = {WORDS: how} if how.words and statements_of(games) else {}
    return {LEARNED: replace(how, words=False), **words}


AVALON: Final = HabitsOfGame(
    id=GAME.id,
    title="Habits learned from records",
    record=_record,
    learn=learn,
    read=read,
    fixed=AvalonHabits(),
    variants=_variants,
    read_file=read_habits,
    groups=lambda _: {"all": range(5, 11), "5": (5,), "6-10": range(6, 11), **{str(n): (n,) for n in range(6, 11)}},
    panels=("5", "6-10"),
    read_often=read_often,
)
