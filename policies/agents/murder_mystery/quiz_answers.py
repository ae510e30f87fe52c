"""How heuristics answer the quiz: by the facts in the excerpts where an option is one of the case's words, else by words.

The options reveal what a question asks for: a player, a place, an hour, a means, a reason, a relation. Options of no such sort
are compared with the excerpts by the words they share. Where nothing speaks for any option, one is drawn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.language.english import whole_word, without_article
from parlour.policies.agents.murder_mystery import wording
from parlour.policies.agents.murder_mystery.evidence import SourcedFact, collect, death_of, has_facts, judge
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, Talk
from parlour.policies.agents.murder_mystery.wording import mentions, names_of

_CRIME: Final = re.compile(
    r"\b(?:kill|murder|suspect|culprit|perpetrat|poison|stab|shot)\w*|杀|凶手|怀疑|嫌疑|害死|谋害", re.IGNORECASE
)
_NOT: Final = re.compile(r"non-existent|not exist|does not|not a relation|不存在|没有的关系|并非", re.IGNORECASE)
_LETTERS: Final = "abcde"
_PICK: Final = re.compile(r"[a-e](?:\s*[,，、]\s*[a-e])*")


class Matter(NamedTuple):
    """A question of the quiz with all that there is to answer it from."""

    scene: Scene
    me: CharacterInfo
    question: str
    options: Sequence[str]
    statements: list[SourcedFact]
    texts: list[str]
    open_scripts: bool

    @property
    def victim(self) -> int:
        """The victim that the question names, or the only one; -1 if it names none of several."""
        first = len(self.scene.players)
        named = [first + k for k in range(len(self.scene.victims)) if mentions(self.scene, first + k, self.question)]
        return named[0] if named else first if len(self.scene.victims) == 1 else -1

    @property
    def persons(self) -> list[int]:
        """The persons that the question names, in its order."""
        small, everybody = self.question.casefold(), range(len(self.scene.players) + len(self.scene.victims))
        named = [person for person in everybody if mentions(self.scene, person, self.question)]
        return sorted(named, key=lambda k: min(small.find(n) for n in names_of(self.scene, k) if n in small))


def letters_of(words: str, options: int, pick: int) -> tuple[int, ...]:
    """The options that an answer picks, by strict letters; none if it is no answer.

    >>> letters_of("B", 4, 1), letters_of("a, c", 4, 2), letters_of("a or b", 4, 2), letters_of("a,b", 4, 1)
    ((1,), (0, 2), (), ())

    Args:
        words: The answer, such as "a" or "a,b".
        options: How many options there are.
        pick: How many may be picked.
    """
    said = words.strip().strip(".。\"'()（）").casefold()
    if not _PICK.fullmatch(said):
        return ()
    picked = tuple(dict.fromkeys(_LETTERS.index(letter) for letter in re.findall("[a-e]", said)))
    return picked if len(picked) <= pick and all(option < options for option in picked) else ()


def letters(picked: Iterable[int]) -> str:
    """Options as an answer gives them, in their order."""
    return ",".join(_LETTERS[option] for option in sorted(picked))


def answer(
    scene: Scene,
    me: CharacterInfo,
    question: str,
    options: Sequence[str],
    pick: int,
    scripts: Sequence[tuple[int, Sequence[str]]],
    dialogue: Sequence[Talk],
    rng: np.random.Generator,
) -> str:
    """The letters of the options that the excerpts speak for most, `pick` of them."""
    statements = collect(scene, scripts, dialogue)
    texts = [text for _, story in scripts for text in story] + [talk.text for talk in dialogue]
    matter = Matter(scene, me, question, options, statements, texts, open_scripts=len(scripts) > 1)
    points = _points(matter)
    drawn = rng.permutation(len(options))  # of equals, any: the position of an option shall tell nothing
    ranked = sorted(range(len(options)), key=lambda k: (-points[k], drawn[k]))
    return letters(ranked[:pick])


def _points(matter: Matter) -> list[float]:
    """How much speaks for each option, by what sort of word the options are."""
    scene, options = matter.scene, matter.options
    players = [_number(scene.players, option) for option in options]
    if sum(player >= 0 for player in players) * 2 > len(options):
        points = _who(matter, players)
    elif _all_of(scene.places, options):
        points = _places(matter)
    elif _all_of(scene.times, options):
        points = _votes(options, scene.times, _of_death(matter, 1))
    elif _all_of(scene.means, options):
        points = _votes(options, scene.means, _of_death(matter, 2))
    elif _all_of(scene.motives, options):
        points = _reasons(matter)
    else:
        points = _relations(matter)
    if points is None or not any(points):
        return [_shared(matter, option) for option in options]
    return points


def _number(words: Sequence[str], option: str) -> int:
    wanted = option.strip().casefold()
    return next((k for k, word in enumerate(words) if word.casefold() == wanted), -1)


def _all_of(words: Sequence[str], options: Sequence[str]) -> bool:
    return bool(options) and all(_number(words, option) >= 0 for option in options)


def _who(matter: Matter, players: list[int]) -> list[float] | None:
    """Who did it, by what speaks against each; who took a thing, by who is said to have."""
    item = [k for k, word in enumerate(matter.scene.items) if word.casefold() in matter.question.casefold()]
    if item:
        took = Counter(f.args[0] for f, _, _, _ in matter.statements if f.kind == "took" and f.args[1] == item[0])
        return [float(took[person]) for person in players]
    if not _CRIME.search(matter.question) or matter.victim < 0:
        return None
    weights = _weights(matter)
    lowest = min(weights.values(), default=0.0)
    return [weights.get(person, lowest - 1) - lowest + 1 for person in players]


def _weights(matter: Matter) -> dict[int, float]:
    """How much speaks against each seat that can have killed the victim; who killed knows it of himself."""
    scene, me, victim = matter.scene, matter.me, matter.victim
    seat = scene.person(me.name)
    name = scene.victims[victim - len(scene.players)]
    if name in me.killed:
        return {seat: 1.0}
    seats = [other for other in range(len(scene.players)) if other != seat]
    texts = matter.texts if not has_facts(matter.statements) else []
    dossiers = judge(scene, victim, seats, matter.statements, texts, open_scripts=matter.open_scripts)
    return {other: dossier.weight for other, dossier in dossiers.items()}


def _suspect(matter: Matter) -> int:
    weights = _weights(matter) if matter.victim >= 0 else {}
    return max(sorted(weights), key=weights.__getitem__, default=-1)


def _of_death(matter: Matter, slot: int) -> Counter[int]:
    """Votes for how the victim died, sure ones twice; what the chief suspect says counts least."""
    suspect = _suspect(matter)
    votes: Counter[int] = Counter()
    for (kind, args), teller, sure, _ in matter.statements:
        if kind == "died" and args[0] == matter.victim and args[1 + slot] >= 0:
            votes[args[1 + slot]] += 4 if sure else 1 if teller == suspect else 2
    return votes


def _votes(options: Sequence[str], words: Sequence[str], votes: Counter[int]) -> list[float]:
    return [float(votes[_number(words, option)]) for option in options]


def _places(matter: Matter) -> list[float]:
    """Where somebody was at an hour, if the question names one; else where the victim died."""
    scene = matter.scene
    times = [k for k, word in enumerate(scene.times) if word.casefold() in matter.question.casefold()]
    if not times or not matter.persons:
        return _votes(matter.options, scene.places, _of_death(matter, 0))
    person, votes = matter.persons[0], Counter[int]()
    for (kind, args), teller, sure, _ in matter.statements:
        if kind in ("at", "saw") and args[0] == person and args[2] == times[0]:
            votes[args[1]] += 4 if sure else 1 if teller == person else 2
    seat = scene.person(matter.me.name)
    death = death_of(matter.victim, matter.statements) if matter.victim >= 0 else None
    if not votes and person >= len(scene.players) and death and death.time == times[0] and seat >= 0:
        votes[death.place] += 1
    return _votes(matter.options, scene.places, votes)


def _reasons(matter: Matter) -> list[float]:
    """The reason of the player named in the question, or else of the chief suspect."""
    named = [person for person in matter.persons if person < len(matter.scene.players)]
    person = named[0] if named else _suspect(matter)
    votes: Counter[int] = Counter()
    for (kind, args), teller, sure, _ in matter.statements:
        if kind == "motive" and args[0] == person and matter.victim in (args[2], -1):
            votes[args[1]] += 3 if sure else 1 if teller == person else 2
    return _votes(matter.options, matter.scene.motives, votes)


def _relations(matter: Matter) -> list[float] | None:
    """Relations between the two people named in the question, or between the chief suspect and the victim."""
    scene = matter.scene
    if not scene.relations:
        return None
    pair = matter.persons[:2]
    if len(pair) < 2:  # as in "What is the murderer to ...?"
        pair = [_suspect(matter), matter.victim]
    known = {f.args[1] for f, _, _, _ in matter.statements if f.kind == "relation" and f.args[::2] == tuple(pair)}
    denied = bool(_NOT.search(matter.question))
    relations = [without_article(word.casefold()) for word in scene.relations]
    shares = []
    for option in matter.options:
        small = _without_names(scene, pair, option).casefold()
        named = [k for k, word in enumerate(relations) if whole_word(word).search(small)]
        named = [k for k in named if not any(_longer(relations[k], relations[other]) for other in named)]
        if not named:
            return None
        share = sum(k in known for k in named) / len(named)
        shares.append(1.0 - share if denied else share)
    return None if denied and not known else shares


def _without_names(scene: Scene, pair: Sequence[int], option: str) -> str:
    for person in pair:
        for name in names_of(scene, person):
            option = re.sub(re.escape(name), " ", option, flags=re.IGNORECASE)
    return option


def _longer(word: str, other: str) -> bool:
    """Whether one relation's word is only a part of another one ("lover" in "former lover")."""
    return word in other and len(word) < len(other)


def _shared(matter: Matter, option: str) -> float:
    """The best text for an option by the words it shares with the question and with the option."""
    best = [wording.overlap(option, text) * (0.2 + wording.overlap(matter.question, text)) for text in matter.texts]
    return sum(sorted(best, reverse=True)[:3])
