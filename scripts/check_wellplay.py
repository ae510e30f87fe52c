"""What is irregular in WellPlay folders: names, keys against stories, languages against each other.

    python scripts/check_wellplay.py wellplay/en

Single rows are checked where they are read (`rows`); here are those that need the whole script. Nothing is corrected: keys stay
as published, so that scores compare with the papers'.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS
from parlour.envs.murder_mystery.wellplay.load import (
    CHINESE,
    Folder,
    asks_who,
    folders,
    load_folder,
    open_folder,
    player_of,
    spellings,
    victims_of,
)
from parlour.envs.murder_mystery.wellplay.rows import Irregularity, Row, fixed_keys, kind_of
from parlour.training.report.display import show_table

_OTHER: Final = {"en": ("zh", "chinese"), "zh": ("en", "english")}
_UNUSED: Final = ("questions", "acts_performance", "final_goal", "secrets")
"""Fields of a character's file that nothing uses."""
_KEPT: Final = "kept as published"


def check(path: Path | str) -> list[Irregularity]:
    """All irregularities of one script's folder, irregularities of single rows first.

    A folder of the other language beside it (`../../<other>/<same name>`) is compared, where there is one.

    Raises:
        ParlourError: The folder cannot be loaded.
    """
    folder = open_folder(Path(path))
    tests = (_names, _spelling, _languages, _victims, _who, _suspects, _omniscient, _sibling)
    return [*folder.irregular, *(irregular for test in tests for irregular in test(folder))]


def _names(folder: Folder) -> Iterator[Irregularity]:
    long = [name for name in folder.names if len(list(spellings(name))) > 1]
    if long:
        yield folder.report("long_names", "; ".join(long), "also read by the part before the bracket")
    agents, count = folder.info.get("agent_num"), len(folder.names)
    if agents != count:
        yield folder.report("agent_num", f"agent_num {agents}, {count} characters", "the characters count")
    for name in dict.fromkeys((folder.slug, *_published_names(folder))):
        people = re.search(r"(\d+)\s*(?:people|players|人)", name)
        if people and int(people[1]) != count:
            yield folder.report("folder_name", f"{name!r} for {count} characters", "the characters count")


def _published_names(folder: Folder) -> tuple[str, ...]:
    """Names the folder had where it was published, if the collection has an `index.json` that tells them."""
    index = folder.path.resolve().parent.parent / "index.json"
    if not index.is_file():
        return ()
    try:
        scripts = [each for each in json_value(index.read_bytes())["scripts"] if each["slug"] == folder.slug]
        return tuple(str(each[key]) for each in scripts for key in each if key.startswith("source_dir"))
    except (ValueError, KeyError, TypeError):
        return ()  # an index of something else


def _spelling(folder: Folder) -> Iterator[Irregularity]:
    """Words in options, victims' names and file texts that are a player's name but for one or two letters."""
    known = {form for name in folder.names for form in spellings(name)} | folder.victim_forms
    known |= {form for forms in folder.aliases for form in forms}
    cells = {cell for row in folder.every_row for cell in (row.text, *row.options)}
    cells |= {str(name) for person in folder.people for name in person["victims"]}
    for name in sorted(form for form in known if len(form) >= (3 if folder.lang == "zh" else 6)):
        others = dict.fromkeys(other for cell in sorted(cells) for other in _windows(cell, name, folder.lang))
        for other in others:
            if other not in known and _close(name, other, folder.lang):
                yield folder.report(
                    "name_spelling", f"{other!r} beside {name!r}", "options that spell it so name nobody"
                )


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
    if name == other or abs(len(name) - len(other)) > (lang != "zh") or name[:1] != other[:1]:
        return False
    short, long = sorted((name, other), key=len)
    at = next((k for k, letter in enumerate(short) if letter != long[k]), len(short))
    return long[at + 1 :] == short[at + (len(short) == len(long)) :]


