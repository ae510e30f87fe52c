"""The parameters of GRATR. The paper names no value; these are those of its published code (SPEC section 1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from parlour.policies.settings import Settings, number, one_of, setting, whole

Mode = Literal["ours", "paper", "code"]
MODES: Final = ("ours", "paper", "code")
"""How the equations are read where paper and published code differ.

- `"ours"`: as the paper prints them, where that is defined. The weight of a chain in Eq. 8 is |u| - H, as in the code. What
  Eq. 8 gives is shown and used, but starts no chain and lends no weight to words: as printed, every retrieval sets out
  from the results of those before it, which repeats their errors (measured: the longer a game, the worse the trust).
- `"paper"`: the same with the value V of Eq. 5 in that weight: |V| - H.
- `"code"`: Eq. 2 without the speaker's trust and without |w|, confidences below 0.5 ignored, those about special roles
  raised by a fifth; natural logarithm in Eq. 7; Eq. 9 for all edges of the target, if it had two chains.
"""

AT_LEAST_1: Final = "a whole number, at least 1"


@dataclass(frozen=True)
class Parameters(Settings):
    """What a trust graph is run with."""

    rho: float = setting(0.95, number(0, 1))
    """Eq. 4: what a piece of evidence keeps of its weight with every later one on the same edge; 1 keeps all, 0 the last."""
    gamma: float = setting(0.1, number(0, 1))
    """Eq. 9: rate of the backward update; 0 switches it off."""
    epsilon: float = setting(0.2, number(0, 1, below=True))
    """Table 1: trust up to this, in either direction, is no judgement."""
    width: int = setting(3, whole(1, says=AT_LEAST_1))
    """Algorithm 2: players that chains start from (w)."""
    length: int = setting(4, whole(1, says=AT_LEAST_1))
    """Edges that a chain may have; what ends Algorithm 2."""
    prior: float = setting(0.5, number(0, 1))
    """Eq. 2: what a speaker's word counts whom the graph has no judgement of."""
    mode: Mode = setting("ours", one_of(*MODES))
