"""What a line of talk at Avalon is taken for by a reader who errs (`parlour.policies.llm.noise`).

Lines that tell who accuses, defends or recommends whom are misread: in one half of the cases another player is taken for the
one they are about, in the other half an accusation is taken for a defence, and the other way round. Facts (teams, votes,
cards, results) and one's own words are neither misread nor missed. Forgotten is talk of earlier rounds, each time when a
round is summed up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from parlour.envs import speech
from parlour.envs.english import name
from parlour.policies.agents.avalon import notes
from parlour.policies.llm.noise import Ear

_CONTRARY: Final = {speech.ACCUSE: speech.DEFEND, speech.DEFEND: speech.ACCUSE}
_VERBS: Final = {speech.ACCUSE: "accuses", speech.DEFEND: "defends", speech.RECOMMEND: "recommends"}


def heard(lines: Iterable[str], ear: Ear, players: int) -> list[str]:
    """Lines as a reader takes them; those that are missed are left out."""
    taken = (_one_heard(line, ear, players) for line in lines)
    return [line for line in taken if line is not None]


def remembered(lines: Iterable[str], ear: Ear) -> list[str]:
    """What is still in mind of the talk of earlier rounds, one round later."""
    kept = []
    for line in lines:
        if _talk_of(line, ear) is not None and ear.forgets(line):
            ear.hears(line, "")
        else:
            kept.append(line)
    return kept


def _talk_of(line: str, ear: Ear) -> notes.Fact | None:
    """What another player says of somebody in a line; None for any other line."""
    fact = notes.read(line)
    return None if fact is None or fact.kind not in _VERBS or fact.seat == ear.seat else fact


def _one_heard(line: str, ear: Ear, players: int) -> str | None:
    fact = _talk_of(line, ear)
    if fact is None:
        return line
    if ear.misses(line):
        ear.hears(line, "")
        return None
    if not ear.misreads(line):
        return line
    kind, target = fact.kind, fact.args[0]
    others = [seat for seat in range(players) if seat not in (fact.seat, target)]
    if others and (kind not in _CONTRARY or ear.pick(line, "whom or how", (True, False))):
        target = ear.pick(line, "other", others)
    else:
        kind = _CONTRARY.get(kind, kind)
    taken = f"{name(fact.seat)} {_VERBS[kind]} {name(target)}"
    ear.hears(line, taken)
    return taken