def _languages(folder: Folder) -> Iterator[Irregularity]:
    if folder.lang != "en":
        return
    fields: set[str] = set()
    for name, person in zip(folder.names, folder.people, strict=True):
        count = len(CHINESE.findall("".join(str(part) for part in person["script"])))
        if count:
            kind = "chinese_characters_in_english_script"
            yield folder.report(kind, f"{count} Chinese characters", "kept", "json", f"{name}.json")
        fields |= {key for key in _UNUSED if CHINESE.search(json.dumps(person.get(key), ensure_ascii=False))}
    if fields:
        yield folder.report("untranslated_json_fields", f"Chinese text in {', '.join(sorted(fields))}", "not used")


def _victims(folder: Folder) -> Iterator[Irregularity]:
    for victim in range(folder.victims):
        called = folder.called(victim)
        if len(called) > 1:
            detail = f"victim {victim} is called {', '.join(called)}"
            yield folder.report("victim_names_per_perspective", detail, "one name for all, the others as aliases")
        if not folder.murderers(victim):
            detail = f"nobody's kill_by_me for victim {victim} ({called[0]})"
            yield folder.report("no_player_murderer", detail, "no vote can be right: left out of win rates")
    for name, person in zip(folder.names, folder.people, strict=True):
        if "is_murderer" in person and bool(person["is_murderer"]) != any(person["kill_by_me"]):
            detail = "is_murderer contradicts kill_by_me"
            yield folder.report("is_murderer", detail, "kill_by_me counts", "json", f"{name}.json")


def _asked(folder: Folder) -> Iterator[tuple[str, Row, int | None]]:
    """Whom each row is put to, the row, and the victim that it asks about."""
    for seat, name in enumerate(folder.names):
        for row, victim in zip(folder.rows[seat], victims_of(folder, seat), strict=True):
            yield name, row, victim


def _who(folder: Folder) -> Iterator[Irregularity]:
    """Keys of "who killed": no player, another player than the murderer, the same victim asked for twice."""
    nobody: set[str] = set()
    times_asked: Counter[str] = Counter()
    for name, row, victim in _asked(folder):
        if not asks_who(row) or victim is None:
            continue
        times_asked[f"{name}: victim {victim}"] += 1
        player = player_of(folder, row.key)
        if player is None:
            nobody.add(row.key)
        elif folder.murderers(victim) and player not in folder.murderers(victim):
            yield _contradiction(folder, name, row, victim, "who")
    if nobody:
        detail = f"keys of who killed: {', '.join(sorted(nobody))}"
        yield folder.report("key_is_not_a_player_name", detail, "an option of the quiz, never a vote")
    if twice := sorted(each for each, times in times_asked.items() if times > 1):
        yield folder.report("near_duplicate_question", "; ".join(twice), "both are asked")


def _contradiction(folder: Folder, name: str, row: Row, victim: int, kind: str) -> Irregularity:
    seats = folder.murderers(victim)
    right = [LETTERS[k] for k, option in enumerate(row.options) if player_of(folder, option) in seats]
    answer = f"option {', '.join(right)}" if right else "not an option"
    murderers = ", ".join(folder.names[seat] for seat in seats)
    detail = f"{kind}: the key names {row.key!r}, kill_by_me {murderers} ({answer})"
    return folder.report("key_contradicts_kill_by_me", detail, _KEPT, "final_result", f"{name}.csv", line=row.line)


def _suspects(folder: Folder) -> Iterator[Irregularity]:
    """Keys of the main suspects that are not the murderer: a contradiction if those of "who" are one too, else a remark."""
    for victim in range(folder.victims):
        murderers = folder.murderers(victim)
        others: set[str] = set()
        for name, row, about in _asked(folder):
            keys = [row.options[k] for k in row.keys]
            if about != victim or kind_of(row) != "suspect" or not murderers or _speak_of(folder, keys, murderers):
                continue
            if _who_is_wrong(folder, name, victim):
                yield _contradiction(folder, name, row, victim, "suspect")
            elif _speak_of(folder, row.options, murderers):
                others.add(row.key)
        if others:
            detail = f"victim {victim}: key {', '.join(sorted(others))} though the murderer is an option"
            yield folder.report("suspect_key_is_not_the_murderer", detail, _KEPT)


