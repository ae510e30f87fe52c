"""A table that is opened: its games in one thread, its server in another, and the links by which people sit down."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from parlour.envs.speech import ACTS
from parlour.envs.turn import Player
from parlour.envs.wording import worded_kinds
from parlour.policies.llm.server.listening import LOOPBACK, ListeningServer, in_thread
from parlour.training.play.live_table.app import TableService
from parlour.training.play.live_table.boards import Board
from parlour.training.play.live_table.games import Plan, TableGames
from parlour.training.play.live_table.keys import WATCHING, Keys, secret_in
from parlour.training.play.live_table.person import Person
from parlour.training.play.live_table.settings import TableSettings
from parlour.training.play.live_table.sockets import LOOPBACK_NAMES, Sockets
from parlour.wrappers.text_actions import TextActions

__all__ = ["Keys", "OpenTable", "Plan", "keys_from"]

_FAREWELL: Final = 0.3
"""Seconds in which browsers are told why the table closes."""
_LEAVES: Final = 5.0
"""Seconds in which a player that thinks may come to its end when the table closes."""


def keys_from(people: tuple[int, ...], variable: str | None) -> Keys:
    """The keys of a table, from the secret in an environment variable if there is one. Raises `ParlourError`."""
    return Keys(people, None if variable is None else secret_in(variable))


class OpenTable:
    """A table at which people can sit down.

    Args:
        env: What `rollout.table` makes.
        players: For each seat, in order, its name in transcripts and its player; None for a person.
        plan: Which games are played.
        keys: Of the seats of the people.
        settings: Clock and limits.
        host: Address to listen at.
        port: Port to listen at; 0 for a free one.
        tell: Told a line when a game begins or ends.

    Raises:
        ParlourError: Host and port cannot be used.
    """

    def __init__(
        self,
        env: TextActions,
        players: Sequence[tuple[str, Player | None]],
        plan: Plan,
        keys: Keys,
        settings: TableSettings,
        host: str = LOOPBACK,
        port: int = 0,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        base = env.game_env
        spoken = frozenset((*ACTS, *worded_kinds(base.spec, base.game)))
        people = [seat for seat, (_, player) in enumerate(players) if player is None]
        self.boards = {seat: Board(seat, base.text, spoken, alone=True) for seat in people}
        self.boards[WATCHING] = Board(WATCHING, base.text, spoken, alone=False)
        self.keys, self._agents = keys, base.possible_agents
        seated = [
            (name, Person(self.boards[seat], base.text, settings.clock) if player is None else player)
            for seat, (name, player) in enumerate(players)
        ]
        self.games = TableGames(env, seated, self.boards, plan, keys, settings, tell)
        loopback = host in LOOPBACK_NAMES or ipaddress.ip_address(host).is_loopback
        sockets = Sockets(self.boards, keys, settings, self.games.begin_next, loopback=loopback)
        self._server = ListeningServer(TableService(self.games, sockets, settings), host, port)
        self._thread = threading.Thread(target=self.games.run, args=(self._failed,), name="games", daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        return self._server.url

    def link(self, place: int) -> str:
        """The link of a person's seat, or of `keys.WATCHING`."""
        return f"{self.url}/#{self.keys.of(place)}"

    def links(self) -> Iterator[str]:
        """A line for each person, and one for all who watch."""
        width = max(map(len, (*self._agents, "to watch")))
        for place in self.boards:
            called = "to watch" if place == WATCHING else self._agents[place]
            yield f"{called:<{width}}  {self.link(place)}"

    def run(self) -> None:
        """Play and answer until the process is interrupted. Raises what ends the games before their time."""
        self._thread.start()
        try:
            self._server.run()
        except KeyboardInterrupt:
            pass  # how a table is closed
        finally:
            self._close()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Play and answer in threads of this process until the block ends. Raises as `run`."""
        self._thread.start()
        try:
            with in_thread(self._server, "parlour table"):
                yield
        finally:
            self._close()

    def _failed(self) -> None:
        time.sleep(_FAREWELL)
        self._server.stop()

    def _close(self) -> None:
        self.games.stop()
        self._thread.join(_LEAVES)
        if self.games.error is not None:
            raise self.games.error
