"""The games of a live table, one after another, in a thread of their own: dealt, played, shown, written and told.

Each is `rollout.play` with a Recorder, as everywhere; people sit at it as players (`boards.Person`), and boards are shown what
their places know (`boards.ShownTable`). A folder with an interrupted game resumes it (`ResumedRecorder`); finished games in it count, and
the next one follows.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from parlour.envs import replay
from parlour.envs.common.writing import LineFile, writing
from parlour.envs.core import Outcome, ParlourError
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry, TextAction
from parlour.envs.language.seat_names import SeatNames
from parlour.training.play.decisions import models_of, of_transcript
from parlour.training.play.failures import Failures
from parlour.training.play.rollout import GameUnfinished, Stopped, play
from parlour.training.play.stored_games import check_header
from parlour.training.replay.build import replay_of
from parlour.training.replay.write import replay_html
from parlour.wrappers import Recorder
from parlour.wrappers.text_actions import TextActions
from pettingzoo.utils.env import AECEnv

from parlour_table.coach import costly_moves
from parlour_table.live import messages
from parlour_table.live.boards import Board, ShownTable
from parlour_table.live.messages import Ending, Message, ending
from parlour_table.live.settings import Keys, TableSettings


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
        stored: Its content.
        header: As of `Recorder`.

    Raises:
        ParlourError: At `reset`, if the file does not hold this game.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], path: Path, stored: replay.Transcript, header: Mapping[str, Any]
    ) -> None:
        super().__init__(env, path, header=header)
        self._found, self._met = stored, 0

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.close_transcript()
        self.games += 1
        self._file, self._lines = LineFile(Path(self.path)), len(self._found.entries)
        self._met = 0
        self.game_env.listener = self._listen
        self.env.reset(seed=seed, options=options)
        while self._met < len(self._found.entries) and self.game_env.outcome is None:
            self.env.step(self._action(self._found.entries[self._met]))

    def _listen(self, entry: Entry | Outcome) -> None:
        if isinstance(entry, Entry) and self._met < len(self._found.entries):
            if entry != self._found.entries[self._met]:
                raise self._of_another_game()
            self._met += 1
            return
        if isinstance(entry, Outcome):
            whole = of_transcript(replay.Transcript.read(self.path, folders=self._found.folders))
            self._notes["players"] = {name(seat): counts.as_json() for seat, counts in enumerate(whole)}
        super()._listen(entry)

    def _action(self, entry: Entry) -> Any:
        """The answer that led to a line: the move with the words as they came in, or words that were none."""
        if entry.move is not None:
            return TextAction(entry.move, entry.raw, entry.replaced)
        if entry.raw is None:
            raise self._of_another_game()
        return entry.raw

    def _of_another_game(self) -> ParlourError:
        line = self._met + 2  # the header is line 1
        return ParlourError(f"transcript {self.path!r} is of another game (line {line}); accepted: its own")


CLOSED = "the table was closed"


@dataclass(frozen=True)
class Plan:
    """Which games are played."""

    folder: Path
    """For the transcripts."""
    games: int | None = 1
    """None: one after another, as long as people begin the next one."""
    seed: int = 0
    """Seed of the first game; later games count on from it."""
    failures: Failures = field(default_factory=Failures)
    """What follows when a player fails."""
    names: SeatNames = field(default_factory=SeatNames)
    """Names of the players; without them seats are called `player_0` and so on."""
    coach: bool = False
    """Whether people get hints, and after the game the decisions that cost most."""


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
        players: Sequence[tuple[str, Any]],
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
        self._pages: dict[str, str] = {}
        opened = env.game_env.spec.options.from_plain(env.game_env.game.config).opens()
        self._folders = () if opened is None else (opened,)  # of this table, which was opened already
        self._tell = tell
        self._stop = threading.Event()
        self._next = threading.Event()
        self._number = 0
        """Of the game that is played or was played last, from 1."""
        self._endings: list[Ending] = []
        self._session = secrets.token_urlsafe(9)
        """Distinguishes this process from one that served the table before."""

    def run(self, failed: Callable[[], None]) -> None:
        """Play all games; `failed` is called if an error ends them, which is kept in `error`."""
        try:
            self._gather()
            for number in count(self._earlier() + 1):
                self._one(number)
                if number == self.plan.games:
                    return
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
        return self.plan.folder / f"{self.env.game_env.game_name}-{number}.jsonl"

    def transcript(self, path: Path) -> replay.Transcript:
        """One of this table's. Raises `ParlourError` as `Transcript.read`."""
        return replay.Transcript.read(path, folders=self._folders)

    def page(self, name: str) -> str | None:
        """The replay page of a game that is over, by its name; None for no such game. Raises `ParlourError` as `replay_of`."""
        if name in self.replays and name not in self._pages:
            path = self.replays[name]
            self._pages[name] = replay_html(self.transcript(path), path.name)
        return self._pages.get(name)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _gather(self) -> None:
        """Wait until everybody at the table has come."""
        for board in self.boards.values():
            if board.alone:
                board.come.wait()
        if self._stop.is_set():
            raise Stopped

    def _earlier(self) -> int:
        """How many games of the folder were played to their end before; the last of them is shown again if none is to follow."""
        played = 0
        while played + 1 != self.plan.games:
            stored = self._stored(played + 1)
            if stored is None or not stored.closing:
                break
            played += 1
            self._over(played, stored, None)
        return played

    def _one(self, number: int) -> None:
        """Play a game, or take it from its transcript if it is finished."""
        self._number = number
        stored = self._stored(number)
        for place, board in self.boards.items():
            board.begin(self._table_message(number, place))
        if stored is None or not stored.closing:
            seed = self._seed(number)
            self._tell(f"{self._called(number)} {'goes on' if stored else 'begins'} (seed {seed})")
            self._play(self.path(number), seed, stored)
        played = self.transcript(self.path(number))
        ended = self._over(number, played, replay_of(played).header.turned)
        self._next.clear()
        over = ended.message(self.plan.games, self._endings)
        for board in self.boards.values():
            board.end(over)
        if self.plan.coach:
            threading.Thread(target=self._review, args=(number, played), name="review", daemon=True).start()
        self._tell(f"{self._called(number)}: {self.plan.names.shown(ended.end)}")

    def _review(self, number: int, played: replay.Transcript) -> None:
        """Tell people which of their decisions cost most; it takes seconds, in which they may begin the next game."""
        steps = [
            step for step, entry in enumerate(played.entries) if entry.move is not None
        ]  # words that were no move are steps, too
        for seat, board in self.boards.items():
            if seat >= 0 and played.outcome is not None and not self._stop.is_set():
                costly = costly_moves(played.spec, played.game(), played.moves, seat)
                board.review(messages.review(number, [replace(move, step=steps[move.step]) for move in costly]))

    def _called(self, number: int) -> str:
        return f"game {number}" + (f" of {self.plan.games}" if self.plan.games else "")

    def _seed(self, number: int) -> int:
        return self.plan.seed + number - 1

    def _play(self, path: Path, seed: int, stored: replay.Transcript | None) -> None:
        players = [player for _, player in self.players]
        models = models_of(players)
        named = dict(zip(self.env.possible_agents, (who for who, _ in self.players), strict=True))
        called = {"names": list(self.plan.names.names)} if self.plan.names.names else {}
        header = {"players": named, **called, **({"models": models} if models else {})}
        recorder: Recorder
        if stored is None:
            recorder = Recorder(self.env, path, header=header)
        else:
            recorder = ResumedRecorder(self.env, path, stored, header)
        try:
            play(ShownTable(recorder, self.boards, self.settings.clock), players, seed, self._stop, self.plan.failures)
        except GameUnfinished as given_up:
            recorder.close_transcript(given_up.game.why)
            if not self.plan.failures.skips:
                raise
        finally:
            recorder.close_transcript()

    def _stored(self, number: int) -> replay.Transcript | None:
        """A game that a file holds; None for one that is to begin. Raises `ParlourError` if it is another game's."""
        path = self.path(number)
        if not path.exists():
            return None
        cut_last_line(path)
        if not path.read_bytes():
            path.unlink()
            return None
        stored = self.transcript(path)
        check_header(path, stored, self.env.game_env, self._seed(number), [who for who, _ in self.players])
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
            "language": base.text.language or "en",
            "clock": self.settings.clock,
            "coach": self.plan.coach,
            "session": self._session,
        }

    def _over(self, number: int, stored: replay.Transcript, turned: Any | None) -> Ending:
        """Keep how a game was, which is known to all from here on."""
        name = self.keys.of_replay(number)
        self.replays[name] = self.path(number)
        self._endings.append(ending(stored, [player for player, _ in self.players], turned, f"/replay/{name}"))
        return self._endings[-1]

    def _wait(self) -> None:
        """Until somebody begins the next game; without people, for the pause."""
        people = any(place >= 0 for place in self.boards)
        self._next.wait(None if people else self.settings.pause)
        if self._stop.is_set():
            raise Stopped
