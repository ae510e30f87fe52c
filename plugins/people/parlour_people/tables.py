"""The tables that `parlour reproduce` gets."""

from __future__ import annotations

from typing import Final

from parlour.training.papers.cells import StudySetting
from parlour.training.papers.reproduce import PaperTable

from parlour_people.papers.avalon_people import avalon_people
from parlour_people.papers.avalon_records import avalon_records

AVALON_RECORDS: Final = PaperTable(
    "recorded games of language models, learned from and compared with the heuristic; needs --data",
    avalon_records,
    setting=StudySetting,
)
AVALON_PEOPLE: Final = PaperTable(
    "games that people played: who wins, what events tell an onlooker, clones, and experts among them; needs --data",
    avalon_people,
    (4000, 1500),
    StudySetting,
)
