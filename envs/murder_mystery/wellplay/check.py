"""What is irregular in a WellPlay folder: names, keys against stories, languages against each other.

Single rows are checked where they are read (`wellplay_rows`); here are those that need the whole script. Nothing
is corrected: keys stay as published, so that scores compare with the papers'.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from parlour.envs.json_values import json_value
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS
from parlour.envs.murder_mystery.wellplay.load import (
    CHINESE,
    Folder,
    asks_who,
    open_folder,
    player_of,
    spellings,
    victims_of,
)
from parlour.envs.murder_mystery.wellplay.rows import Irregularity, Row, fixed_keys, kind_of

_OTHER: Final = {"en": ("zh", "chinese"), "zh": ("en", "english")}
_UNUSED: Final = ("questions", "acts_performance", "final_goal", "secrets")
"""Fields of a character's file that nothing uses."""
_KEPT: Final = "kept as published"


def check(path: Path | str) -> list[Irregularity]:
    """All irregularities of one script's folder, those of single rows first.

    A folder of the other language beside it (`../../<other>/<same name>`) is compared, where there is one.

    Raises:
        ParlourError: The folder cannot be loaded.
    """
    folder = open_folder(Path(path))
    found = list(folder.irregular)
    for test in (_names, _spelling, _languages, _victims, _who, _suspects, _omniscient, _positions, _sibling):
        found += test(folder)
    return found


def _script(folder: Folder, kind: str, detail: str, handled: str) -> Irregularity:
    return Irregularity(folder.lang, folder.slug, None, None, kind, detail, handled)


def _names(folder: Folder) -> Iterator[Irregularity]:
    long = [name for name in folder.names if len(list(spellings(name))) > 1]
    if long:
        yield _script(folder, "long_names", "; ".join(long), "also read by the part before the bracket")
    said = folder.info.get("agent_num")
    if said != len(folder.names):
        yield _script(folder, "agent_num", f"agent_num {said}, {len(folder.names)} characters", "the characters count")
    for name in dict.fromkeys((folder.slug, *_published_names(folder))):
        count = re.search(r"(\d+)\s*(?:people|players|人)", name)
        if count and int(count[1]) != len(folder.names):
            yield _script(folder, "folder_name", f"{name!r} for {len(folder.names)} characters", "the characters count")


def _published_names(folder: Folder) -> tuple[str, ...]:
    """Names the folder had where it was published, if the collection has an `index.json` that tells them."""
    index = folder.path.resolve().parent.parent / "index.json"
    if not index.is_file():
        return ()
    try:
        scripts = json_value(index.read_bytes())["scripts"]
        return tuple(
            str(s[key]) for s in scripts if s["slug"] == folder.slug for key in s if key.startswith("source_dir")
        )
    except (ValueError, KeyError, TypeError):
        return ()  # an index of something else


def _spelling(folder: Folder) -> Iterator[Irregularity]:
    """Words in options, victims' names and file texts that are a player's name but for one or two letters."""
    known = {form for name in folder.names for form in spellings(name)}
    known |= {form for v in range(folder.victims) for name in folder.called(v) for form in spellings(name)}
    known |= {form for forms in folder.aliases for form in forms}
    cells = {cell for row in _all(folder) for cell in (row.text, *row.options)}
    cells |= {str(name) for one in folder.people for name in one["victims"]}
    seen: dict[tuple[str, str], None] = {}
    for name in sorted(form for form in known if len(form) >= (3 if folder.lang == "zh" else 6)):
        for cell in sorted(cells):
            for other in _windows(cell, name, folder.lang):
                if other not in known and _close(name, other, folder.lang):
                    seen[(other, name)] = None
    for other, name in seen:
        yield _script(folder, "name_spelling", f"{other!r} beside {name!r}", "options that spell it so name nobody")


def _windows(cell: str, name: str, lang: str) -> Iterator[str]:
    """Pieces of a text as long as a name: characters in Chinese, capitalised words in English."""
    if lang == "zh":
        yield from (cell[k : k + len(name)] for k in range(len(cell) - len(name) + 1))
        return
    words = [word.rstrip(".") for word in re.findall(r"[A-Za-z][\w.'’]*", cell)]
    size = len(name.split())
    for k in range(len(words) - size + 1):
        if all(word[0].isupper() for word in words[k : k + size]):
            yield " ".join(words[k : k + size])


