"""The wording of the murder mystery: a View in prose and words read as moves, in the language of the case.

Characters are called by their names; "player_3" and "3号" are understood as well. Facts are said and read by `facts.py`.
Words that cannot be used: a question is not asked, a suspicion stays as it was (Questum, published code: a failed reply
skips the turn, and keeps the list); a vote follows the last suspicion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from parlour.envs.core import NATURE, Event, GameText, IllegalMove, Move, Outcome
from parlour.envs.language.english import negated_at_end
from parlour.envs.language.headings import LANGUAGES
from parlour.envs.language.speech import quote
from parlour.envs.language.text import AmbiguousMove, UnreadableMove, clean
from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.languages.texts import Phrases, texts
from parlour.envs.murder_mystery.legal_moves import fact_of
from parlour.envs.murder_mystery.rules import MurderMystery
from parlour.envs.murder_mystery.vocabulary import ANYBODY, NOBODY, SAYS, MysteryView, facts
from parlour.envs.murder_mystery.vocabulary.facts import OPEN, TOPICS, CaseVocabulary

if TYPE_CHECKING:
    import numpy as np

_HEADINGS: Final = tuple(heading.strip() for headings in LANGUAGES.values() for heading in headings[:3])
_INDENT: Final = "  "
_FACTS: Final = 1 << 14
"""Sentences of facts that are kept. A case has some thousand facts, and few of them are ever told."""


class MysteryText(GameText[MysteryView]):
    """The wording of a case."""

    def __init__(self, game: MurderMystery) -> None:
        self._vocabulary = game.vocabulary
        self._names = tuple(map(clean, game.vocabulary.persons))
        self._victims = self._names[game.seats :]
        self._phrases = texts(game.language).phrases
        self.language = game.language
        self.rules = _rules(game, self._phrases)
        self._rounds = game.rounds
        self._who: dict[int, str] = {}  # by seat: all in the first section is fixed by the case

    # -- a View in prose ---------------------------------------------------------------------------------------

    def who(self, view: MysteryView) -> str:
        if view.seat not in self._who:
            self._who[view.seat] = self._who_and_case(view)
        return self._who[view.seat]

    def _who_and_case(self, view: MysteryView) -> str:
        p = self._phrases
        killed = p.comma.join(name for name, murdered in zip(self._victims, view.murders, strict=True) if murdered)
        characters = (p.seat.format(name=self._names[j], number=j) for j in range(len(view.names)))
        lines = [
            p.you.format(name=self._names[view.seat], number=view.seat),
            p.murderer.format(victims=killed) if killed else p.civilian,
            *([p.not_others] if killed and not all(view.murders) else []),
            p.title.format(title=clean(view.title)),
            p.characters.format(names=p.comma.join(characters)),
            p.victims.format(names=p.comma.join(self._victims)),
        ]
        for attribute, phrase in p.words.items():
            words = tuple(map(clean, getattr(view.vocabulary, attribute)))
            if words:
                lines.append(phrase.format(words=p.comma.join(words)))
        lines += [p.briefing, *_paragraphs([view.briefing])]
        if view.objectives:
            lines += [p.objectives, *_paragraphs(view.objectives)]
        if view.lies:
            lines += [p.lies, *_paragraphs(facts.say(lie, view.vocabulary, view.seat) for lie in view.lies)]
        lines += [p.script, *_paragraphs([view.script])]
        return "\n".join([*lines, self.rules]) + "\n"

    def end(self, outcome: Outcome) -> str:
        """How a game ended, in one sentence."""
        return self._phrases.end[outcome.winner]

    def was(self, view: MysteryView) -> str:
        """Who a seat was, in one sentence, once the game is over."""
        return self._phrases.roles[view.role].format(name=self._names[view.seat], number=view.seat)

    def line(self, event: Event) -> str:
        seat, move, _ = event
        p = self._phrases
        if seat == NATURE:
            return f"{p.moderator}{self._announcement(move)}\n"
        name = self._names[seat]
        if move.kind == vocabulary.CHOOSE:
            other = self._names[move.args[0]] if move.args else ""
            return (p.turns.format(name=name, other=other) if move.args else p.stops.format(name=name)) + "\n"
        if move.kind in (vocabulary.SUSPECT, vocabulary.VOTE):
            return p.private.format(name=name, sentence=self.say(move)) + "\n"
        sentence = self._sentence(move, seat)
        form = p.asks if move.kind == vocabulary.ASK else p.says
        line = form.format(name=name, words=quote(move.words or sentence))
        if move.words and move.kind in (vocabulary.ASK, vocabulary.TELL):
            line += p.taken.format(sentence=sentence)
        return f"{line}\n"

    def ask(self, legal: tuple[Move, ...]) -> str:
        return self._phrases.ask[legal[0].kind]

    def say(self, move: Move) -> str:
        return self._sentence(move, None)

    def _sentence(self, move: Move, speaker: int | None) -> str:
        """The canonical sentence of a move, in the first person where the speaker is known and meant."""
        p, (kind, args, _) = self._phrases, move
        if kind == vocabulary.TELL:
            return self._fact(args, speaker)
        if kind == vocabulary.ASK:
            anybody, somebody = p.questions[TOPICS[args[0]]]
            return anybody if args[1] == ANYBODY else somebody.format(name=self._names[args[1]])
        if kind == vocabulary.INTRODUCE:
            return p.introduce if speaker is None else p.named.format(name=self._names[speaker])
        if kind == vocabulary.CHOOSE:
            return p.choose.format(name=self._names[args[0]]) if args else p.choose_nobody
        if kind in (vocabulary.SUSPECT, vocabulary.VOTE):
            return (p.suspect if kind == vocabulary.SUSPECT else p.vote).format(name=self._names[args[0]])
        return p.answer if kind == vocabulary.ANSWER else p.done

    @lru_cache(maxsize=_FACTS)  # noqa: B019 - bounded, and one MysteryText lives as long as its environment
    def _fact(self, args: tuple[int, ...], speaker: int | None) -> str:
        """The sentence of a `tell` with these arguments."""
        return clean(facts.say(fact_of(Move(vocabulary.TELL, args)), self._vocabulary, speaker))

    def _announcement(self, move: Move) -> str:
        p, (kind, args, _) = self._phrases, move
        if kind == vocabulary.ROUND:
            return p.vote_begins if args[0] == self._rounds else p.round.format(number=args[0] + 1, rounds=self._rounds)
        if kind == vocabulary.TURN:
            return p.turn.format(name=self._names[args[0]], victim=self._victims[args[1]])
        if kind == vocabulary.WANTED:
            return p.wanted[args[0]].format(victim=self._victims[args[1]])
        victim = self._victims[args[0]]
        if kind == vocabulary.VOTES:
            counts = (
                p.votes_of.format(name=name, number=n) for name, n in zip(self._names, args[1:], strict=False) if n
            )
            return p.votes.format(victim=victim, counts=p.comma.join(counts))
        if args[1] < 0:
            return p.missed_all.format(victim=victim)
        return p.verdict[args[2]].format(victim=victim, found=self._names[args[1]])

    # -- words as a move ---------------------------------------------------------------------------------------

    def parse(self, text: str, view: MysteryView) -> Move:
        legal = view.legal
        plain = _plain(text)
        exact = self._sentences(legal, view.seat).get(plain)
        if exact is not None:
            return exact
        kind = legal[0].kind
        if kind == vocabulary.CHOOSE or kind in (vocabulary.SUSPECT, vocabulary.VOTE):
            return self._named(text, kind, legal)
        if not plain:
            raise UnreadableMove(self._phrases.refusals.blank.format(words=repr(text)))
        if kind == vocabulary.INTRODUCE:
            return Move(kind, (), text)
        if kind == vocabulary.ASK:
            return self._question(text, legal)
        return Move(vocabulary.ANSWER, (), text)

    @lru_cache(maxsize=256)  # noqa: B019 - bounded, and one MysteryText lives as long as its environment
    def _sentences(self, legal: tuple[Move, ...], seat: int) -> dict[str, Move]:
        """Canonical sentence, also in the first person -> the legal move."""
        first_person = {_plain(self._sentence(move, seat)): move for move in legal}
        return first_person | {_plain(self.say(move)): move for move in legal}

    def _named(self, text: str, kind: str, legal: tuple[Move, ...]) -> Move:
        """The move for the character that the text chooses. Raises the three errors of reading."""
        persons, refusals = self._chosen(text), self._phrases.refusals
        if not persons:
            if kind == vocabulary.CHOOSE and self._phrases.declines.search(text):
                return NOBODY
            raise UnreadableMove(refusals.nobody.format(words=repr(text), accepted=self._listed(legal)))
        possible = [Move(kind, (person,)) for person in persons if Move(kind, (person,)) in legal]
        if len(possible) == 1:
            return possible[0]
        if possible or len(persons) > 1:
            names = self._phrases.comma.join(self._names[person] for person in persons)
            raise AmbiguousMove(refusals.several.format(words=repr(text), names=names, accepted=self._listed(legal)))
        named = self._names[persons[0]]
        raise IllegalMove(refusals.other.format(words=repr(text), names=named, accepted=self._listed(legal)))

    def _chosen(self, text: str) -> tuple[int, ...]:
        """The persons that a text may choose: those after a word of choosing, else all it mentions; denied ones do not count."""
        whole = beginning(text, self._vocabulary)
        if whole:
            return whole
        named = [m for m in mentions(text, self._vocabulary) if not negated_at_end(text[: m.start])]
        behind = [m for m in named if self._phrases.choosing.search(text[: m.start])]
        return _persons(behind) or _persons(named)

    def _listed(self, legal: tuple[Move, ...]) -> str:
        return self._phrases.comma.join(self._names[move.args[0]] for move in legal if move.args)

    def _question(self, text: str, legal: tuple[Move, ...]) -> Move:
        """A question in free words: its topic by its words, and the person it is about, if it names one that is allowed."""
        topics = (TOPICS.index(topic) for topic, words in self._phrases.topics.items() if words.search(text))
        topic = next(topics, OPEN)
        named = {m.persons[0] for m in mentions(text, self._vocabulary) if len(m.persons) == 1}
        about = [person for person in sorted(named) if Move(vocabulary.ASK, (topic, person)) in legal]
        if len(about) > 1:  # the victim is named in most questions, and asked about if nobody else is
            about = [person for person in about if person < self._vocabulary.seats]
        return Move(vocabulary.ASK, (topic, about[0] if len(about) == 1 else ANYBODY), text)

    def default(self, text: str, view: MysteryView, rng: np.random.Generator) -> Move:
        legal = view.legal
        kind = legal[0].kind
        if kind == vocabulary.CHOOSE:
            return NOBODY
        if kind == vocabulary.ASK:
            return Move(vocabulary.ASK, (OPEN, ANYBODY))
        if kind in (vocabulary.SUSPECT, vocabulary.VOTE):
            previous = Move(kind, (view.suspects[view.victim],))
            return previous if previous in legal else legal[int(rng.integers(len(legal)))]
        return SAYS if SAYS in legal else legal[0]


def _rules(game: MurderMystery, p: Phrases) -> str:
    """The rules of a table; its first paragraph is what they come to."""
    rules = p.rules
    asking = rules.questions.format(rounds=game.rounds, questions=game.questions, targets=game.targets)
    lines = [
        rules.brief.format(seats=game.seats, victims=game.victims),
        "",
        rules.introductions,
        asking,
        p.hearing[game.hearing],
        rules.answers,
        p.truth,
        *([p.liars.format(liars=game.case.liars)] if game.case.liars else []),
        *([rules.reports] if game.rounds > 1 else []),
        rules.votes,
        p.majority[game.majority],
        rules.found,
        rules.winning,
    ]
    return "\n".join(lines)


def _persons(named: list[Mention]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(person for mention in named for person in mention.persons))


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()


def _paragraphs(texts: Iterable[Any]) -> list[str]:
    """Text from a case, one indented line a paragraph, in which no line passes for a heading."""
    lines = []
    for text in texts:
        for paragraph in str(text).splitlines():
            for heading in _HEADINGS:
                paragraph = paragraph.replace(heading, heading[2:])
            if not paragraph.isprintable():
                paragraph = "".join(ch if ch.isprintable() else " " for ch in paragraph)
            words = " ".join(paragraph.split())
            if words:
                lines.append(_INDENT + words)
    return lines


# -- who is named in a text: full names, aliases, unique beginnings of names, and numbers ("player_3", "3号") ------

_SEAT: Final = r"(?<![A-Za-z0-9])player[\s_]*(?P<player>\d+)(?!\d)|(?<!\d)(?P<number>\d+)\s*号"
_BREAKS: Final = re.compile(r"[\s·・\-‐.,()（）“”\"'’]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


class Mention(NamedTuple):
    """One place of a text where somebody is named."""

    start: int
    end: int
    persons: tuple[int, ...]
    """The persons it may mean: one, or several who share a beginning or an alias."""


def mentions(text: str, vocabulary: CaseVocabulary) -> list[Mention]:
    """All places where somebody is named, in order; at each place the longest name counts.

    A name in full counts before an alias, and an alias before the beginning of another's name.
    """
    pattern, persons = _readers(vocabulary)
    places = []
    for match in pattern.finditer(text):
        number = match["player"] or match["number"]
        if number is None:
            places.append(Mention(match.start(), match.end(), persons[_folded(match[0])]))
        elif int(number) < vocabulary.seats:
            places.append(Mention(match.start(), match.end(), (int(number),)))
    return places


def beginning(text: str, vocabulary: CaseVocabulary) -> tuple[int, ...]:
    """The persons one of whose names begins with the whole text.

    An exact name counts alone; whole words count before beginnings of words ("Li" is Li Po and not Lin Wei).
    """
    start = _folded(text.strip(" \t\"'“”‘’.,;:!?。，；：！？"))
    if not start:
        return ()
    names = zip(vocabulary.persons, vocabulary.aliases, strict=True)
    every = [[_folded(name) for name in (full, *aliases)] for full, aliases in names]
    fits = (
        lambda name: name == start,
        lambda name: name.startswith(start) and not name[len(start) : len(start) + 1].isalnum(),
        lambda name: name.startswith(start),
    )
    matches = (tuple(person for person, names in enumerate(every) if any(map(fit, names))) for fit in fits)
    return next(filter(None, matches), ())


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


@lru_cache(maxsize=256)
def _readers(vocabulary: CaseVocabulary) -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    """One pattern for all names, the longest first, and the persons that each of them may mean."""
    full = {_folded(name): (person,) for person, name in enumerate(vocabulary.persons)}
    aliases: dict[str, tuple[int, ...]] = {}
    for person, names in enumerate(vocabulary.aliases):
        for name in names:
            aliases[_folded(name)] = (*aliases.get(_folded(name), ()), person)
    starts: dict[str, tuple[int, ...]] = {}
    for person, name in enumerate(
        vocabulary.persons
    ):  # short forms: first parts; no single letter or Chinese character
        ends = (match.start() for match in _BREAKS.finditer(name))
        for start in dict.fromkeys(_folded(name[:end]) for end in ends if end > 1):
            starts[start] = (*starts.get(start, ()), person)
    meanings = {**starts, **aliases, **full}
    longest_first = sorted(filter(None, meanings), key=lambda name: (-len(name), name))
    pattern = "|".join((*map(_bounded, longest_first), _SEAT))
    return re.compile(pattern, re.IGNORECASE), meanings


def _bounded(name: str) -> str:
    """Pattern of a name that is not part of another word; Chinese has no such boundaries."""
    body = r"\s+".join(re.escape(part) for part in name.split())
    before = "" if _HAN.match(name[0]) or not name[0].isalnum() else r"(?<!\w)"
    after = "" if _HAN.match(name[-1]) or not name[-1].isalnum() else r"(?!\w)"
    return f"{before}{body}{after}"
