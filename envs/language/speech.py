"""Structured speech: what can be said at any table, as data.

A speech is a `Move` whose kind is one of the acts below; free words may go with it. Games choose the acts that make
sense for them and put them into their catalogue; policies that do not speak a language play them by number, language
models speak freely and the act is read from their words (`parlour.envs.language.text.read_speech`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from parlour.envs.core import Move, counted

SILENT: Final = "silent"
"""args (): says nothing, or says words that make no claim."""
ACCUSE: Final = "accuse"
"""args (seat,): that seat is on the other side."""
DEFEND: Final = "defend"
"""args (seat,): that seat is on the good side."""
RECOMMEND: Final = "recommend"
"""args (seat,): that seat should be chosen; of oneself: a self-recommendation."""
CLAIM_ROLE: Final = "claim_role"
"""args (role,): I hold this role (the number is the game's own)."""
REPORT: Final = "report"
"""args (seat, 0 | 1): my check of that seat showed it good (0) or evil (1)."""
PROMISE: Final = "promise"
"""args (0 | 1): I will (1) or will not (0) do what others want."""

ACTS: Final = (SILENT, ACCUSE, DEFEND, RECOMMEND, CLAIM_ROLE, REPORT, PROMISE)
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make an encoder for every call
_ABOUT_OTHERS: Final = frozenset({ACCUSE, DEFEND, REPORT})
_ABOUT_SEATS: Final = _ABOUT_OTHERS | {RECOMMEND}


def speeches(acts: Iterable[str], seats: int, roles: int) -> tuple[Move, ...]:
    """All speeches with the given acts, without words, in catalogue order.

    >>> speeches([SILENT, CLAIM_ROLE], seats=2, roles=2)
    (Move(kind='silent', args=(), words=''), Move(kind='claim_role', args=(0,), words=''), \
Move(kind='claim_role', args=(1,), words=''))
    """
    arguments: dict[str, list[tuple[int, ...]]] = {
        SILENT: [()],
        **{act: [(j,) for j in range(seats)] for act in (ACCUSE, DEFEND, RECOMMEND)},
        CLAIM_ROLE: [(r,) for r in range(roles)],
        REPORT: [(j, verdict) for j in range(seats) for verdict in (0, 1)],
        PROMISE: [(0,), (1,)],
    }
    return tuple(Move(act, args) for act in acts for args in arguments[act])


def sayable(speech: Move, seat: int) -> bool:
    """Whether `seat` may say it: nobody accuses, defends or reports on himself."""
    return speech.kind not in _ABOUT_OTHERS or speech.args[0] != seat


def turned(speech: Move, by: int, seats: int) -> Move:
    """The same speech with the seat in it counted `by` further round a table of `seats`.

    >>> turned(Move(REPORT, (4, 1)), by=2, seats=5)
    Move(kind='report', args=(1, 1), words='')
    """
    if speech.kind not in _ABOUT_SEATS:
        return speech
    return speech._replace(args=(counted(speech.args[0], by, seats), *speech.args[1:]))


def quote(words: str) -> str:
    r"""Words between quotation marks, in one line: marks within them and everything unprintable are escaped.

    >>> quote('say "x"')
    '"say \\"x\\""'
    """
    quoted = _AS_JSON(words)
    return quoted if quoted.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)
