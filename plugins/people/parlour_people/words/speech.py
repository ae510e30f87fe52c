"""What can be said at any table: kinds of speech, with their `args`."""

from __future__ import annotations

from typing import Final

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