def _speak_of(folder: Folder, options: Sequence[str], seats: tuple[int, ...]) -> bool:
    """Whether one of the options is the name of one of these seats, or speaks of one ("X told Y to")."""
    forms = [form for seat in seats for form in spellings(folder.names[seat])]
    return any(player_of(folder, text) in seats or any(form in text for form in forms) for text in options)


def _who_is_wrong(folder: Folder, name: str, victim: int) -> bool:
    rows = (row for called, row, about in _asked(folder) if called == name and about == victim and asks_who(row))
    first = next(rows, None)
    player = None if first is None else player_of(folder, first.key)
    return player is not None and player not in folder.murderers(victim)


def _omniscient(folder: Folder) -> Iterator[Irregularity]:
    """Omniscient rows that nobody else is asked or that give their key away, and relation rows with their key in one place."""
    rows = [row for rows in folder.rows for row in rows]
    different = sum((Counter(row.content for row in folder.omniscient) - Counter(row.content for row in rows)).values())
    if folder.omniscient and different:
        detail = f"{different} of {len(folder.omniscient)} rows are not in the files of the characters"
        yield folder.report("omniscient_differs_from_per_character", detail, "a question set of its own")
    for row in folder.omniscient:
        key = re.escape(row.key)
        if re.search(rf"(?:Who is|谁是)\s*[\[【]?{key}|{key}[\]】]?是谁", row.text, re.IGNORECASE):
            detail = f"{row.text!r} (line {row.line}) holds its own key"
            yield folder.report("omniscient_reveals_identity", detail, _KEPT)
            break
    if fixed_keys(rows):
        detail = "the position of the key gives the relation rows away"
        yield folder.report("relation_key_position", detail, "options are shuffled when asked")


def _sibling(folder: Folder) -> Iterator[Irregularity]:
    """Compare with the same script in the other language, if it lies beside this one."""
    root = folder.path.resolve().parent.parent
    paths = [root / lang / folder.slug for lang in _OTHER[folder.lang]]
    path = next((path for path in paths if (path / "json" / "script_info.json").is_file()), None)
    if path is None:
        return
    other, mismatch = open_folder(path), "json_language_mismatch"
    if len(other.people) != len(folder.people):
        detail = f"{len(folder.people)} characters, {len(other.people)} in the other language"
        yield folder.report(mismatch, detail, _KEPT)
        return
    for name, own, its in zip(folder.names, folder.people, other.people, strict=True):
        if [bool(k) for k in own["kill_by_me"]] != [bool(k) for k in its["kill_by_me"]]:
            detail = f"kill_by_me {own['kill_by_me']} here, {its['kill_by_me']} in the other language"
            yield folder.report(mismatch, detail, _KEPT, "json", f"{name}.json")
    here, there = ([(row.value, row.type, row.keys) for row in script.omniscient] for script in (folder, other))
    if here != there and Counter(here) == Counter(there) and folder.omniscient_file:
        file = "final_result", f"{folder.omniscient_file}.csv"
        yield folder.report("row_order", "the same questions in another order", "asked in this order", *file)


def main(root: Path) -> int:
    """Show the irregularities of all scripts in a tree; 2 if one cannot be loaded."""
    found: list[Irregularity] = []
    failed = 0
    scripts = folders(root)
    for path in scripts:
        try:
            load_folder(path)
            found += check(path)
        except ParlourError as error:
            failed += 1
            print(f"{path}: {error}", file=sys.stderr)
    rows = [(each.file or f"{each.lang}/{each.slug}", str(each.line or ""), *each[4:]) for each in found]
    show_table("Irregularities", ("where", "line", "kind", "what", "handling"), rows, wrap=True)
    print(f"{len(found)} irregularities in {len(scripts) - failed} scripts; {failed} cannot be loaded")
    return 2 if failed or not scripts else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
