"""What is not played of Questum and PLAYER*: the data (tables 1 and A1), and how people rated agents (table 6, figure 4).

Nobody can ask those people again, so that only the paper's figures are given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies.llm.fit import estimated_tokens
from parlour.training.papers.cells import Reproduction, cell, printed, remark, unprinted
from parlour.training.papers.questum_games import OVERALL, SCRIPTS, MysterySetting, cases_of
from parlour.training.statistics import Estimate

_DATA: Final = "WellPlay"
_LANGUAGES: Final = {"en": "English", "zh": "Chinese"}
_QUESTIONS: Final = {
    "objective": "questions on objectives",
    "reasoning": "questions on reasoning",
    "relations": "questions on relations",
    "total": "questions",
}


def data_statistics(name: str, setting: MysterySetting) -> Reproduction:
    """Players, victims, tokens and questions of the cases; scripts of WellPlay beside the paper's figures of them."""
    counts = [(SCRIPTS.get(case.title, case.title), _counts(case)) for case in map(find, dict(cases_of(setting)))]
    known = set(SCRIPTS.values())
    row = _DATA if {title for title, _ in counts} <= known else "ours"
    total: Counter[str] = Counter()
    for _, count in counts:
        total.update(count)
    listed = [pair for pair in counts if pair[0] in known] + [(OVERALL, total)]
    cells = [cell(name, row, of, what, Estimate(n), share=False) for of, count in listed for what, n in count.items()]
    measured = {(made.row, made.of, made.measure) for made in cells}
    papers = [replace(made, share=False) for made in unprinted(name, (_DATA,))]
    rest = [made for made in papers if (made.row, made.of, made.measure) not in measured]
    return Reproduction(name, "The data", setting.model.name, (*cells, *rest), (remark("data"),))


def _counts(case: Case) -> dict[str, float]:
    language = _LANGUAGES[case.language]
    tokens = sum(estimated_tokens(character.script) for character in case.characters)
    counts = {
        "agents": case.seats,
        "victims": len(case.victims),
        f"tokens a character ({language})": tokens / case.seats,
        f"tokens ({language})": tokens,
    }
    asked = {_QUESTIONS[sort]: number for sort, number in case.counts().items()}
    return {**counts, **asked}


def rated_by_people(name: str, setting: MysterySetting) -> Reproduction:
    """How people rated the agents, on scales from 1 to 5: the paper's figures."""
    rows = dict.fromkeys(key[1] for key in printed() if key[0] == "questum-6")
    cells = [replace(made, share=False) for made in unprinted("questum-6", rows)]
    return Reproduction(name, "Agents rated by people", setting.model.name, tuple(cells), (remark("rated"),))