def _close(name: str, other: str, lang: str) -> bool:
    """One character replaced inside (Chinese, family name kept); one letter more, less or other (English)."""
    if lang == "zh":
        return (
            len(name) == len(other)
            and name[0] == other[0]
            and sum(a != b for a, b in zip(name, other, strict=True)) == 1
        )
    if name == other or abs(len(name) - len(other)) > 1 or name.split()[0][0] != other.split()[0][0]:
        return False
    short, long = sorted((name, other), key=len)
    for k, letter in enumerate(long):
        if k >= len(short) or short[k] != letter:
            return short[k:] == long[k + 1 :] if len(short) < len(long) else short[k + 1 :] == long[k + 1 :]
    return False


def _languages(folder: Folder) -> Iterator[Irregularity]:
    if folder.lang != "en":
        return
    left = []
    for name, one in zip(folder.names, folder.people, strict=True):
        count = len(CHINESE.findall("".join(str(part) for part in one["script"])))
        if count:
            source = folder.source("json", f"{name}.json")
            kind = "chinese_characters_in_english_script"
            yield source.report(None, kind, f"{count} Chinese characters", "kept")
        left += [key for key in _UNUSED if CHINESE.search(json.dumps(one.get(key), ensure_ascii=False))]
    if left:
        fields = ", ".join(sorted(set(left)))
        yield _script(folder, "untranslated_json_fields", f"Chinese text in {fields}", "not used")


def _victims(folder: Folder) -> Iterator[Irregularity]:
    for victim in range(folder.victims):
        called = folder.called(victim)
        if len(called) > 1:
            detail = f"victim {victim} is called {', '.join(called)}"
            yield _script(folder, "victim_names_per_perspective", detail, "one name for all, the others as aliases")
        if not folder.murderers(victim):
            detail = f"nobody's kill_by_me for victim {victim} ({called[0]})"
            yield _script(folder, "no_player_murderer", detail, "no vote can be right: left out of win rates")
    for name, one in zip(folder.names, folder.people, strict=True):
        if "is_murderer" in one and bool(one["is_murderer"]) != any(one["kill_by_me"]):
            source = folder.source("json", f"{name}.json")
            yield source.report(None, "is_murderer", "is_murderer contradicts kill_by_me", "kill_by_me counts")


def _who(folder: Folder) -> Iterator[Irregularity]:
    """Keys of "who killed": no player, another player than the murderer, the same victim asked for twice."""
    nobody: set[str] = set()
    twice: set[str] = set()
    for seat, name in enumerate(folder.names):
        asked: Counter[int] = Counter()
        for row, victim in zip(folder.rows[seat], victims_of(folder, seat), strict=True):
            if not asks_who(row) or victim is None:
                continue
            asked[victim] += 1
            key = row.options[row.keys[0]]
            player = player_of(folder, key)
            if player is None:
                nobody.add(key)
            elif folder.murderers(victim) and player not in folder.murderers(victim):
                yield _contradiction(folder, name, row, victim, "who")
        twice |= {f"{name}: victim {victim}" for victim, count in asked.items() if count > 1}
    if nobody:
        detail = f"keys of who killed: {', '.join(sorted(nobody))}"
        yield _script(folder, "key_is_not_a_player_name", detail, "an option of the quiz, never a vote")
    if twice:
        yield _script(folder, "near_duplicate_question", "; ".join(sorted(twice)), "both are asked")


def _contradiction(folder: Folder, name: str, row: Row, victim: int, asked: str) -> Irregularity:
    murderers = [folder.names[seat] for seat in folder.murderers(victim)]
    right = [
        LETTERS[k] for k, option in enumerate(row.options) if player_of(folder, option) in folder.murderers(victim)
    ]
    detail = (
        f"{asked}: the key names {row.options[row.keys[0]]!r}, kill_by_me {', '.join(murderers)} "
        f"({'option ' + ', '.join(right) if right else 'not an option'})"
    )
    source = folder.source("final_result", f"{name}.csv")
    return source.report(row.line, "key_contradicts_kill_by_me", detail, _KEPT)


