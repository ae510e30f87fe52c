"""A person at the terminal: reads the prose, answers with the number of an option or in words; `help` lists what else may be typed."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from os.path import commonprefix
from typing import Any, ClassVar, Final

from parlour.envs.common.terminal import tell_text
from parlour.envs.language.headings import LANGUAGES, sections_of
from parlour.envs.language.seat_names import NO_NAMES, SeatNames
from parlour.policies.base import Policy

HELP: Final = """\
Type the number of an option, or say it in your own words.
  options   list what you may do now
  who       who you are and what you know
  record    everything that has happened
  help      this text
To say one of these words in the game, put a full stop behind it."""
_FEW: Final = 5
"""Options that are listed at each turn."""
_LEAST: Final = 20
"""Columns of the narrowest terminal for which lines are wrapped."""


class HumanPolicy(Policy):
    """Shows what is new in the observation and asks for an answer.

    Lines are wrapped at words. A long list of options is shown once.

    Args:
        read: Reads one line; the terminal by default.
        write: Shows text; the terminal by default.
        names: Names that the person reads and types instead of seats.
    """

    name: ClassVar[str] = "human"
    wants: ClassVar[str] = "text"

    def __init__(
        self,
        read: Callable[[str], str] | None = None,
        write: Callable[[str], None] | None = None,
        names: SeatNames = NO_NAMES,
    ) -> None:
        super().__init__()
        self._read, self._write, self._names = read or input, write or tell_text, names
        self._shown = ""
        self._listed: set[tuple[str, ...]] = set()

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._shown, self._listed = "", set()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self._tell(self._news(observation["text"]))
        options = tuple(info["options"])
        if options in self._listed and len(options) > _FEW:
            self._tell(f"The same {len(options)} options as before; `options` lists them.")
        else:
            self._list(options)
        while True:
            answer = self._read("Number of an option, or your own words (help): ").strip()
            if answer.isdigit() and 1 <= int(answer) <= len(options):
                return info["legal"][int(answer) - 1]
            if answer.lower() in ("help", "?", "options", "who", "record"):
                self._explain(answer.lower(), observation["text"], options)
            elif answer and not answer.isdigit():
                return self._names.seats(answer)
            else:
                self._tell(f"{answer!r} is not accepted; accepted: 1..{len(options)}, words, or help")

    def _explain(self, what: str, text: str, options: tuple[str, ...]) -> None:
        sections = sections_of(text)
        if what == "options":
            self._list(options)
        elif what in ("help", "?") or sections is None:
            self._tell(HELP)
        else:
            self._tell(sections.who if what == "who" else sections.record)

    def _list(self, options: tuple[str, ...]) -> None:
        self._listed.add(options)
        for number, option in enumerate(options, 1):
            self._tell(f"  {number:>3}  {option}", hanging=7)

    def _tell(self, text: str, hanging: int = 0) -> None:
        """Show a text with names, its lines wrapped at words; further lines of an option begin below its first word."""
        width = max(_LEAST, shutil.get_terminal_size().columns)
        for line in self._names.shown(text).split("\n"):
            self._write(
                textwrap.fill(
                    line,
                    width,
                    subsequent_indent=" " * hanging,
                    break_on_hyphens=False,
                    replace_whitespace=False,
                    drop_whitespace=bool(line.strip()),
                )
            )

    def _news(self, text: str) -> str:
        """What was not shown before; the options are listed with numbers instead."""
        sections = sections_of(text)
        choice = text if sections is None else sections.choice
        record = "" if sections is None else text.removesuffix(choice).removesuffix(LANGUAGES[sections.language].choice)
        same = len(commonprefix([record, self._shown]))  # noqa: RUF071 - letter by letter
        start = record.rfind("\n", 0, same) + 1
        self._shown = record
        asked, *rest = choice.splitlines() or [""]
        refused = [line for line in rest if not line.startswith("- ")]
        return record[start:] + "\n".join([*refused, asked])
