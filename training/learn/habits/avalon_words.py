"""What seats of known roles said of each other in recorded games, and claim habits fitted to it (`envs/avalon/spoken.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from parlour.envs.avalon import conduct, spoken
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import Array, Numbers, sides
from parlour.envs.avalon.habits import CLAIM_TERMS, LEADERS, STANCES, ClaimHabits, Terms
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.claims import claims
from parlour.training.learn.habits.avalon import PublicGame, kind_of
from parlour.training.learn.habits.priors import Loss, Widths, by_table

SPOKEN = (*game.ACTS, game.TEAM)
WORD_WIDTHS = Widths(shared=1.5, own=0.3)
_GOOD, _OBERON = LEADERS.index("good"), LEADERS.index("Oberon")
_HIDDEN = {0: game.OBERON, 1: game.MORDRED}
"""Kind of speaker -> the evil role that it does not know."""


@dataclass(frozen=True)
class RecordedStatement:
    """The stances of one statement."""

    players: int
    kind: int
    """Of the speaker, a number into `LEADERS`."""
    terms: Array
    """Of each seat, shape (n, terms)."""
    said: Numbers
    """The stance to each seat, shape (n,)."""


def statements_of(games: Iterable[PublicGame], reader: spoken.Reader = claims) -> list[RecordedStatement]:
    """The public statements of games, read by rule or by a language model."""
    return [one for record in games for one in _of_game(record, reader)]


def _of_game(record: PublicGame, reader: spoken.Reader) -> list[RecordedStatement]:
    public, heard = conduct.Public(sides(record.key())[0]), spoken.Heard(record.players)
    statements: list[RecordedStatement] = []
    for seat, (kind, args, words), _ in record.events:
        if kind == game.LEADS:
            public.lead(args[0])
            heard.lead(args[0])
        if words and kind in SPOKEN:
            terms = spoken.claim_terms(public, heard, seat, reason=kind == game.TEAM)
            said = np.array(spoken.stances(words, seat, record.players, reader))
            speaker = kind_of(record.roles[seat])
            statements.append(RecordedStatement(record.players, speaker, _with_evil(terms, record, seat), said))
            heard.hear(said)
        if kind == game.TEAM:
            public.propose(args)
            team = args
        elif kind == game.FAILS:
            public.see_cards(team, args[1])
        elif kind == game.SCORE:
            public.score(*args)
    return statements


def _with_evil(terms: Array, record: PublicGame, speaker: int) -> Array:
    hidden = _HIDDEN.get(kind_of(record.roles[speaker]))
    evil = record.evil * np.array([role != hidden for role in record.roles])
    evil[speaker] = 0.0
    return spoken.with_evil(terms, evil)


def fit_words(statements: Sequence[RecordedStatement], widths: Widths = WORD_WIDTHS) -> dict[int, ClaimHabits]:
    """Number of players -> what seats say; Oberon, who knows nobody, as good seats do, with words of both."""
    by_kind = {kind: _fit(statements, kind, widths) for kind in range(len(LEADERS)) if kind != _OBERON}
    by_kind[_OBERON] = by_kind[_GOOD]
    return {n: ClaimHabits(tuple(by_kind[kind][n] for kind in range(len(LEADERS)))) for n in PLAYERS}


def _fit(statements: Sequence[RecordedStatement], kind: int, widths: Widths) -> dict[int, tuple[Terms, ...]]:
    kinds = (_GOOD, _OBERON) if kind == _GOOD else (kind,)
    some = [one for one in statements if one.kind in kinds]
    losses = [_loss([case for case in some if case.players == n]) for n in PLAYERS]
    fitted = by_table(losses, (0.0,) * (len(STANCES) * len(CLAIM_TERMS)), widths)
    cut = len(CLAIM_TERMS)
    return {
        n: tuple(terms[k * cut : (k + 1) * cut] for k in range(len(STANCES)))
        for n, terms in zip(PLAYERS, fitted, strict=True)
    }


def _loss(statements: Sequence[RecordedStatement]) -> Loss:
    if not statements:
        return lambda coefficients: (0.0, np.zeros_like(coefficients))
    terms, said = np.concatenate([one.terms for one in statements]), np.concatenate([one.said for one in statements])
    rows = np.arange(len(said))

    def loss(coefficients: Array) -> tuple[float, Array]:
        """- log likelihood and its gradient."""
        odds = np.column_stack([np.zeros(len(terms)), terms @ coefficients.reshape(len(STANCES), -1).T])
        top = odds.max(axis=1, keepdims=True)
        shares = np.exp(odds - top)
        total = shares.sum(axis=1, keepdims=True)
        value = float((top[:, 0] + np.log(total[:, 0]) - odds[rows, said]).sum())
        wrong = shares / total
        wrong[rows, said] -= 1.0
        return value, (wrong[:, 1:].T @ terms).ravel()

    return loss
