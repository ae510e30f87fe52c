"""What excerpts of script and talk say against each suspect: the reading that all heuristics of this room share.

Who may lie is a rule of the game: only a victim's murderer, and only about that victim. So each suspect is judged as if he
had done it: what he said himself then counts for nothing, and what all the others said about this victim is true (about
another victim, somebody else may have lied). Against him speak a reason that he has not given up, the means, having been
seen where and when the victim died, and having said what the others contradict; for him, that he was seen elsewhere or
could not get at the means. If the others contradict each other with his own words left aside, or tell that somebody else
was there when the victim died, that speaks for him too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, CaseVocabulary, Fact, read
from parlour.policies.agents.murder_mystery import wording
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, Talk

NOBODY: Final = -1
"""Teller of what the briefing says."""


class Excerpts(NamedTuple):
    """The sources of a seat's answer: the case, its script and the talk."""

    scene: Scene
    me: CharacterInfo
    victim: str = ""
    """Name of the victim whose death the question is about; empty for none."""
    script: Sequence[str] = ()
    dialogue: Sequence[Talk] = ()

    @property
    def seat(self) -> int:
        """The own seat; -1 if the scene does not have it."""
        return self.scene.person(self.me.name)

    @property
    def dead(self) -> int:
        """The victim's number among the persons."""
        return self.scene.person(self.victim)

    @property
    def guilty(self) -> bool:
        """Whether the seat killed this victim."""
        return self.victim in self.me.killed

    def statements(self) -> list[SourcedFact]:
        """All facts in the excerpts."""
        return collect(self.scene, [(self.seat, self.script)], self.dialogue)

    def own(self) -> list[Fact]:
        """The facts of the own script, in its order."""
        if self.seat < 0:
            return []
        return facts_of(self.script, self.scene.vocabulary, self.seat)


class SourcedFact(NamedTuple):
    """A fact and where it comes from."""

    fact: Fact
    teller: int
    """Seat of who said it, or whose script says it; `NOBODY` for the briefing."""
    sure: bool
    """Whether it is in the briefing or in a script, not said at the table."""
    victim: int = -1
    """The victim about whose death it was said; -1 for none in particular."""


class Death(NamedTuple):
    """What is known about how a victim died; -1 for what is not."""

    place: int
    time: int
    means: int


class Dossier(NamedTuple):
    """What is known about one suspect and one victim."""

    motives: tuple[int, ...]
    """Reasons told by others, the most frequent first."""
    admitted: tuple[int, ...]
    """Reasons of his own telling."""
    peace: bool
    """Whether others say that he had given up his reasons."""
    means: int
    """1: he could get at the means, as others say; -1: he could not; 0: nobody says."""
    there: bool
    """Seen where and when the victim died."""
    elsewhere: bool
    """Seen at another place at that time."""
    caught: int
    """How many of his words others contradict."""
    rivals: int
    """How many other players were seen where and when the victim died."""
    discord: int
    """Contradictions among the others, without his words."""
    feeling: int
    """What he feels for the victim, if anybody told it: -1, 0, 1."""
    hints: float
    """What free prose says against him, 0 .. 1."""
    weight: float
    """All of it in one number; the higher, the more it speaks against him."""


@lru_cache(maxsize=1 << 15)
def facts_in(text: str, vocabulary: CaseVocabulary, speaker: int | None) -> tuple[Fact, ...]:
    """The facts of a text; texts come back in many questions."""
    return tuple(read(text, vocabulary, speaker))


def facts_of(texts: Iterable[str], vocabulary: CaseVocabulary, speaker: int) -> list[Fact]:
    """The facts of several texts of one speaker, each once."""
    return list(dict.fromkeys(fact for text in texts for fact in facts_in(text, vocabulary, speaker)))


def collect(scene: Scene, scripts: Iterable[tuple[int, Sequence[str]]], dialogue: Sequence[Talk]) -> list[SourcedFact]:
    """All facts in excerpts of the talk and of scripts; `scripts` has each seat whose script is known, with excerpts."""
    vocabulary = scene.vocabulary
    statements = [SourcedFact(fact, NOBODY, True) for fact in facts_in(scene.briefing, vocabulary, None)]
    for seat, excerpts in scripts:
        facts = [fact for text in excerpts for fact in facts_in(text, vocabulary, _speaker(seat))]
        statements += [SourcedFact(fact, seat, True) for fact in facts]
    for talk in dialogue:
        seat, victim = scene.person(talk.speaker), scene.person(talk.victim)
        claims = facts_in(talk.answer, vocabulary, _speaker(seat))
        statements += [SourcedFact(fact, seat, False, victim) for fact in claims]
    return list(dict.fromkeys(statements))


def _speaker(seat: int) -> int | None:
    return seat if seat >= 0 else None


def has_facts(statements: Sequence[SourcedFact]) -> bool:
    """Whether the excerpts state facts; where they do not, free prose is searched for words."""
    return len(statements) > 2  # one or two may be chance hits in prose


