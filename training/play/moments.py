"""Seats that decide at the same moment are asked at once, where they wait for a language model.

The game is the same as if the seats were asked one after another: a seat that is asked early gets the message of its turn, and
its answer is kept until then. It is used if the seat's View is what it was; words that are no move are asked for again
at the turn, as ever. Meanwhile those listen whose turn comes next (`AskingPolicy.hear`). Players who do not wait are asked at
their turns: threads would only slow them down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.moment import before_moderator, certain_moment
from parlour.envs.adapters.turn import Player, faced
from parlour.envs.core import View
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.at_once import at_once
from pettingzoo.utils.env import AECEnv


class _Answer(NamedTuple):
    """What came of asking a player."""

    action: Any
    error: BaseException | None
    seconds: float

    def get(self) -> Any:
        """The action. Raises the error in its place."""
        if self.error is not None:
            raise self.error
        return self.action


class _Early(NamedTuple):
    """An answer that was given before the turn."""

    view: View
    """What it rests on."""
    answer: _Answer


class Moments:
    """Asks the players of one game, at each turn the one whose turn it is, and with it those who decide at the same moment.

    Args:
        env: As `rollout.play` takes it, at the beginning of a game.
        players: For each seat, in order, after their `reset`.
    """

    def __init__(self, env: AECEnv[str, Any, Any], players: Sequence[Player]) -> None:
        assert isinstance(env.unwrapped, GameEnv)
        self._env, self._base, self._players = env, env.unwrapped, players
        self._early: dict[int, _Early] = {}
        self._failed: dict[int, BaseException | None] = {}
        """What went wrong in listening, to be raised at the turn."""
        self._heard = [0] * len(players)
        """Events that each seat had seen when it listened."""
        self.seconds = 0.0
        """How long the last answer took."""
        self._any = sum(map(_waits, players)) > 1
        _share(players)

    def action(self) -> Any:
        """What the player whose turn it is answers. Raises what the player raises, at its turn."""
        answer = self._answer()
        self.seconds = answer.seconds
        return answer.get()

    def _answer(self) -> _Answer:
        seat = self._base.seat
        error = self._failed.pop(seat, None)
        if error is not None:
            return _Answer(None, error, 0.0)
        if self._any:
            if not self._env.infos[self._base.agent_selection].get("asked_again"):
                self._ask_early()
            early = self._early.pop(seat, None)
            if early is not None and early.view == self._base.view(seat):
                return early.answer
        player = self._players[seat]
        return _answered(player.act, *faced(self._env, player))

    def _ask_early(self) -> None:
        """Ask all who wait and decide now, and have those listen whose turn comes next, if they are several."""
        base = self._base
        views = {
            seat: (state, base.game.view(state, seat)) for seat, state in certain_moment(base.game, base.state_now)
        }
        asked = [seat for seat in views if _waits(self._players[seat]) and not self._is_given(seat, views[seat][1])]
        listening = self._listening({*views, *self._early})
        if len(asked) + len(listening) < 2:
            return
        calls = []
        for seat in asked:
            player, (state, view) = self._players[seat], views[seat]
            if isinstance(player, AskingPolicy):
                player.come_first(view)
            arguments = self._env.ahead(base.possible_agents[seat], state, player.wants)
            calls.append(partial(_answered, player.act, *arguments))
        for player, view in listening.values():
            player.come_first(view)
            calls.append(partial(_answered, player.hear, view))
        answers = [answer.result() for answer in at_once(calls, len(calls))]
        for seat, answer in zip(asked, answers[: len(asked)], strict=True):
            self._early[seat] = _Early(views[seat][1], answer)
        for seat, answer in zip(listening, answers[len(asked) :], strict=True):
            self._failed[seat] = answer.error

    def _listening(self, others: Collection[int]) -> dict[int, tuple[AskingPolicy, View]]:
        """Who has seen something new and will have heard nothing but players when its turn comes, in the order of the turns."""
        base, asked = self._base, {}
        for seat in before_moderator(base.game, base.state_now):
            player = self._players[seat]
            if seat in others or not isinstance(player, AskingPolicy) or not player.waits:
                continue
            view = base.view(seat)
            if len(view.events) > self._heard[seat]:
                self._heard[seat] = len(view.events)
                asked[seat] = player, view
        return asked

    def _is_given(self, seat: int, view: View) -> bool:
        return seat in self._early and self._early[seat].view == view


def _answered(ask: Callable[..., Any], *arguments: Any) -> _Answer:
    """What a player answers, and how long that takes."""
    action, failed, began = None, None, perf_counter()
    try:
        action = ask(*arguments)
    except BaseException as error:  # whatever it is is raised at the turn
        failed = error
    return _Answer(action, failed, perf_counter() - began)


def _waits(player: Player) -> bool:
    """Whether a player waits for a language model; players of the user's own may say so in an attribute `waits`."""
    return bool(getattr(player, "waits", False))


def _share(players: Sequence[Player]) -> None:
    """Have the seats that ask the same model share what is the same for all of them."""
    first: dict[int, AskingPolicy] = {}
    for player in players:
        if isinstance(player, AskingPolicy):
            player.seat_model.shared = first.setdefault(id(player.model), player).seat_model.shared
