"""ResumedRecorder: a game that was cut off goes on from its transcript, which is written on where it ends.

The game is dealt again from its seed and every move that stands in the file is made again, words that were no move among
them; each line must come out as it stands there. Then the players go on, from what their Views hold by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlour.envs import replay
from parlour.envs.core import Outcome, ParlourError
from parlour.envs.english import name
from parlour.envs.entries import Entry, TextAction
from parlour.envs.writing import LineFile, writing
from parlour.training.play.decisions import of_transcript
from parlour.wrappers import Recorder
from pettingzoo.utils.env import AECEnv


def cut_last_line(path: Path) -> None:
    """Cut off a last line that a kill left unfinished. Raises `CannotWrite`."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with writing(path), path.open("r+b") as file:
            file.truncate(whole)


class ResumedRecorder(Recorder):
    """Goes on with one game.

    Args:
        env: The table, as `Recorder` takes it.
        path: The transcript, without an unfinished last line.
        found: What stands in it.
        header: As of `Recorder`.

    Raises:
        ParlourError: At `reset`, if the file does not hold this game.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], path: Path, found: replay.Transcript, header: Mapping[str, Any]
    ) -> None:
        super().__init__(env, path, header=header)
        self._found, self._met = found, 0

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.close_transcript()
        self.games += 1
        self._file, self._lines = LineFile(Path(self.path)), len(self._found.entries)
        self._met = 0
        self.game_env.listener = self._listen
        self.env.reset(seed=seed, options=options)
        while self._met < len(self._found.entries) and self.game_env.outcome is None:
            self.env.step(self._action(self._found.entries[self._met]))

    def _listen(self, told: Entry | Outcome) -> None:
        if isinstance(told, Entry) and self._met < len(self._found.entries):
            if told != self._found.entries[self._met]:
                raise self._of_another_game()
            self._met += 1
            return
        if isinstance(told, Outcome):
            whole = of_transcript(replay.read(self.path, folders=self._found.folders))
            self._notes["players"] = {name(seat): one.as_json() for seat, one in enumerate(whole)}
        super()._listen(told)

    def _action(self, entry: Entry) -> Any:
        """The answer that led to a line: words as they came in, or the move."""
        if entry.raw is not None:
            return entry.raw
        if entry.move is None:
            raise self._of_another_game()
        return TextAction(entry.move, None, entry.replaced)

    def _of_another_game(self) -> ParlourError:
        line = self._met + 2  # the header is line 1
        return ParlourError(f"transcript {self.path!r} is of another game (line {line}); accepted: its own")