def death_of(victim: int, statements: Iterable[SourcedFact]) -> Death:
    """How a victim died, by the majority of the statements; a script counts twice."""
    votes: tuple[Counter[int], ...] = (Counter(), Counter(), Counter())
    for (kind, args), _, sure, _ in statements:
        if kind == "died" and args[0] == victim:
            for count, value in zip(votes, args[1:], strict=True):
                if value != UNKNOWN:
                    count[value] += 1 + sure
    place, time, means = (max(sorted(count), key=count.__getitem__, default=UNKNOWN) for count in votes)
    return Death(place, time, means)


def judge(
    scene: Scene,
    victim: int,
    suspects: Sequence[int],
    statements: Sequence[SourcedFact],
    texts: Sequence[str] = (),
    open_scripts: bool = False,
) -> dict[int, Dossier]:
    """What is known about each suspect.

    Args:
        scene: The setting.
        victim: The victim's number among the persons.
        suspects: Seats.
        statements: What was read.
        texts: Excerpts as they are, for what free prose says.
        open_scripts: Whether the suspects' own scripts are among what was read: scripts do not lie.
    """
    hints = wording.suspicion(scene, victim, suspects, texts)
    return {
        suspect: _dossier(victim, suspect, statements, hints.get(suspect, 0.0), open_scripts=open_scripts)
        for suspect in suspects
    }


def _dossier(
    victim: int, suspect: int, statements: Sequence[SourcedFact], hints: float, *, open_scripts: bool
) -> Dossier:
    others = [statement for statement in statements if statement.teller != suspect or (statement.sure and open_scripts)]
    own = [statement for statement in statements if statement.teller == suspect]
    death = death_of(victim, others)
    others = [other for other in others if other.sure or other.victim == victim]
    where = _whereabouts(others)
    at_death = where.get((suspect, death.time), {}) if death.time != UNKNOWN else {}
    reasons = Counter(f.args[1] for f, _, _, _ in others if f.kind == "motive" and f.args[::2] == (suspect, victim))
    admitted = [f.args[1] for f, _, _, _ in own if f.kind == "motive" and f.args[::2] == (suspect, victim)]
    peace = any(f.kind == "peace" and f.args == (suspect, victim) for f, _, _, _ in others)
    dossier = Dossier(
        motives=tuple(sorted(reasons, key=lambda reason: (-reasons[reason], reason))),
        admitted=tuple(dict.fromkeys(admitted)),
        peace=peace,
        means=_means(suspect, death.means, others),
        there=death.place in at_death and death.place != UNKNOWN,
        elsewhere=death.place != UNKNOWN and any(place != death.place for place in at_death),
        caught=_caught(suspect, own, where),
        rivals=sum(
            death.place in places and time == death.time and person not in (suspect, victim)
            for (person, time), places in where.items()
        )
        if UNKNOWN not in death[:2]
        else 0,
        discord=sum(len(places) > 1 for places in where.values()),
        feeling=_feeling(suspect, victim, statements),
        hints=hints,
        weight=0.0,
    )
    return dossier._replace(weight=_weight(dossier))


def _whereabouts(statements: Iterable[SourcedFact]) -> dict[tuple[int, int], dict[int, None]]:
    """(person, time) -> the places where the person is said to have been, in order."""
    whereabouts: dict[tuple[int, int], dict[int, None]] = {}
    for (kind, args), _, _, _ in statements:
        if kind in ("at", "saw"):
            person, place, time = args
            whereabouts.setdefault((person, time), {})[place] = None
    return whereabouts


def _means(suspect: int, means: int, others: Iterable[SourcedFact]) -> int:
    accesses = [f for f, _, _, _ in others if f.kind in ("had", "lacked") and f.args[0] == suspect]
    said = Counter(fact.kind for fact in accesses if means in (fact.args[1], UNKNOWN))
    if means == UNKNOWN:
        return 1 if said["had"] else 0
    return (said["had"] > said["lacked"]) - (said["lacked"] > said["had"])


def _caught(suspect: int, own: Iterable[SourcedFact], where: dict[tuple[int, int], dict[int, None]]) -> int:
    """How often his words about who was where are not what the others say."""
    places = [(f.args[1], where.get((f.args[0], f.args[2]))) for f, _, _, _ in own if f.kind in ("at", "saw")]
    return sum(others is not None and place not in others for place, others in places)


def _feeling(person: int, other: int, statements: Iterable[SourcedFact]) -> int:
    said = [f.args[1] for f, _, _, _ in statements if f.kind == "feels" and f.args[0] == person and f.args[2] == other]
    return said[-1] if said else 0


def _weight(known: Dossier) -> float:
    """The numbers say which facts outweigh which; nothing was fitted.

    An alibi or lack of the means outweighs everything else; presence and a lie weigh more than a reason.
    """
    weight = 0.0
    if known.motives or known.admitted:
        weight += 1.5
    if known.peace:
        weight -= 2.5
    weight += (-4.0, 0.0, 1.2)[known.means + 1]
    if known.there:
        weight += 2.5
    elif known.elsewhere:
        weight -= 4.0
    weight += 1.5 * min(known.caught, 2) - 2.0 * min(known.discord, 2) - 2.0 * min(known.rivals, 1)
    return weight - 0.3 * known.feeling + known.hints
