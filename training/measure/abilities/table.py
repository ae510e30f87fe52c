"""Abilities as a table and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from parlour.policies.llm.decisions import mostly_foreign
from parlour.training.measure.abilities.beliefs import StatedScores
from parlour.training.measure.abilities.consistency import RULES, SAID, SAW
from parlour.training.measure.abilities.run import EXACT, ONLOOKER, THEMSELVES, Abilities
from parlour.training.measure.statistics import Estimate, show_interval
from parlour.training.results.decision_tables import marked
from parlour.training.results.result_table import Cell, Column, ResultTable
from parlour.training.results.verdicts import doubt, no_score, together

_TITLE = "Abilities (95 % intervals over games); deduction: everybody at the same moments"


def abilities_table(measured: Abilities) -> ResultTable:
    """A row for each measure, a column for each player; what rests on too few beliefs of the player's own is left out."""
    asked = measured.asked.asked
    own = asked.first + asked.again
    hidden = mostly_foreign(own, asked.asked)
    beside = [name for name in measured.deduction if name != measured.player]
    scores = [None if hidden else measured.deduction[measured.player], *(measured.deduction[name] for name in beside)]
    rows: list[tuple[Cell, ...]] = [
        (
            "deduction",
            "skill: 0 as after the night, 1 exact",
            *(_text(score.skill if score else None) for score in scores),
        ),
        *(
            (
                "deduction",
                f"skill against {opponent}",
                *_skills(of, measured.player if hidden else "", (measured.player, *beside)),
            )
            for opponent, of in measured.against.items()
        ),
        ("deduction", "log loss (nats a seat)", *(_text(score.loss if score else None, ".3f") for score in scores)),
        ("deduction", "calibration error", *(f"{score.calibration:.3f}" if score else None for score in scores)),
    ]
    rows += _village_rows(measured, measured.player if hidden else "", (measured.player, *beside))
    empty = ("",) * len(beside)
    for listener, estimate in measured.deception.items():
        rows.append(("deception", _listens(listener), _text(estimate), *empty))
    rows.append(("deception", "change of the onlooker's doubt by its words", _text(measured.by_words, "+.2f"), *empty))
    sides = (
        ("persuasion", "as good, towards the truth (nats a claim)"),
        ("persuasion", "as evil, away from the truth (nats a claim)"),
    )
    for named, estimate in zip(sides, measured.persuasion, strict=True):
        rows.append((*named, _text(estimate, ".3f"), *empty))
    votes = (
        ("persuasion", "as good, votes won by words (share)", measured.votes.good),
        ("persuasion", "as evil, votes won by words (share)", measured.votes.evil),
        ("persuasion", "votes that words change (share)", measured.votes.changed),
    )
    rows += [(ability, measure, _text(estimate, ".3f"), *empty) for ability, measure, estimate in votes]
    rows += _consistency_rows(measured, (measured.player, *beside))
    rows += [(ability, measure, figure, *empty) for ability, measure, figure in _moves_rows(measured)]
    rows += _question_rows(measured, (measured.player, *beside))
    rows.append(("Merlin", "names Merlin, as Assassin", _share(measured.names_merlin), *empty))
    rows.append(("Merlin", "is not named, as Merlin", _share(measured.hides_merlin), *empty))
    first = marked(measured.player, own, asked.asked) if asked.asked else measured.player
    return ResultTable(_TITLE, tuple(map(Column, ("ability", "measure", first, *beside))), tuple(rows), _note(measured))


_AGAINST: Final = {
    RULES: "against rules or what all saw",
    SAW: "against what it saw, as good",
    SAID: "against what it said",
}


