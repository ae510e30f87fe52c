"""One of parlour's players in a seat at an AIWolf server: requests are read, and its moves become AIWolf's lines.

The contest has no word for choosing nobody; a player who does so chooses a player that is drawn. Words without a claim that are
no sentence of AIWolf's language become `Skip`.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from parlour.envs.adapters.wording import wording
from parlour.envs.common.json_values import json_value
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf.vocabulary import VILLAGE, WerewolfView
from parlour.policies import Policy
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.statistics import Estimate

from parlour_aiwolf import GAME
from parlour_aiwolf.language import read, write
from parlour_aiwolf.server.game_info import LineKey, SaidLines
from parlour_aiwolf.server.received import ASKED, ReceivedGame, reading
from parlour_aiwolf.vocabulary import REMARK, claims_medium, side_of

LONGEST_PACKET: Final = 16 * 1024 * 1024
"""Bytes of a line of the server that are read."""


class Visitor:
    """A player at somebody else's table, game after game.

    Args:
        policy: Who plays.
        name: Its name in the contest.
        role: The role that it asks for, in AIWolf's words; `none` for any.
        seed: Seed of its draws.
    """

    def __init__(self, policy: Policy, name: str = "parlour", role: str = "none", seed: int = 0) -> None:
        self._policy, self._name, self._role, self._seed = policy, name, role, seed
        self._rng = np.random.default_rng(seed)
        self._game: ReceivedGame | None = None
        self.wins: Counter[str] = Counter()
        """Role -> games won."""
        self.games: Counter[str] = Counter()
        """Role -> games played."""

    def visit(self, host: str, port: int) -> None:
        """Play until the server closes the connection.

        Raises:
            ParlourError: There is no server, or it does not keep to the protocol.
        """
        try:
            sock = socket.create_connection((host, port), timeout=60)
        except OSError as error:
            raise ParlourError(f"cannot connect to {host}:{port} ({error}); accepted: an AIWolf server") from None
        with sock, sock.makefile("rb") as lines:
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for packet in _packets(lines):
                    if (answer := self.answer(packet)) is not None:
                        sock.sendall(answer.encode() + b"\n")
            except ConnectionError:
                return

    def answer(self, packet: Mapping[str, Any]) -> str | None:
        """The line that answers a packet; None for a packet without an answer.

        Raises:
            ParlourError: The packet cannot be read.
        """
        request = packet.get("request")
        if request in ("NAME", "ROLE"):
            return self._name if request == "NAME" else self._role
        if request == "INITIALIZE":
            self._begin(packet)
        game = self._game
        if game is None:
            raise ParlourError(f"the server begins with {request!r}; accepted: INITIALIZE")
        game.receive(str(request), packet)
        if request == "FINISH":
            self._finish(game, packet)
        return self._chosen(game, str(request)) if request in ASKED else None

    def results(self) -> ResultTable:
        """Wins by role, with intervals."""
        rows = [(role, Estimate.rate(self.wins[role], games)) for role, games in sorted(self.games.items())]
        total = ("all", Estimate.rate(self.wins.total(), self.games.total()))
        columns = Column("role"), Column("wins", ".1%", shows=("n",))
        return ResultTable(f"{self._name} at an AIWolf server (95 % Wilson interval)", columns, (total, *rows))

    # -- inside ------------------------------------------------------------------------------------------------

    def _begin(self, packet: Mapping[str, Any]) -> None:
        info, setting = packet.get("gameInfo"), packet.get("gameSetting")
        with reading("INITIALIZE"):
            self._game = self._received(info, setting)
        self._policy.reset(self._game.seat, self._seed + self.games.total())

    def _received(self, info: Any, setting: Any) -> ReceivedGame:
        return ReceivedGame(info, setting)

    def _finish(self, game: ReceivedGame, packet: Mapping[str, Any]) -> None:
        """Count the game, from who lives and who was what."""
        info = packet.get("gameInfo") or {}
        roles, status = info.get("roleMap") or {}, info.get("statusMap") or {}
        wolves = sum(roles.get(agent) == "WEREWOLF" for agent, state in status.items() if state == "ALIVE")
        self.games[game.role] += 1
        self.wins[game.role] += (side_of(game.role) == VILLAGE) == (wolves == 0)
        self._game = None

    def _chosen(self, game: ReceivedGame, request: str) -> str:
        view = game.view(request)
        if ASKED[request] and not any(move.args for move in view.legal):
            raise ParlourError(
                f"the server asks {request} of a seat that has nobody to choose; accepted: a living player"
            )
        words = wording(GAME, game.game)
        turn = words.turn(view.legal)
        observation: dict[str, Any] = {"action_mask": turn.mask}
        if self._policy.wants in ("text", "both"):
            record = "".join(map(words.line, view.events))
            headings = words.headings
            observation["text"] = f"{headings.who}{words.text.who(view)}{headings.record}{record}{turn.choice}"
        if self._policy.wants in ("features", "both"):
            observation["observation"] = GAME.encoder(game.game).at_table()(view)
        action = self._policy.act(observation, words.offered(turn, view) | {"action_mask": turn.mask})
        if isinstance(action, str):
            try:
                move = game.text.parse(" ".join(action.split()), view)
            except ParlourError:
                move = game.text.default(action, view, self._rng)
        else:
            move = game.game.catalogue[int(action)]
        game.made(move)
        return self._line(move, action, view) if not ASKED[request] else self._named(self._target(move, view))

    def _line(self, move: Move, action: Any, view: WerewolfView) -> str:
        if move.kind == REMARK and isinstance(action, str):
            return _sentence(action)
        plain = move._replace(words="")
        medium = claims_medium(view.events, view.seat, view.role_names)
        key = LineKey(view.day, view.night, 0, view.seat)
        return SaidLines().text(key, plain, view.role_names, medium=medium)

    def _target(self, move: Move, view: WerewolfView) -> int:
        """The seat that is chosen; drawn for nobody."""
        seats = [legal.args[0] for legal in view.legal if legal.args]
        return move.args[0] if move.args else seats[int(self._rng.integers(len(seats)))]

    def _named(self, seat: int) -> str:
        return json.dumps({"agentIdx": seat + 1}, separators=(",", ":"))


def _sentence(words: str) -> str:
    """The words if they are a sentence of AIWolf's language; else a skip."""
    try:
        return write(read(words.strip()))
    except ParlourError:
        return "Skip"


def _packets(lines: Any) -> Iterator[Mapping[str, Any]]:
    """The server's lines as objects. Raises `ParlourError` for a line that is none."""
    while line := lines.readline(LONGEST_PACKET + 1):
        if len(line) > LONGEST_PACKET:
            raise ParlourError(f"the server sent a line of over {LONGEST_PACKET:,} bytes; accepted: shorter lines")
        try:
            packet = json_value(line)
        except ValueError:
            packet = None
        if not isinstance(packet, dict):
            raise ParlourError("the server sent a line that is no JSON object; accepted: AIWolf's protocol")
        yield packet
