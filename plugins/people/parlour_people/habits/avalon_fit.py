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
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.habits import (
    LEADERS,
    AvalonHabits,
    Terms,
)
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.registry import lookup

from parlour_people.habits import avalon as recorded, learner, model as habits
from parlour_people.habits.conduct import MOOD_SHARES, MOODS, over_moods
from parlour_people.habits.likelihoods import Likelihoods
from parlour_people.multi_round import GAME as MULTI_ROUND

WORDS: Final = "learned, words"
"""The reading that also uses speech."""
READER: Final = "learned, reader"
"""The reading by evidence."""


def fit(cases: recorded.Cases, widths: learner.Widths) -> dict[int, habits.Conduct]:
    """Number of players -> conduct, for all numbers of players."""
    votes, usual = fit_votes(cases.votes, widths), AvalonHabits()
    even = 0.7  # of the teams drawn at random that have an evil member, at the smallest table
    rates = {"evil": usual.evil_on_own_team, "Merlin": 1 - usual.clean_team_merlin, "good": even}
    priors = {
        kind: learner.one_hot(habits.TEAM_TERMS, dirty=learner.odds(rate) - learner.odds(even))
        for kind, rate in rates.items()
    }
    teams = {kind: _fit(cases.teams[kind], priors[kind], widths) for kind in LEADERS if kind != "Oberon"}
    mean: NDArray[np.float64] = np.mean(list(teams["good"].values()), axis=0)
    teams["Oberon"] = _fit(cases.teams["Oberon"], tuple(mean.tolist()), widths)
    cards = _fit(cases.cards, learner.one_hot(habits.CARD_TERMS, always=learner.odds(usual.fail)), widths)
    joins = _fit(cases.joins, (learner.odds(usual.fail),), widths)
    return {
        n: habits.Conduct(votes[n], tuple(teams[kind][n] for kind in LEADERS), cards[n], joins[n][0]) for n in PLAYERS
    }


def _fit(cases: Sequence[recorded.RecordedChoice], prior: Terms, widths: learner.Widths) -> dict[int, Terms]:
    """Number of players -> coefficients."""
    losses = [_choices_loss([case for case in cases if case.players == n]) for n in PLAYERS]
    return dict(zip(PLAYERS, learner.by_table(losses, prior, widths), strict=True))