def _suspects(folder: Folder) -> Iterator[Irregularity]:
    """Keys of the main suspects that are not the murderer: a contradiction if those of "who" are one too, else a remark."""
    for victim in range(folder.victims):
        murderers = folder.murderers(victim)
        rows = [
            (folder.names[seat], row)
            for seat in range(len(folder.names))
            for row, about in zip(folder.rows[seat], victims_of(folder, seat), strict=True)
            if about == victim and kind_of(row) == "suspect"
        ]
        wrong = [(name, row) for name, row in rows if not _names_one(folder, row, row.keys, murderers)]
        if not murderers or not wrong:
            continue
        for name, row in wrong:
            if _who_is_wrong(folder, name, victim):
                yield _contradiction(folder, name, row, victim, "suspect")
        others = [
            row
            for name, row in wrong
            if not _who_is_wrong(folder, name, victim)
            and _names_one(folder, row, tuple(range(len(row.options))), murderers)
        ]
        if others:
            keys = sorted({row.options[row.keys[0]] for row in others})
            detail = f"victim {victim}: key {', '.join(keys)} though the murderer is an option"
            yield _script(folder, "suspect_key_is_not_the_murderer", detail, _KEPT)


def _names_one(folder: Folder, row: Row, options: tuple[int, ...], murderers: tuple[int, ...]) -> bool:
    """Whether one of the options is a murderer's name, or speaks of one ("X told Y to")."""
    texts = [row.options[k] for k in options]
    return any(player_of(folder, text) in murderers or _speaks_of(folder, text, murderers) for text in texts)


def _speaks_of(folder: Folder, text: str, seats: tuple[int, ...]) -> bool:
    return any(form in text for seat in seats for form in spellings(folder.names[seat]))


def _who_is_wrong(folder: Folder, name: str, victim: int) -> bool:
    seat = folder.names.index(name)
    for row, about in zip(folder.rows[seat], victims_of(folder, seat), strict=True):
        if about == victim and asks_who(row):
            player = player_of(folder, row.options[row.keys[0]])
            return player is not None and player not in folder.murderers(victim)
    return False


def _omniscient(folder: Folder) -> Iterator[Irregularity]:
    own = Counter(row.content for rows in folder.rows for row in rows)
    other = Counter(row.content for row in folder.omniscient)
    different = sum((other - own).values())
    if folder.omniscient and different:
        detail = f"{different} of {len(folder.omniscient)} rows are not in the files of the characters"
        yield _script(folder, "omniscient_differs_from_per_character", detail, "a question set of its own")
    for row in folder.omniscient:
        key = row.options[row.keys[0]]
        if re.search(
            rf"(?:Who is|谁是)\s*[\[【]?{re.escape(key)}|{re.escape(key)}[\]】]?是谁", row.text, re.IGNORECASE
        ):
            detail = f"{row.text!r} (line {row.line}) holds its own key"
            yield _script(folder, "omniscient_reveals_identity", detail, _KEPT)
            return


def _positions(folder: Folder) -> Iterator[Irregularity]:
    rows = [row for rows in folder.rows for row in rows]
    if fixed_keys(rows):
        detail = "the position of the key gives the relation rows away"
        yield _script(folder, "relation_key_position", detail, "options are shuffled when asked")


def _sibling(folder: Folder) -> Iterator[Irregularity]:
    """Compare with the same script in the other language, if it lies beside this one."""
    root = folder.path.resolve().parent.parent
    paths = [root / lang / folder.slug for lang in _OTHER[folder.lang]]
    path = next((path for path in paths if (path / "json" / "script_info.json").is_file()), None)
    if path is None:
        return
    other = open_folder(path)
    if len(other.people) != len(folder.people):
        detail = f"{len(folder.people)} characters, {len(other.people)} in the other language"
        yield _script(folder, "json_language_mismatch", detail, _KEPT)
        return
    for name, own, its in zip(folder.names, folder.people, other.people, strict=True):
        if [bool(k) for k in own["kill_by_me"]] != [bool(k) for k in its["kill_by_me"]]:
            detail = f"kill_by_me {own['kill_by_me']} here, {its['kill_by_me']} in the other language"
            source = folder.source("json", f"{name}.json")
            yield source.report(None, "json_language_mismatch", detail, _KEPT)
    here, there = ([(row.value, row.type, row.keys) for row in one.omniscient] for one in (folder, other))
    if here != there and Counter(here) == Counter(there) and folder.omniscient_file:
        source = folder.source("final_result", f"{folder.omniscient_file}.csv")
        yield source.report(None, "row_order", "the same questions in another order", "asked in this order")


def _all(folder: Folder) -> list[Row]:
    return [*folder.omniscient, *(row for rows in folder.rows for row in rows)]
