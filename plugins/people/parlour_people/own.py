"""Experts of one's own: the folder in which `expert:style=human` finds a network and its card (`scripts/make-expert --data`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

EXPERTS: Final = Path(os.environ.get("PARLOUR_PEOPLE", "~/.parlour-people")).expanduser()
"""`PARLOUR_PEOPLE` names another folder; it need not exist."""
