"""Loader of WellPlay folders, the scripts that the PLAYER* and Questum papers were measured on, in both languages.

    <slug>/json/script_info.json, <slug>/json/<character>.json      characters, scripts, victims, who killed whom
    <slug>/final_result/<character>.csv, .../FSA.csv or GM.csv      questions to each, and to one who has read all

Keys stay as they were published, whatever the stories say; `scripts/check_wellplay.py` lists what is irregular.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError
from parlour.envs.language.english import without_article
from parlour.envs.murder_mystery.cases.case import Case, Character, Victim
from parlour.envs.murder_mystery.vocabulary.quiz import QuizQuestion
from parlour.envs.murder_mystery.wellplay.rows import Irregularity, Row, Source, kind_of, question, read_rows

OMNISCIENT: Final = ("FSA", "GM")
"""Names of the file of omniscient questions."""
_LANGUAGES: Final = {"en": "en", "english": "en", "zh": "zh", "cn": "zh", "chinese": "zh"}
CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_BRACKETS: Final = re.compile(r"^(.*?)\s*[(（\[【](.+?)[)）\]】]\s*$", re.DOTALL)


@dataclass(frozen=True)
class Folder:
    """A script's folder as it was read."""

    path: Path
    lang: str
    info: dict[str, Any]
    people: tuple[dict[str, Any], ...]
    """What the file of each character holds, in turn order."""
    rows: tuple[tuple[Row, ...], ...]
    """Per character."""
    omniscient: tuple[Row, ...]
    omniscient_file: str | None
    irregular: tuple[Irregularity, ...]
    """What was found in single rows and files."""

    @property
    def slug(self) -> str:
        return self.path.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(name).strip() for name in self.info["character_name"])

    @cached_property
    def aliases(self) -> tuple[tuple[str, ...], ...]:
        """What each player is called besides its name."""
        return tuple(player_aliases(self, seat) for seat in range(len(self.names)))

    @property
    def victims(self) -> int:
        """How many died."""
        return len(self.people[0]["victims"])

    def rows_of(self, seat: int | None) -> tuple[Row, ...]:
        """The questions to a seat; None: the omniscient ones."""
        return self.omniscient if seat is None else self.rows[seat]

    def murderers(self, victim: int) -> tuple[int, ...]:
        """Seats that killed a victim."""
        return tuple(seat for seat, person in enumerate(self.people) if person["kill_by_me"][victim])

    def called(self, victim: int) -> list[str]:
        """What the characters call a victim, each form once, the most frequent first."""
        return [
            name for name, _ in Counter(str(person["victims"][victim]).strip() for person in self.people).most_common()
        ]

    @cached_property
    def every_row(self) -> tuple[Row, ...]:
        """Rows of the characters, then the omniscient rows."""
        return (*(row for rows in self.rows for row in rows), *self.omniscient)

    @cached_property
    def victim_forms(self) -> frozenset[str]:
        """All spellings of the victims' names."""
        return frozenset(form for v in range(self.victims) for name in self.called(v) for form in spellings(name))

    def report(self, kind: str, detail: str, handled: str, *file: str, line: int | None = None) -> Irregularity:
        """An irregularity of the script, or of one of its files."""
        name = "/".join((self.path.parent.name, self.slug, *file)) if file else None
        return Irregularity(self.lang, self.slug, name, line, kind, detail, handled)


