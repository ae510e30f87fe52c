"""From facts to prose: scripts, objectives and the briefing of a generated case, in the sentences of a language.

Every fact is in the script in one of its readable forms: `read(script) == facts`. What a murderer did, and the lies
he plans, are worded so that they are not read as facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from parlour.envs.murder_mystery.cases.case import Death
from parlour.envs.murder_mystery.languages.texts import texts
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, CaseVocabulary, Fact, forms_of, say


class Teller:
    """Writes in the language of a vocabulary; draws the wording from a random generator of its own."""

    def __init__(self, vocabulary: CaseVocabulary, rng: np.random.Generator) -> None:
        self.texts, self.vocabulary, self.rng = texts(vocabulary.language), vocabulary, rng
        self.prose, self.gap = self.texts.prose, self.texts.gap
        self._last: dict[int, int] = {}

    def script(
        self, seat: int, facts: Sequence[Fact], motives: Sequence[int], crimes: str, lies: Sequence[Fact]
    ) -> str:
        """The script of a seat: its character, people, secrets, the evening, the crime, planned lies.

        Args:
            seat: The seat that knows them.
            facts: What it knows, in the order of telling.
            motives: Numbers of the vocabulary's motives in the language.
            crimes: What a murderer did, in prose; empty for innocents.
            lies: False facts that he plans to state.
        """
        prose = self.prose
        trade = prose.trades[(seat * 5 + len(facts)) % len(prose.trades)]
        opening = self._pick(prose.openings).format(name=self.vocabulary.persons[seat], trade=trade)
        people = [f for f in facts if f.kind in ("relation", "feels")]
        secrets = [f for f in facts if f.kind in ("motive", "peace", "had", "lacked", "took")]
        evening = [f for f in facts if f.kind in ("at", "saw")]
        claims = (self._framed(self._pick(prose.lie), f, seat, less=int(f.kind == "saw")) for f in lies)
        paragraphs = [
            [opening, self._pick(prose.arrivals), *(self._sentence(f, seat) for f in people)],
            [self._secret(f, seat, motives) for f in secrets],
            [self._pick(prose.evenings), *self._evening(evening, seat)],
            [*(self._sentence(f, seat) for f in facts if f.kind == "died")],
            [crimes or self._pick(prose.innocent), *claims],
        ]
        return "\n".join(self.gap.join(paragraph) for paragraph in paragraphs if paragraph)

    def crime(self, death: Death, victim: int) -> str:
        """What a murderer did to a victim (person number)."""
        words = self.vocabulary
        confession = self._pick(self.prose.confession).format(
            v=words.persons[victim], p=words.places[death.place], t=words.times[death.time], m=words.means[death.means]
        )
        confession = re.sub(r"(?:^|(?<=[.:!?] ))[a-z]", lambda match: match[0].upper(), confession)
        return confession + (self.gap + self.prose.moved.format(found=words.places[death.found])) * (
            death.found != death.place
        )

    def briefing(self, setting: str, deaths: Sequence[Death], public: Sequence[Fact]) -> str:
        """What all know: the setting, who was found where, what is known about it, and the words of the case."""
        words, prose = self.vocabulary, self.prose
        parts = [prose.briefing.format(setting=setting + self.gap, people=self._list(words.persons[: words.seats]))]
        for death, fact in zip(deaths, public, strict=True):
            victim, place = words.persons[fact.args[0]], words.places[death.found]
            parts.append(prose.found.format(v=victim, found=place, last=words.times[-1]))
            parts += [prose.open[p] for p, value in zip("ptm", fact.args[1:], strict=True) if value == UNKNOWN]
            if set(fact.args[1:]) != {UNKNOWN}:
                parts.append(say(fact, words, None))
        parts.append(
            prose.lists.format(
                places=self._list(words.places),
                times=self._list(words.times),
                means=self._list(words.means),
                items=self._list(words.items),
                motives=self._list(words.motives),
            )
        )
        return self.gap.join(part.replace("  ", " ") for part in parts)

    def objectives(
        self, seat: int, facts: Sequence[Fact], murdered: Sequence[int], blamed: int | None
    ) -> tuple[str, ...]:
        """Two to five aims. `murdered`: person numbers of his victims; `blamed`: the person he frames."""
        aims, words = self.prose.objectives, self.vocabulary
        made = []
        for victim in words.victims:
            name = words.persons[victim]
            if victim in murdered:
                made.append(aims["hide"].format(v=name))
                if blamed is not None:
                    made.append(aims["blame"].format(v=name, n=words.persons[blamed]))
            else:
                made.append(aims["find"].format(v=name))
        for fact in facts:
            own = fact.args[0] == seat
            if fact.kind == "took" and own:
                made.append(aims["took"].format(i=words.items[fact.args[1]]))
            elif fact.kind == "motive" and own and fact.args[2] not in murdered:
                made.append(aims["motive"].format(v=words.persons[fact.args[2]]))
            elif fact.kind == "feels" and own and fact.args[2] < words.seats and fact.args[1]:
                form = aims["protect"] if fact.args[1] > 0 else aims["expose"]
                made.append(form.format(n=words.persons[fact.args[2]]))
        return tuple(made[:5])

    def _evening(self, facts: Sequence[Fact], seat: int) -> list[str]:
        """Whereabouts and sightings by the hour; people seen in another place were not met."""
        where = {fact.args[2]: fact.args[1] for fact in facts if fact.kind == "at"}
        evening = []
        for fact in sorted(facts, key=lambda fact: (fact.args[2], fact.kind, fact.args)):
            far = fact.kind == "saw" and where.get(fact.args[2]) != fact.args[1]
            frames = self.prose.saw_far if far else getattr(self.prose, fact.kind)
            evening.append(self._framed(self._pick(frames), fact, seat, less=int(far)))
        return evening

    def _secret(self, fact: Fact, seat: int, motives: Sequence[int]) -> str:
        sentence = self._sentence(fact, seat)
        if fact.kind == "motive" and fact.args[0] == seat:
            story = self.prose.motive_story[motives[fact.args[1]]].format(v=self.vocabulary.persons[fact.args[2]])
            sentence += self.gap + story
        return sentence

    def _sentence(self, fact: Fact, seat: int) -> str:
        prose, kind = self.prose, fact.kind
        if kind == "feels":
            frames = prose.feels[fact.args[1]]
        elif kind in ("relation", "died"):
            frames = getattr(prose, kind)
        else:
            frames = getattr(prose, kind + ("_own" if fact.args[0] == seat else "_other"))
        return self._framed(self._pick(frames), fact, seat)

    def _framed(self, frame: str, fact: Fact, seat: int, less: int = 0) -> str:
        """A fact in one of its forms, the last `less` of them left out, inside a frame."""
        form = int(self.rng.integers(forms_of(fact, self.vocabulary, seat) - less))
        sentence = say(fact, self.vocabulary, seat, form)
        before, _, after = frame.partition("*")
        if before:
            sentence = self._inside(sentence)
        return before + sentence + (self.gap if after.strip() and not after.startswith(" ") else "") + after

    def _inside(self, sentence: str) -> str:
        """A sentence after the beginning of another: small at first, unless it begins with a name or "I"."""
        if re.match(r"I\b", sentence):
            return sentence
        names = (*self.vocabulary.persons, *(name for names in self.vocabulary.aliases for name in names))
        return sentence if sentence.startswith(names) else sentence[0].lower() + sentence[1:]

    def _pick(self, every: Sequence[str]) -> str:
        """One of some sentences, never the same twice in a row."""
        pick, before = int(self.rng.integers(len(every))), self._last.get(id(every))
        if pick == before:
            pick = (pick + 1) % len(every)
        self._last[id(every)] = pick
        return every[pick]

    def _list(self, words: Sequence[str]) -> str:
        return self.texts.phrases.comma.join(words[:-1]) + self.prose.last + words[-1]
