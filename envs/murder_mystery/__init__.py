"""Murder mysteries: everybody knows a part of the story, some of them killed, and questions bring it to light.

| | |
|---|---|
| Name | `murder_mystery_v0` |
| Players | 2-12, agents `player_0` ..., in the order of the case's characters |
| Options | `case`, `case_sha256`, `rounds`, `questions`, `targets`, `hearing`, `rules` |
| Returns | civilians: (victims solved - missed) / victims that a player murdered; a murderer: the negative of that for its own victims |
| Reasons of the end | `votes`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: choices of whom to ask, questions, facts, reports, votes |
| Features | see `encode.py` |
| Time | whoever runs the AEC form sees how long two talk whom no other seat hears (`hearing="two"`); cycles tell nothing |

Each seat has a private script and objectives; there is no other chance than what the seats do. All introduce themselves.
In each round every seat, for every victim, may choose up to `targets` others, one after the other, and ask each of them
`questions` questions. The asked answers with up to three facts, or in words of its own. After each round but the last
every seat reports, in private, whom it suspects of each victim; after the last one all vote in secret, never for
themselves. The numbers of votes are told, not whose they are.

A question has a topic (whereabouts, relation, motive, sighting, means, open) and may be about a person. A civilian may
tell only facts of its own script that bear on the question, and ends such an answer only when nothing is left that the
hearers do not know from it, or three are told. A murderer of the victim in question may tell anything in the words of the case
about itself or the one it is asked about, its planned lies, or nothing. An answer in free words ends at once; words cannot
be checked, so that a civilian's honesty in them, and its silence, is the player's own affair. A case of prose only has no
words for facts: questions keep their topics, and answers are free words.

| point | questum | player |
|---|---|---|
| found is who has | most votes, and at least half of them | most votes |
| a tie finds | nobody | nobody |
| a question that cannot be used | is an open one | the same |
| a choice that cannot be used | asks nobody else | the same |
| a suspicion that cannot be used | stays as it was; before the first, a random one | the same |

Tougher cases (`seed:N:en::::LEVEL`, levels 1 to 4; ours) tell how many of those who murdered nobody may lie, too: these may tell
the lies that they planned, in place of what contradicts them, or be silent. `belief.py` holds the worlds that agree with what was told.

A victim that no player murdered does not count. Of several murderers of one victim any will do. The winner is `civilians` if
more victims are solved than missed, `murderers` if fewer, else `draw`.

Sources: Zhu et al., PLAYER*, and Questum by the same authors (section 4.2, appendix A: rules 1 to 6, and
stages 1 to 5, from which the anonymous vote is). Appendix A.1 has "over 50 %" where section 4.2 has "at least"; taken is the
latter. Murderers may lie about their own victims only, as in the published code.

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from parlour.envs.core import GameSpec, ParlourError, accept, check_one_of, value_shown
from parlour.envs.murder_mystery.cases.case import digest
from parlour.envs.murder_mystery.cases.find import find, is_path
from parlour.envs.murder_mystery.encode import MysteryEncoder
from parlour.envs.murder_mystery.rules import MurderMystery, MysterySetting
from parlour.envs.murder_mystery.text import MysteryText
from parlour.envs.murder_mystery.vocabulary import CIVILIANS, MURDERERS, WITH_WORDS

RULES: Final[Mapping[str, str]] = {"questum": "half", "player": "plurality"}
"""Preset -> how a vote finds somebody."""
HEARING: Final = ("all", "two")
_ROUNDS: Final = range(1, 11)
_QUESTIONS: Final = range(1, 6)
_DEFAULT: Final = "harbour_en"


class MysterySpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "murder_mystery_v0"
    title: ClassVar[str] = "Murder mystery (PLAYER*, Questum)"
    options: ClassVar[Mapping[str, str]] = {
        "case": "the name of a shipped case, seed:N[:en|zh[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]], a case's JSON file, a WellPlay folder",
        "case_sha256": "None, or the digest that the case must have",
        "rounds": "1..10",
        "questions": "1..5, to one target at a time",
        "targets": "None for everybody, or a whole number from 1",
        "hearing": ", ".join(HEARING),
        "rules": ", ".join(RULES),
    }
    sides = (CIVILIANS, MURDERERS)
    worded = WITH_WORDS
    heuristic = "parlour.policies.heuristic.murder_mystery:MysteryPlayer"
    replay_page = "parlour.training.results.replay_page.murder_mystery:mystery_matter"
    demo = ("parlour.training.papers.demo.murder_mystery:murder_mystery_section",)
    redealt = "parlour.envs.murder_mystery.redealt:redealt"
    text = MysteryText
    encoder = MysteryEncoder

    def opens(self, config: Mapping[str, Any]) -> str | None:
        case = config.get("case", _DEFAULT)
        return case if isinstance(case, str) and is_path(case) else None

    def build(
        self,
        *,
        case: str = _DEFAULT,
        case_sha256: str | None = None,
        rounds: int = 3,
        questions: int = 1,
        targets: int | None = None,
        hearing: str = "all",
        rules: str = "questum",
    ) -> MurderMystery:
        """The rules of one table.

        Args:
            case: Reference of a case; see `parlour.envs.murder_mystery.cases.find.find`.
            case_sha256: `digest` of the case; another case under the reference is refused.
            rounds: Of questions.
            questions: That a seat may put to one target at a time.
            targets: Whom a seat may ask about one victim in one round, at most; None for everybody.
            hearing: Who hears questions and answers: `"all"`, or `"two"`: those who talk.
            rules: `"questum"` or `"player"`.

        Raises:
            ParlourError: An argument is not accepted, or the case cannot be read or is another one.
        """
        if not isinstance(case, str):
            raise accept("case", case, self.options["case"])
        for name, number, accepted in (("rounds", rounds, _ROUNDS), ("questions", questions, _QUESTIONS)):
            check_one_of(name, number, accepted)
        if targets is not None and (type(targets) is not int or targets < 1):
            raise accept("targets", targets, self.options["targets"])
        check_one_of("hearing", hearing, HEARING)
        check_one_of("rules", rules, RULES)
        mystery = find(case)
        sha256 = digest(mystery)
        if case_sha256 not in (None, sha256):
            given = value_shown(case_sha256)
            raise ParlourError(
                f"case {value_shown(case)} has the SHA-256 {sha256}, not {given}; accepted: the same case"
            )
        config = {"case": case, "case_sha256": sha256, "rounds": rounds, "questions": questions, "targets": targets}
        config |= {"hearing": hearing, "rules": rules}
        return MurderMystery(mystery, MysterySetting(rounds, questions, targets, hearing, RULES[rules]), config)


GAME = MysterySpec()
