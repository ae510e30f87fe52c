"""Bids for the floor: what the games share in which players bid for the next speech instead of speaking in an order.

Before each speech all bid from 0 to 4 in secret, and nobody ever learns a bid. The highest bid speaks. Of equal bids, the player
that the last speech is about speaks; otherwise one of them is drawn. There are as many speeches as players in the talk, and a
player may hold several. The talk ends early when all bid 0. Source: Bailis, Friedhoff, Chen 2024, "Werewolf Arena" (bids, and the
preference for players who were mentioned). Ours: the number of speeches, the end, and that a mention is the claim's player,
because rules never read words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from parlour.envs.core import Move, ParlourError
from parlour.envs.language import speech
from parlour.envs.language.text import AmbiguousMove, UnreadableMove

BID: Final = "bid"
"""args (height,): from 0, which is to listen."""
HIGHEST_BID: Final = 4
BIDS: Final = tuple(Move(BID, (height,)) for height in range(HIGHEST_BID + 1))
Speaking = Literal["order", "bids"]
"""The option of a game."""
BIDDING_ASK: Final = f"Bid for the floor, from 0 (listen) to {HIGHEST_BID} (speak now)."
BIDDING_RULES: Final = (
    f"Before each speech all players in the talk bid for the floor in secret, from 0 to {HIGHEST_BID}; the highest bid speaks. Of equal "
    "bids, the player that the last speech is about speaks, or else one of them is drawn. There are as many speeches as players in the "
    "talk, which ends early when all bid 0."
)
_ABOUT: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.REPORT)
_NUMBER: Final = re.compile(rf"\b([0-{HIGHEST_BID}])\b")


def check_speaking(speaking: Speaking, *, talk: bool) -> None:
    """Raise `ParlourError` for bids at a table without talk."""
    if speaking == "bids" and not talk:
        raise ParlourError("speaking 'bids' is not accepted without talk; accepted: talk=True")


def next_speakers(bidders: Sequence[int], bids: Sequence[int], last: Move | None) -> tuple[int, ...]:
    """The seats among which the floor is drawn: one where it is decided, none where all bid 0.

    Args:
        bidders: The seats that bid.
        bids: Their bids.
        last: The last speech of this talk; None before the first.

    >>> next_speakers([0, 2, 3], [1, 3, 3], None), next_speakers([0, 2, 3], [1, 3, 3], Move(speech.ACCUSE, (3,)))
    ((2, 3), (3,))
    """
    highest = max(bids)
    if not highest:
        return ()
    equal = tuple(seat for seat, bid in zip(bidders, bids, strict=True) if bid == highest)
    about = last.args[:1] if last is not None and last.kind in _ABOUT else ()
    return about if about and about[0] in equal else equal


def say_bid(move: Move) -> str:
    """The canonical sentence of a bid."""
    return f"I bid {move.args[0]}."


def read_bid(text: str) -> Move:
    """The one bid in the words. Raises `UnreadableMove` or `AmbiguousMove`."""
    bids = set(_NUMBER.findall(text))
    if len(bids) > 1:
        raise AmbiguousMove(f"{text!r} bids {', '.join(sorted(bids))}; accepted: one number")
    if not bids:
        raise UnreadableMove(f"{text!r} is no bid; accepted: a number from 0 to {HIGHEST_BID}")
    return Move(BID, (int(bids.pop()),))