def _choices_loss(cases: Sequence[recorded.RecordedChoice]) -> learner.Loss:
    """Of the cases of one number of players; those with as many options are in one array."""
    parts = []
    for options in sorted({len(case.terms) for case in cases}):
        some = [case for case in cases if len(case.terms) == options]
        terms, chosen = np.stack([case.terms for case in some]), np.array([case.chosen for case in some])
        parts.append((_yes_or_no if options == 1 else _choice, terms, chosen))

    def loss(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """- log likelihood and its gradient."""
        total, gradient = 0.0, np.zeros(len(coefficients))
        for of_part, terms, chosen in parts:
            value, slope = of_part(terms, chosen, coefficients)
            total += value
            gradient += slope
        return total, gradient

    return loss


def _yes_or_no(
    terms: NDArray[np.float64], chosen: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    terms = terms[:, 0]
    logits = terms @ coefficients
    value = float(np.logaddexp(0.0, logits).sum() - logits @ chosen)
    return value, (1 / (1 + np.exp(-logits)) - chosen) @ terms


def _choice(
    terms: NDArray[np.float64], chosen: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    logits = terms @ coefficients
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.arange(len(chosen))
    value = -float(np.log(weights[rows, chosen]).sum())
    slope = np.einsum("ct,ctf->f", weights, terms) - terms[rows, chosen].sum(axis=0)
    return value, slope


# -- votes -------------------------------------------------------------------------------------------------------

_GOOD, _OBERON = habits.VOTERS.index("good"), habits.VOTERS.index("Oberon")
MOOD = 0.5
"""Where the prior of the mood's coefficient lies: at zero it could not be distinguished from its negative."""


def fit_votes(ballots: Sequence[recorded.Ballot], widths: learner.Widths) -> dict[int, tuple[Terms, ...]]:
    """Number of players -> coefficients by `VOTERS`. Oberon's prior lies at the good seats'."""
    losses = [_votes_loss([ballot for ballot in ballots if ballot.players == n]) for n in PLAYERS]
    usual = AvalonHabits()
    rates = {
        "evil, dirty": usual.approve_dirty_evil,
        "evil, clean": usual.approve_clean_evil,
        "Merlin, dirty": usual.approve_dirty_merlin,
        "Merlin, clean": usual.approve_clean_merlin,
        "good": usual.approve_blind,
    }
    by_kind = {
        kind: learner.one_hot(habits.VOTE_TERMS, always=learner.odds(rate), mood=MOOD) for kind, rate in rates.items()
    }
    prior = tuple(term for kind in habits.VOTERS for term in by_kind.get(kind, (0.0,) * len(habits.VOTE_TERMS)))
    fitted = [_split(np.array(terms)).tolist() for terms in learner.by_table(losses, prior, widths)]
    return {n: tuple(map(tuple, rows)) for n, rows in zip(PLAYERS, fitted, strict=True)}


def _split(packed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients by `VOTERS`, shape (kinds, terms): Oberon's are packed as their difference to the good seats'."""
    rows = packed.reshape(len(habits.VOTERS), -1).copy()
    rows[_OBERON] += rows[_GOOD]
    return rows


def _votes_loss(ballots: Sequence[recorded.Ballot]) -> learner.Loss:
    """Of the ballots of one number of players, one voter a row."""
    if not ballots:
        return learner.nothing
    terms = np.concatenate([ballot.terms for ballot in ballots])
    cast = np.concatenate([np.array(ballot.votes, dtype=np.float64) for ballot in ballots])[:, None]
    which = np.concatenate([np.array(ballot.kinds) for ballot in ballots])
    kinds = np.arange(len(habits.VOTERS)) == which[:, None]
    counts = np.array([len(ballot.votes) for ballot in ballots])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ballot = np.repeat(np.arange(len(ballots)), counts)

    def loss(packed: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """- log likelihood and its gradient."""
        rows = _split(packed)[which]
        logits = np.einsum("vt,vt->v", terms, rows)[:, None] + rows[:, -1:] * MOODS
        signed = np.where(cast == 1, logits, -logits)
        by_mood = np.add.reduceat(-np.logaddexp(0.0, -signed), starts, axis=0)
        total = over_moods(by_mood)
        shares = np.exp(by_mood - total[:, None]) * MOOD_SHARES
        wrong = (1 / (1 + np.exp(-logits)) - cast) * shares[ballot]
        slope = (wrong.sum(axis=1)[:, None] * terms).T @ kinds
        slope[-1] = (wrong @ MOODS) @ kinds
        slope[:, _GOOD] += slope[:, _OBERON]
        return -float(total.sum()), slope.T.ravel()

    return loss


# -- weights of evidence -----------------------------------------------------------------------------------------


KINDS: Final = ("votes", "teams", "cards", "words")
_PRIOR = (0.0, 0.0, 0.0, log(0.5))
"""Prior means of the logarithms of the weights."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for each deal after each quest of one game, by kind of evidence."""

    players: int
    logs: NDArray[np.float64]
    """Log likelihoods, shape (quests, kinds, H)."""
    true: NDArray[np.float64]
    """1 for the deals with the true evil side, shape (H,)."""


def evidence(
    record: recorded.PublicGame, conduct: habits.Conduct, claimed: habits.ClaimHabits | None = None
) -> Evidence:
    """Read one game by conduct, and its words by claim habits, every kind of evidence by itself."""
    key = record.key()
    unweighed = None if claimed is None else replace(claimed, weight=1.0)
    likely = Likelihoods(key, replace(conduct, weights=habits.Weights()), AvalonHabits(), unweighed)
    true = (key.tables().evil == record.evil).all(axis=1).astype(np.float64)
    total, totals = np.zeros((len(KINDS), len(true))), []
    team: tuple[int, ...] = ()
    for seat, (kind, args, words), _ in record.events:
        if words and kind in recorded.SPOKEN:
            said = likely.words(seat, words, reason=kind == game.TEAM)
            total[KINDS.index("words")] += 0.0 if said is None else said
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


def fit_weights(games: Sequence[Evidence], widths: learner.Widths) -> dict[int, dict[str, float]]:
    """Number of players -> weight of each of `KINDS`; their logarithms have the priors."""
    losses = [_weights_loss([played for played in games if played.players == n]) for n in PLAYERS]
    fitted = [[float(np.exp(term)) for term in terms] for terms in learner.by_table(losses, _PRIOR, widths)]
    return {n: dict(zip(KINDS, weights, strict=True)) for n, weights in zip(PLAYERS, fitted, strict=True)}


def _weights_loss(games: Sequence[Evidence]) -> learner.Loss:
    def loss(log_weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
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


def _share(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Log of the sum of the exponentials, and the share of each in it."""
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    return top + float(np.log(total)), weights / total


def _weighed(
    conduct: habits.Conduct, claimed: habits.ClaimHabits | None, weights: Mapping[str, float]
) -> habits.PeopleHabits:
    words = None if claimed is None else replace(claimed, weight=weights["words"])
    own = replace(conduct, weights=habits.Weights(*(weights[kind] for kind in KINDS[:3])))
    return habits.PeopleHabits(conduct=own, words=words)


# -- learning ----------------------------------------------------------------------------------------------------


def learn(games: Sequence[recorded.PublicGame], how: learner.Learning) -> habits.PeopleHabitsFile:
    """Habits from games: evidence (`avalon_reader`) if `how.reader`; else conduct from all of them, with weights of evidence from
    each fold as read by conduct from the others.
    """
    if how.reader:
        from parlour_people.habits.avalon_reader import fit_evidence  # needs Numba

        return habits.PeopleHabitsFile(
            {n: habits.PeopleHabits(evidence=fitted) for n, fitted in fit_evidence(games).items()}
        )
    unseen = []
    for fold, others in learner.dealt(games, how):
        conduct, claimed = _fitted(others, how)
        unseen += [evidence(games[k], conduct[games[k].players], claimed.get(games[k].players)) for k in fold]
    weights = fit_weights(unseen, how.weight_widths)
    conduct, claimed = _fitted(games, how)
    return habits.PeopleHabitsFile({n: _weighed(conduct[n], claimed.get(n), weights[n]) for n in conduct})


def _fitted(
    games: Sequence[recorded.PublicGame], how: learner.Learning
) -> tuple[dict[int, habits.Conduct], dict[int, habits.ClaimHabits]]:
    said = recorded.statements_of(games) if how.words else []
    return fit(recorded.of_games(games), how.widths), recorded.fit_words(said) if said else {}


def _variants(games: Sequence[recorded.PublicGame], how: learner.Learning) -> dict[str, learner.Learning]:
    if how.reader:
        return {READER: how}
    words = {WORDS: how} if how.words and recorded.statements_of(games) else {}
    return {learner.LEARNED: replace(how, words=False), **words}


AVALON: Final = learner.HabitsOfGame(
    id=lookup("avalon_v0").spec.id,
    title="Habits learned from records",
    record=lambda name, roles, _, state: recorded.PublicGame(name, roles, tuple(e for e in state.log if e.to is None)),
    learn=learn,
    read=recorded.read,
    fixed=AvalonHabits(),
    variants=_variants,
    groups=lambda _: {"all": range(5, 11), "5": (5,), "6-10": range(6, 11), **{str(n): (n,) for n in range(6, 11)}},
    panels=("5", "6-10"),
    read_often=recorded.read_often,
    others=(MULTI_ROUND.id,),
)
