"""Abilities as a table and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from parlour.training.measure.decision_tables import amount
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import together
from parlour.training.statistics import Estimate

from parlour_bench.abilities.consistency import RULES, SAID, SAW
from parlour_bench.abilities.run import EXACT, ONLOOKER, THEMSELVES, Abilities

_TITLE = "Abilities (95 % intervals over games); deduction: everybody at the same moments"


def abilities_table(measured: Abilities) -> ResultTable:
    """A row for each measure, a column for each player; what rests on too few beliefs of the player's own is left out."""
    decided = measured.decided
    beside = [name for name in measured.deduction if name != measured.player]
    players, hidden = (measured.player, *beside), measured.player if decided.no_score else ""
    skill = "skill: 0 as after the night, 1 exact"
    rows = list(_belief_rows(measured.deduction, measured.against, players, hidden, skill))
    if measured.village.all:
        rows += _belief_rows(*measured.village, players, hidden, "Werewolf: skill, village", "Werewolf: ")
    empty = ("",) * len(beside)
    rows += [(*measures, *empty) for measures in _own_rows(measured)]
    rows += _consistency_rows(measured, players)
    rows += [(*measures, *empty) for measures in _moves_rows(measured)]
    rows.append(("Merlin", "names Merlin, as Assassin", _share(measured.names_merlin), *empty))
    rows.append(("Merlin", "is not named, as Merlin", _share(measured.hides_merlin), *empty))
    note = f"{measured.deduction[measured.player].moments} moments; docs/abilities.md of the plugin says what each measure is."
    first = decided.marked
    return ResultTable(_TITLE, tuple(map(Column, ("ability", "measure", first, *beside))), tuple(rows), note)


_AGAINST: Final = {
    RULES: "against rules or what all saw",
    SAW: "against what it saw, as good",
    SAID: "against what it said",
}


def _belief_rows(
    everywhere: Mapping[str, Any],
    against: Mapping[str, Mapping[str, Any]],
    players: Sequence[str],
    hidden: str,
    skill: str,
    game: str = "",
) -> Iterator[tuple[Any, ...]]:
    """The beliefs of all players but the hidden one, in one game."""

    def cells(scores: Mapping[str, Any], cell: Callable[[Any], Any]) -> list[Any]:
        return [None if name == hidden or name not in scores else cell(scores[name]) for name in players]

    yield ("deduction", skill, *cells(everywhere, lambda score: _text(score.skill)))
    for opponent, scores in against.items():
        yield ("deduction", f"{game}skill against {opponent}", *cells(scores, lambda score: _text(score.skill)))
    yield ("deduction", f"{game}log loss (nats a seat)", *cells(everywhere, lambda score: _text(score.loss, ".3f")))
    yield ("deduction", f"{game}calibration error", *cells(everywhere, lambda score: f"{score.calibration:.3f}"))


def _own_rows(measured: Abilities) -> Iterator[tuple[Any, ...]]:
    """What the player alone is measured in, as evil and by its words."""
    for listener, estimate in measured.deception.items():
        yield "deception", _listens(listener), _text(estimate)
    yield "deception", "change of the onlooker's doubt by its words", _text(measured.by_words, "+.2f")
    for measure, estimate in (
        ("as good, towards the truth (nats a claim)", measured.persuasion.good),
        ("as evil, away from the truth (nats a claim)", measured.persuasion.evil),
    ):
        yield "persuasion", measure, _text(estimate, ".3f")


def _consistency_rows(measured: Abilities, players: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for game, of in measured.consistency.items():
        plain = game.partition("_")[0].capitalize()
        for kind, words in _AGAINST.items():
            shares = [_text(getattr(of[who], kind), ".3f") if who in of else None for who in players]
            yield ("consistency", f"{plain}: claims {words} (share)", *shares)
        yield ("consistency", f"{plain}: claims", *(str(of[who].claims) if who in of else None for who in players))


def _moves_rows(measured: Abilities) -> Iterator[tuple[Any, Any, Any]]:
    moves = measured.moves
    if moves is None:
        return
    first = None if moves.first_share is None else f"{moves.first_share:.3f}, {moves.games} games"
    yield "moves", "first answers that are legal (share)", first
    if moves.tokens != 0:
        yield "moves", "tokens a game", amount(moves.tokens, ",.0f")
        yield "moves", "dollars a game", amount(moves.dollars, ".4f")


def verdict_on(measured: Abilities) -> str:
    """What the player concludes and hides, in two sentences."""
    decided, player = measured.decided, measured.player
    if decided.no_score:
        return decided.no_score
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
    return together([*said, decided.doubt])


def _listens(listener: str) -> str:
    if listener == ONLOOKER:
        return "doubt left to an onlooker who knows its habits"
    shown = {EXACT: "exact posterior", THEMSELVES: "as they state it"}.get(listener, listener)
    return f"doubt left to good opponents, {shown}"


def _text(estimate: Estimate | None, unit: str = ".2f") -> str | None:
    if estimate is None:
        return None
    interval = estimate.interval(unit)
    return f"{estimate.value:{unit}}{'' if interval == '-' else f' {interval}'}"


def _share(estimate: Estimate | None) -> str | None:
    return None if estimate is None else f"{_text(estimate)}, n={estimate.n}"