def _village_rows(measured: Abilities, hidden: str, players: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    village = measured.village
    if not village.all:
        return
    scores = [None if name == hidden else village.all.get(name) for name in players]
    yield ("deduction", "Werewolf: skill, village", *(_text(score.skill if score else None) for score in scores))
    for opponent, of in village.against.items():
        against = [None if name == hidden or name not in of else _text(of[name].skill) for name in players]
        yield ("deduction", f"Werewolf: skill against {opponent}", *against)
    yield (
        "deduction",
        "Werewolf: log loss (nats a seat)",
        *(_text(score.loss if score else None, ".3f") for score in scores),
    )
    yield (
        "deduction",
        "Werewolf: calibration error",
        *(f"{score.calibration:.3f}" if score else None for score in scores),
    )


def _consistency_rows(measured: Abilities, players: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for game, of in measured.consistency.items():
        plain = game.partition("_")[0].capitalize()
        for kind, words in _AGAINST.items():
            shares = [_text(getattr(of[who], kind), ".3f") if who in of else None for who in players]
            yield ("consistency", f"{plain}: claims {words} (share)", *shares)
        yield ("consistency", f"{plain}: claims", *(str(of[who].claims) if who in of else None for who in players))


def _question_rows(measured: Abilities, players: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    asked = [measured.questions.get(who) for who in players]
    for budget in dict.fromkeys(budget for ability in asked if ability for budget in ability.solved):
        solved = [_share(ability.solved.get(budget)) if ability else None for ability in asked]
        yield ("questions", f"murders solved with {budget} questions (share)", *solved)
    if any(ability.utility for ability in asked if ability):
        yield (
            "mediator",
            "net utility a question",
            *(_text(ability.utility if ability else None, ".1f") for ability in asked),
        )
        static = [_text(ability.static if ability else None, ".1f") for ability in asked]
        yield ("mediator", "the same, best static action", *static)


def _moves_rows(measured: Abilities) -> Iterator[tuple[Cell, Cell, Cell]]:
    moves = measured.moves
    if moves is None:
        return
    first = None if moves.first_share is None else f"{moves.first_share:.3f}, {moves.games} games"
    yield "moves", "first answers that are legal (share)", first
    if moves.tokens:
        yield "moves", "tokens a game", f"{moves.tokens:,.0f}"
        yield "moves", "dollars a game", None if moves.dollars is None else f"{moves.dollars:.4f}"


def _skills(of: Mapping[str, StatedScores], hidden: str, players: Iterable[str]) -> list[str | None]:
    """Of all players but the hidden one."""
    return [None if name == hidden else _text(of[name].skill) for name in players]


def verdict_on(measured: Abilities) -> str:
    """What the player concludes and hides, in two sentences."""
    asked = measured.asked.asked
    own, player = asked.first + asked.again, measured.player
    if mostly_foreign(own, asked.asked):
        return no_score(player, own, asked.asked)
    scores = measured.deduction[player]
    said = []
    if scores.skill is not None:
        cases = f"{scores.moments} moments of {scores.loss.n} games"
        said.append(f"In deduction, {player} has a skill of {_text(scores.skill)} (1 is the exact posterior); {cases}.")
    left = measured.deception.get(ONLOOKER)
    if left is not None:
        said.append(
            f"As evil it leaves {_text(left)} of the doubt to an onlooker who knows how it plays; {left.n} games."
        )
    return together([*said, doubt(player, own, asked.asked) if asked.asked else ""])


def _listens(listener: str) -> str:
    if listener == ONLOOKER:
        return "doubt left to an onlooker who knows its habits"
    shown = {EXACT: "exact posterior", THEMSELVES: "as they state it"}.get(listener, listener)
    return f"doubt left to good opponents, {shown}"


def _text(estimate: Estimate | None, unit: str = ".2f") -> str | None:
    if estimate is None:
        return None
    interval = show_interval(estimate, unit)
    return f"{estimate.value:{unit}}{'' if interval == '-' else f' {interval}'}"


def _share(estimate: Estimate | None) -> str | None:
    return None if estimate is None else f"{_text(estimate)}, n={estimate.n}"


def _note(measured: Abilities) -> str:
    moments = measured.deduction[measured.player].moments
    return f"{moments} moments; docs/howto/abilities.md says what each measure is."
