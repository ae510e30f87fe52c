"""Recorder: writes each game to a transcript as it happens, a line a move, so that a killed run can still be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlour.envs.common.writing import LineFile
from parlour.envs.core import Outcome, ParlourError
from parlour.envs.language import transcript_lines
from parlour.envs.language.entries import Entry
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class Recorder(BaseWrapper[str, Any, Any]):
    """Write a transcript (see `parlour.envs.replay`) of every game.

    Args:
        env: One of parlour's environments, wrapped or not.
        path: The file; `{n}` in it becomes the number of the game, from 1. Folders are made.
        header: More fields for the header, such as the players' names.
        overwrite: Replace files that exist.
        private: Only the owner of the process may read the files.

    Raises:
        ParlourError: At `reset`, if the file exists and may not be replaced; at any time, if it cannot be written.
    """

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        path: str | Path,
        *,
        header: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        private: bool = False,
    ) -> None:
        super().__init__(env)
        base = inner_game(env, "Recorder")
        self.game_env, self.path, self.header, self.overwrite = base, str(path), dict(header or {}), overwrite
        self.private, self.games = private, 0
        self._file: LineFile | None = None
        self._notes: dict[str, Any] = {}

    def annotate(self, **notes: Any) -> None:
        """Add fields to the line of the next move (a model's prompt, reply, usage and cost, say), or of the outcome."""
        self._notes |= notes

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.close_transcript()
        self.games += 1
        path = Path(self.path.replace("{n}", str(self.games)))
        if path.exists() and not self.overwrite:
            raise ParlourError(f"transcript {str(path)!r} exists; accepted: a new file, or overwrite=True")
        self._file = LineFile(path, anew=True, private=self.private)
        self._lines = 0
        base = self.game_env
        seeded = {} if seed is None else {"seed": seed}
        self._write(transcript_lines.header_line(base.game_name, base.game.config, {**seeded, **self.header}))
        base.listener = self._listen
        super().reset(seed=seed, options=options)

    def close(self) -> None:
        self.close_transcript()
        super().close()

    def close_transcript(self, unfinished: str = "") -> None:
        """Close the file of the game in progress; what was written stays. `unfinished` says why the game ends here."""
        self.game_env.listener = None
        if self._file is not None:
            if unfinished:
                self._write(transcript_lines.unfinished_line(unfinished, self._notes))
                self._notes = {}
            self._file.close()
            self._file = None

    def _listen(self, report: Entry | Outcome) -> None:
        if isinstance(report, Outcome):
            self._write(transcript_lines.outcome_line(report, self._notes))
            self._notes = {}
            self.close_transcript()
        else:
            self._write(transcript_lines.entry_line(self._lines, report, self.game_env.text, self._notes))
            self._lines += 1
            self._notes = {}

    def _write(self, line: str) -> None:
        assert self._file is not None
        self._file.write(line)
