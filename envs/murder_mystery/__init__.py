"""Murder mysteries: everybody knows a part of the story, some are murderers, and questions bring it to light.

| | |
|---|---|
| Name | `murder_mystery_v0` |
| Players | 2-12, agents `player_0` ..., in the order of the case's characters |
| Returns | civilians: (victims solved - missed) / victims that a player murdered; a murderer: the negative of that for its own victims |
| Reasons of the end | `votes`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: choices of a player to ask, questions, facts, reports, votes |
| Features | see `encode.py` |
| Time | the AEC form shows how long two seats talk in private (`hearing="two"`): do not pass it to a seat. Cycles of the parallel form reveal nothing |

Each seat has a private script and objectives. There is no chance beyond what the players do.

1. All players introduce themselves.
2. In each round, for every victim, a seat may choose up to `targets` others in turn and ask each of them `questions` questions. The
   other seat answers with up to three facts, or in its own words.
3. After every round but the last, each seat reports its suspect for each victim in private.
4. After the last round all vote in secret, never for themselves. Only the counts are announced.

A question has a topic (whereabouts, relation, motive, sighting, means, open) and may name a person. Answers follow these rules:

- A civilian may state only facts of its own script that bear on the question. It may end the answer after three facts, or when its
  script has no such fact that the hearers do not know.
- A murderer of the victim in question may also state planned lies, or anything the case has words for about itself or the person
  in the question. It may also say nothing.
- An answer in free words ends the turn. Words are not checked: honesty and silence in them are the player's own affair.
- A case without structured facts has free-word answers only. Questions keep their topics.

The presets of `rules` differ in the vote:

| point | questum | player |
|---|---|---|
| the vote accuses | whoever has most votes, and at least half of them | whoever has most votes |
| a tie accuses | nobody | nobody |
| an unreadable question | becomes an open one | the same |
| an unreadable choice | asks nobody else | the same |
| an unreadable suspicion | keeps the last one; before the first, a random one | the same |

Tougher cases (`seed:N:en::::LEVEL`, levels 1 to 5; parlour's own) announce how many innocent players may lie too. These players may
state their planned lies instead of the facts that contradict them, or be silent. `belief.py` computes the worlds that agree with
what was said.

A victim that no player murdered does not count. If several players murdered one victim, accusing any of them solves it. The winner
is `civilians` if more victims are solved than missed, `murderers` if fewer, and `draw` otherwise.

Sources: Zhu et al., PLAYER*, and Questum by the same authors (section 4.2; appendix A, rules 1 to 6, and stages 1 to 5 for the
anonymous vote). Decisions 4.1, 4.2 and 4.8 say where these differ. As in the published code, murderers may lie about their own
victims only.

Versions: v0, first.
"""

from __future__ import annotations

from typing import ClassVar

from parlour.envs.core import ParlourError, value_shown
from parlour.envs.murder_mystery.options import MysteryOptions
from parlour.envs.murder_mystery.rules import MurderMystery
from parlour.envs.murder_mystery.vocabulary import CIVILIANS, MURDERERS
from parlour.envs.spec import GameSpec


class MysterySpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "murder_mystery_v0"
    title: ClassVar[str] = "Murder mystery (PLAYER*, Questum)"
    options: ClassVar[type[MysteryOptions]] = MysteryOptions
    sides = (CIVILIANS, MURDERERS)
    heuristic = "parlour.policies.heuristic.murder_mystery:MysteryPlayer"
    wording = "parlour.envs.murder_mystery.text:MysteryText"
    encoders = "parlour.envs.murder_mystery.encode:MysteryEncoders"

    def build(self, options: MysteryOptions) -> MurderMystery:
        """The rules of one table. Raises `ParlourError` if the case cannot be read or is another one."""
        from parlour.envs.murder_mystery.cases.case import digest
        from parlour.envs.murder_mystery.cases.find import find

        mystery = find(options.case)
        sha256 = digest(mystery)
        if options.case_sha256 not in (None, sha256):
            held, wanted = (
                f"case {value_shown(options.case)} has the SHA-256 {sha256}",
                value_shown(options.case_sha256),
            )
            raise ParlourError(f"{held}, not {wanted}; accepted: the same case")
        return MurderMystery(mystery, options.replace(case_sha256=sha256))


GAME = MysterySpec()