def open_folder(path: Path) -> Folder:
    """Read a script's folder.

    Raises:
        ParlourError: It is no WellPlay folder, or a file of it cannot be read at all.
    """
    info = _json(path / "json" / "script_info.json")
    names = info.get("character_name")
    if not isinstance(names, list) or not names:
        raise ParlourError(f"{path}/json/script_info.json names no characters (character_name)")
    people = tuple(_person(path / "json" / f"{str(name).strip()}.json") for name in names)
    victims = {len(person["victims"]) for person in people} | {len(person["kill_by_me"]) for person in people}
    if len(victims) != 1 or not victims.pop():
        raise ParlourError(f"{path}: the characters do not agree on how many victims there are")
    lang = _LANGUAGES.get(path.resolve().parent.name)
    if lang is None:
        text = "".join(str(part) for person in people for part in person["script"])
        lang = "zh" if 5 * len(CHINESE.findall(text)) > len(text) else "en"
    file = next((name for name in OMNISCIENT if (path / "final_result" / f"{name}.csv").is_file()), None)
    rows, irregular = [], list[Irregularity]()
    for name in (*(str(name).strip() for name in names), file or OMNISCIENT[0]):
        table = path / "final_result" / f"{name}.csv"
        source = Source(lang, path.name, "/".join((path.resolve().parent.name, path.name, "final_result", table.name)))
        if table.is_file():
            rows.append(tuple(read_rows(table, source)))
        else:
            rows.append(())
            source.report(None, "missing_questions", "no such file", "nothing is asked")
        irregular += source.irregular
    return Folder(path, lang, info, people, tuple(rows[:-1]), rows[-1], file, tuple(irregular))


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json_value(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ParlourError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ParlourError(f"{path} is not a JSON object")
    return value


def _person(path: Path) -> dict[str, Any]:
    value = _json(path)
    for key in ("script", "acts_goal", "victims", "kill_by_me"):
        if not isinstance(value.get(key), list):
            raise ParlourError(f"{path}: {key} is not a list")
    if any(killed not in (0, 1) for killed in value["kill_by_me"]):
        raise ParlourError(f"{path}: kill_by_me {value['kill_by_me']}; accepted: 0 and 1")
    return value


def folders(root: Path) -> tuple[Path, ...]:
    """All folders of scripts in a tree, the root included, sorted."""
    paths = {info.parent.parent for info in root.rglob("script_info.json") if info.parent.name == "json"}
    return tuple(sorted(paths))


def load_folder(path: Path | str) -> Case:
    """A WellPlay folder (`.../en/<script>`) as a case. Its keys are those that were published.

    Raises:
        ParlourError: It cannot be loaded.
    """
    folder = open_folder(Path(path))
    title, victims = str(folder.info.get("script_name") or folder.slug), _victims(folder)
    people = [
        Character(
            name=name,
            aliases=tuple(alias for alias in folder.aliases[seat] if alias not in folder.names),
            script="\n".join(str(part) for part in person["script"]).strip(),
            objectives=tuple(
                line.strip() for goal in person["acts_goal"] for line in str(goal).splitlines() if line.strip()
            ),
            murders=tuple(bool(killed) for killed in person["kill_by_me"]),
        )
        for seat, (name, person) in enumerate(zip(folder.names, folder.people, strict=True))
    ]
    briefing, comma = _BRIEFINGS[folder.lang]
    names, dead = comma.join(folder.names), comma.join(victim.name for victim in victims)
    return Case(
        id=f"wellplay/{folder.lang}/{folder.slug}",
        title=title,
        language=folder.lang,
        briefing=briefing.format(title=title, names=names, dead=dead),
        characters=tuple(people),
        victims=victims,
        questions=tuple(_asked(folder, seat) for seat in range(len(people))),
        omniscient=_asked(folder, None),
    )


_BRIEFINGS: Final = {
    "en": ("{title}. The characters are {names}. Dead: {dead}.", ", "),
    "zh": ("《{title}》。人物：{names}。死者：{dead}。", "、"),
}
_NO_TEXT: Final = {"en": "(The text of this question is missing.)", "zh": "（此题题干缺失）"}


def _asked(folder: Folder, seat: int | None) -> tuple[QuizQuestion, ...]:
    """The questions to a seat; a row without a text has that of another row with the same options."""
    questions = []
    name = "all" if seat is None else str(seat)
    for row, victim in zip(folder.rows_of(seat), victims_of(folder, seat), strict=True):
        same = (row.value, sorted(row.options))
        others = (*folder.omniscient, *folder.every_row)
        like = (other.text for other in others if other.text and (other.value, sorted(other.options)) == same)
        text = row.text or next(like, _NO_TEXT[folder.lang])
        questions.append(question(row, f"{name}.{row.line}", victim, text))
    return tuple(questions)


def _victims(folder: Folder) -> tuple[Victim, ...]:
    victims: list[Victim] = []
    taken = set(folder.names)
    for victim in range(folder.victims):
        every = list(dict.fromkeys(form for name in folder.called(victim) for form in spellings(name)))
        best = next((n for n in every if n not in taken and (folder.lang == "zh" or not CHINESE.search(n))), None)
        name = best or f"{every[0]} ({victim + 1})"
        taken.add(name)
        victims.append(Victim(name=name, aliases=tuple(form for form in every if form not in taken)))
    return tuple(victims)


def spellings(name: str) -> Iterator[str]:
    """A name as it is written, and, if it has another one in brackets, both parts.

    >>> list(spellings("Han Chengwu (Han the Attendant or Han the Crew Member)"))
    ['Han Chengwu (Han the Attendant or Han the Crew Member)', 'Han Chengwu', 'Han the Attendant', 'Han the Crew Member']
    """
    name = name.strip()
    yield name
    if match := _BRACKETS.match(name):
        yield from (part for part in (match[1].strip(), *re.split(r"\s+or\s+|[、或/]", match[2])) if part.strip())


def player_aliases(folder: Folder, seat: int) -> tuple[str, ...]:
    """Other names of a player: in brackets of its own name, and in options such as "Brother Li【Aming】"."""
    name = folder.names[seat]
    others = {form for k, other in enumerate(folder.names) if k != seat for form in spellings(other)}
    others |= folder.victim_forms
    own = dict.fromkeys(spellings(name))
    aliases = dict(own)
    for row in folder.every_row:
        if kind_of(row) in ("who", "suspect"):
            for option in row.options:
                whole, *forms = spellings(option)
                if forms and not own.keys().isdisjoint((whole, *forms)):
                    aliases.update(dict.fromkeys(form for form in forms if form not in others))
    return tuple(form.strip() for form in aliases if form != name)


def victims_of(folder: Folder, seat: int | None) -> list[int | None]:
    """For each row of a seat (or the omniscient file) the victim that it asks about; None for relations and the like.

    The victim named in the text; a text that names none ("your wife") asks about the victim of its block:
    files go through the victims in order, and every block begins with who killed.
    """
    rows = folder.rows_of(seat)
    own = {v for v in range(folder.victims) if seat is not None and folder.people[seat]["kill_by_me"][v]}
    if own & {victim_named(folder, row.text, seat) for row in rows if asks_who(row)}:
        own = set()  # murderers are asked about their own victims too
    expected = [v for v in range(folder.victims) if v not in own] or [0]
    victims: list[int | None] = []
    block = -1
    for row in rows:
        kind = kind_of(row)
        named = victim_named(folder, row.text, seat)
        if asks_who(row):
            following = expected.index(block) + 1 if block in expected else 0
            block = expected[min(following, len(expected) - 1)] if named is None else named
        elif kind in ("who", "individual", "one_relation", "two_relations", "three_relations"):
            victims.append(None)
            continue
        victims.append(max(block, 0) if named is None else named)
    return victims


_KILLING: Final = re.compile(r"kill|murder|杀|凶手|遇害|害死", re.IGNORECASE)


def asks_who(row: Row) -> bool:
    """Whether a row asks who killed a victim; some rows of 10 points ask for something else."""
    return kind_of(row) == "who" and _KILLING.search(row.text) is not None


def victim_named(folder: Folder, text: str, seat: int | None) -> int | None:
    """The victim named in a text; of several the longest name: as the seat calls them, else as anybody does."""
    own = [] if seat is None else [[str(name)] for name in folder.people[seat]["victims"]]
    every = [folder.called(victim) for victim in range(folder.victims)]
    for called in (own, every):
        forms = [
            (len(form), -victim)
            for victim, names in enumerate(called)
            for name in names
            for form in map(_plain, spellings(name))
            if form and form in _plain(text)
        ]
        if forms:
            return -max(forms)[1]
    return None


def _plain(name: str) -> str:
    """A name for comparison: small letters, no article."""
    return without_article(name.strip().casefold())


def player_of(folder: Folder, option: str) -> int | None:
    """The seat that an option names, by its name, the part before a bracket, or an alias."""
    forms = set(spellings(option))
    for seat, name in enumerate(folder.names):
        if forms & {*spellings(name)}:
            return seat
    return next((seat for seat in range(len(folder.names)) if forms & set(folder.aliases[seat])), None)
