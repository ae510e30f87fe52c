"""Tables 1, 6, 9 and 10 and figures 4 and 5 of Questum, A1, A4 and A5 of PLAYER*: what needs scripts, people or other models.

People rated the agents of table 6 and figure 4; nobody can ask them again, so that only the paper's figures are given. Figure 5 draws
table 11 with the hours of play.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies.llm.fit import estimated_tokens
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import CaseSetting
from parlour.training.papers import questum
from parlour.training.papers.cells import Reproduction, TableCell, cell, printed, remark, unprinted
from parlour.training.papers.questum_games import OVERALL, SCRIPTS, MysterySetting, Rows, cases_of, play_cases, scored
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
    """What people said of the agents, on scales from 1 to 5: the paper's figures."""
    rows = dict.fromkeys(key[1] for key in printed() if key[0] == "questum-6")
    cells = [replace(made, share=False) for made in unprinted("questum-6", rows)]
    return Reproduction(name, "Agents rated by people", setting.model.name, tuple(cells), (remark("rated"),))


def in_english(name: str, setting: MysterySetting) -> Reproduction:
    """The English scripts: accuracies of all methods, with the own script and with all."""
    if name.startswith("player"):
        return replace(questum.player_1(name, setting), title="English scripts")
    made = questum.questum_table_8(name, setting)
    return replace(made, title="English scripts", cells=tuple(c for c in made.cells if c.row != questum.WHOLE))


def open_models(name: str, setting: MysterySetting) -> Reproduction:
    """Points in the quiz by the model that plays: the paper's four, and whichever is asked here."""
    method = questum.PLAYER_PAPER if name.startswith("player") else questum.QUESTUM
    rows: Rows = {setting.model.called: method}
    rules = "player" if name.startswith("player") else "questum"
    tables = dict.fromkeys(rows, CaseSetting(rules=rules, repetitions=setting.repetitions))
    games = play_cases(name, setting, rows, tables=tables)
    papers = unprinted(name, dict.fromkeys(key[1] for key in printed() if key[0] == name))
    cells: list[TableCell] = [*papers, *scored(name, games, (scores.OVERALL,))]
    return questum.made_of(name, "Other models", setting, games, cells, "open_models")


def questum_figure_5(name: str, setting: MysterySetting) -> Reproduction:
    """Dollars, questions to the model and hours of the games by method: table 11, drawn."""
    made = questum.questum_table_11("questum-11", setting)
    kept = tuple(entry for entry in made.cells if entry.measure.startswith("gameplay") and entry.of == OVERALL)
    return replace(made, name=name, title="Costs of the games", cells=kept)
