"""The games of a live table, one after another, in a thread of their own: dealt, played, shown, written and told.

Each is `rollout.play` with a Recorder, as everywhere; people sit at it as players (`person`), and boards are shown what
their places know (`shown`). A folder with an interrupted game resumes it (`resumed`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlour.envs import replay
from parlour.envs.core import Outcome, ParlourError
from parlour.envs.english import name
from parlour.envs.entries import Entry, TextAction
from parlour.envs.headings import language_of
from parlour.envs.registry import name_of
from parlour.envs.turn import Player
from parlour.envs.writing import LineFile, writing
from parlour.training.play.decisions import models_of, of_transcript
from parlour.training.play.failures import RULE, Failures
from parlour.training.play.live_table.boards import Board, ShownTable
from parlour.training.play.live_table.messages import Ending, Message, ending
from parlour.training.play.live_table.settings import Keys, TableSettings
from parlour.training.play.rollout import GameUnfinished, Stopped, play
from parlour.training.play.stored_games import check_header
from parlour.wrappers import Recorder
from parlour.wrappers.text_actions import TextActions
from pettingzoo.utils.env import AECEnv


def cut_last_line(path: Path) -> None:
    """Cut off a last line that a kill left unfinished. Raises `CannotWrite`."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with writing(path), path.open("r+b") as file:
            file.truncate(whole)


class ResumedRecorder(Recorder):
    """Resumes one game.

    Args:
        env: The table, as `Recorder` takes it.
        path: The transcript, without an unfinished last line.
        found: Its content.
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


CLOSED = "the table was closed"


@dataclass(frozen=True)
class Plan:
    """Which games are played."""

    folder: Path
    """For the transcripts."""
    games: int = 1
    seed: int = 0
    """Seed of the first game; later games count on from it."""
    failures: Failures = RULE
    """What follows when a player fails."""


class TableGames:
    """The games of one table.

    Args:
        env: What `rollout.table` makes.
        players: For each seat, in order, its name in transcripts and the player, new for this table.
        boards: Place -> its board, including the boards of people among `players`.
        plan: Which games are played.
        keys: Keys of the table; replays are found by them.
        settings: How long it waits between games.
        tell: Called with a line when a game begins or ends.
    """

    def __init__(
        self,
        env: TextActions,
        players: Sequence[tuple[str, Player]],
        boards: Mapping[int, Board],
        plan: Plan,
        keys: Keys,
        settings: TableSettings,
        tell: Callable[[str], None],
    ) -> None:
        self.env, self.boards, self.plan, self.keys, self.settings = env, boards, plan, keys, settings
        self.players = players
        self.error: BaseException | None = None
        """What ended the games before their time."""
        self.replays: dict[str, Path] = {}
        """Name of a replay -> the transcript, for the games that are over."""
        opened = env.game_env.spec.opens(env.game_env.game.config)
        self._folders = () if opened is None else (opened,)  # of this table, which was opened already
        self._tell = tell
        self._stop = threading.Event()
        self._next = threading.Event()
        self._number = 0
        """Of the game that is played or was played last, from 1."""
        self._endings: list[Ending] = []

    def run(self, failed: Callable[[], None]) -> None:
        """Play all games; `failed` is called if an error ends them, which is kept in `error`."""
        try:
            self._gather()
            for number in range(1, self.plan.games + 1):
                if self._one(number) and number < self.plan.games:
                    self._wait()
        except Stopped:
            return
        except BaseException as error:  # it is raised in the thread that waits for this one
            self.error = error
            for board in self.boards.values():
                board.close(f"the game has ended by an error: {' '.join(str(error).split())[:300]}")
            failed()

    def stop(self) -> None:
        """The table is closed: a game that is played stays unfinished."""
        self._stop.set()
        self._next.set()
        for board in self.boards.values():
            board.close(CLOSED)

    def begin_next(self, game: int) -> None:
        """Somebody wants the game after number `game`; it begins if that game is over."""
        if game == self._number and len(self._endings) == self._number:
            self._next.set()

    def path(self, number: int) -> Path:
        """The transcript of a game."""
        return self.plan.folder / f"{name_of(self.env.game_env.spec)}-{number}.jsonl"

    def transcript(self, path: Path) -> replay.Transcript:
        """One of this table's. Raises `ParlourError` as `replay.read`."""
        return replay.read(path, folders=self._folders)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _gather(self) -> None:
        """Wait until everybody at the table has come."""
        for board in self.boards.values():
            if board.alone:
                board.come.wait()
        if self._stop.is_set():
            raise Stopped

    def _one(self, number: int) -> bool:
        """Play a game, or take it from its transcript if it is finished; whether it was played."""
        self._number, seed, path = number, self.plan.seed + number - 1, self.path(number)
        found = self._stored(path, seed)
        for place, board in self.boards.items():
            board.begin(self._table_message(number, place))
        to_play = found is None or not found.closing
        if to_play:
            self._tell(f"game {number} of {self.plan.games} {'goes on' if found else 'begins'} (seed {seed})")
            self._play(path, seed, found)
        self._end(number, path)
        return to_play

    def _play(self, path: Path, seed: int, found: replay.Transcript | None) -> None:
        players = [player for _, player in self.players]
        models = models_of(players)
        named = dict(zip(self.env.possible_agents, (name for name, _ in self.players), strict=True))
        header = {"players": named, **({"models": models} if models else {})}
        recorder: Recorder
        if found is None:
            recorder = Recorder(self.env, path, header=header)
        else:
            recorder = ResumedRecorder(self.env, path, found, header)
        try:
            play(ShownTable(recorder, self.boards), players, seed, self._stop, self.plan.failures)
        except GameUnfinished as given_up:
            recorder.close_transcript(given_up.game.why)
            if not self.plan.failures.skips:
                raise
        finally:
            recorder.close_transcript()

    def _stored(self, path: Path, seed: int) -> replay.Transcript | None:
        """The game that the file holds; None for one that is to begin. Raises `ParlourError` if it is another game's."""
        if not path.exists():
            return None
        cut_last_line(path)
        if not path.read_bytes():
            path.unlink()
            return None
        stored = self.transcript(path)
        check_header(path, stored, self.env.game_env, seed, [name for name, _ in self.players])
        return stored

    def _table_message(self, number: int, place: int) -> Message:
        base = self.env.game_env
        return {
            "type": "table",
            "number": number,
            "games": self.plan.games,
            "title": base.spec.title,
            "agents": list(base.possible_agents),
            "seat": None if place < 0 else place,
            "language": language_of(base.text),
            "clock": self.settings.clock,
        }

    def _end(self, number: int, path: Path) -> None:
        """Tell everybody how the game was, which is known to all from here on."""
        name = self.keys.of_replay(number)
        self.replays[name] = path
        self._next.clear()
        self._endings.append(ending(self.transcript(path), [name for name, _ in self.players]))
        over = self._endings[-1].message(f"/replay/{name}", number, self.plan.games, self._endings)
        for board in self.boards.values():
            board.end(over)
        self._tell(f"game {number} of {self.plan.games}: {self._endings[-1].end}")

    def _wait(self) -> None:
        """Until somebody begins the next game; without people, for the pause."""
        people = any(place >= 0 for place in self.boards)
        self._next.wait(None if people else self.settings.pause)
        if self._stop.is_set():
            raise Stopped
