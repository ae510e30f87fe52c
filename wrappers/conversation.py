"""A game as a conversation: a seat gets the rules and its role once, and then at each of its turns only the news.

All harnesses for language models use it. Put together, the messages of a seat hold its observation and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs.adapters.turn import take_turn
from parlour.envs.core import ParlourError, accept, listed
from parlour.envs.language.headings import SeatNews, sections_of
from parlour.envs.language.text import game_over
from parlour.envs.registry import lookup
from parlour.wrappers.base import SEEDS, inner_game
from parlour.wrappers.opponents import Opponents, seated
from parlour.wrappers.record import Recorder
from parlour.wrappers.text_actions import FAULTS, TextActions
from pettingzoo.utils.env import AECEnv

_COUNTED: Final = (*FAULTS.values(), "replaced")


def table(
    game: str,
    *,
    on_bad: str = "ask_again",
    tries: int = 3,
    transcript: str | Path | None = None,
    header: Mapping[str, Any] | None = None,
    private: bool = False,
    **options: Any,
) -> AECEnv[str, Any, Any]:
    """An environment for conversations.

    Args:
        game: As `parlour.envs.registry.lookup` takes it.
        on_bad: What follows words that cannot be used, and after how many `tries`: see `TextActions`.
        tries: How often a seat is asked.
        transcript: A file for the game; `{n}` in it becomes the number of the game, from 1.
        header: More fields for the transcript's header, such as the players' names.
        private: Only the owner of the process may read the transcript.
        **options: The game's own.

    Raises:
        ParlourError: A setting is not accepted.
    """
    env = TextActions(lookup(game).raw_env(info="full", **options), on_bad=on_bad, tries=tries, mask=True)
    return env if transcript is None else Recorder(env, transcript, header=header, private=private)


class Conversation:
    """Several seats of one game, each told only what is new to it; policies play the others.

        talk = Conversation(table("avalon_v0", num_players=5))
        talk.reset(seed=1)
        while (agent := talk.agent) is not None:
            talk.say(answer_of(agent, talk.hear(agent)))

    Args:
        env: What `table` makes: one of parlour's AEC environments with `info="full"` inside `TextActions`, possibly in a
            Recorder.
        seats: The seats that talk here, by agent's name; None: all.
        opponents: Who plays the other seats: as `SeatEnv` takes them.
        list_options: Whether messages list the options; `options` tells them at any rate.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        seats: Sequence[str] | None = None,
        opponents: Opponents = "heuristic",
        *,
        list_options: bool = True,
    ) -> None:
        base = inner_game(env, "Conversation", full=True)
        _check_takes_words(env)
        self.env, self.game_env, self.list_options = env, base, list_options
        self.agents = tuple(base.possible_agents if seats is None else seats)
        for agent in self.agents:
            if agent not in base.seat_of:
                raise accept("seat", agent, base.possible_agents)
        if not self.agents or len(set(self.agents)) < len(self.agents):
            raise ParlourError(f"seats {listed(self.agents)} are not accepted; accepted: one or more, each once")
        others = set(base.possible_agents) - set(self.agents)
        players = zip(base.possible_agents, seated(opponents, base), strict=True) if others else ()
        self._players = {agent: player for agent, player in players if agent in others}
        self._news: dict[str, SeatNews] = {}
        self._gone: set[str] = set()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game and let the others play up to the first turn of a seat that talks here, or to the end.

        Args:
            seed: Seed of the deal and of the policies at the other seats; None: drawn by the environment.
            options: As `GameEnv.reset` takes them.
        """
        self.env.reset(seed=seed, options=options)
        drawn = int(self.game_env.np_random.integers(SEEDS)) if seed is None else seed
        for agent, player in self._players.items():
            player.reset(self.game_env.seat_of[agent], drawn)
        self._news, self._gone = {}, set()
        self._go_on()

    @property
    def agent(self) -> str | None:
        """The seat to speak; None once the game is over."""
        self._check_dealt()
        return None if self.done else str(self.env.agent_selection)

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.game_env.outcome is not None

    def hear(self, agent: str) -> str:
        """The news since the seat's last message, and what it may do now or how the game ended."""
        self._check_own(agent)
        if agent not in self._news:
            self._news[agent] = SeatNews(list_options=self.list_options)
        return self._tell(agent, self._news[agent])

    def record(self, agent: str) -> str:
        """All messages to a seat, again, with what it may do now: for callers that keep no messages."""
        self._check_own(agent)
        return self._tell(agent, SeatNews(list_options=self.list_options))

    def say(self, words: str) -> None:
        """Answer for the seat to speak; the others play up to the next turn of a seat that talks here, or to the end.

        Words that cannot be used are handled as the environment does it: with `on_bad="ask_again"` it may be the same
        seat's turn again, and `hear` tells it what was wrong.

        Raises:
            ParlourError: The game is over, or has not begun; or `on_bad="raise"`.
        """
        self._check_dealt()
        if self.done:
            raise ParlourError("the game is over; accepted: reset()")
        self.env.step(str(words))
        self._go_on()

    def leave(self, agent: str) -> None:
        """A seat says nothing any more: at its turns comes what the table does about words that cannot be used."""
        self._check_own(agent)
        self._gone.add(agent)
        self._go_on()

    @property
    def options(self) -> tuple[str, ...]:
        """The canonical sentences of what may be done now, in words that are always understood; empty at the end."""
        self._check_dealt()
        return () if self.done else tuple(self.env.infos[self.env.agent_selection]["options"])

    @property
    def rewards(self) -> dict[str, float]:
        """Agent -> return, of the seats that talk here; 0.0 until the game is over."""
        self._check_dealt()
        outcome = self.game_env.outcome
        returns = [0.0] * self.game_env.game.seats if outcome is None else outcome.returns
        return {agent: float(returns[self.game_env.seat_of[agent]]) for agent in self.agents}

    @property
    def faults(self) -> dict[str, dict[str, int]]:
        """Agent -> how many of its words were unreadable, ambiguous, illegal, and how many moves were replaced."""
        self._check_dealt()
        return {agent: {fault: self.env.infos[agent][fault] for fault in _COUNTED} for agent in self.agents}

    def _go_on(self) -> None:
        """Let those play who do not talk here."""
        while not self.done:
            agent = self.env.agent_selection
            if agent in self._players:
                take_turn(self.env, self._players[agent])
            elif agent in self._gone:
                try:
                    self.env.step("")
                except tuple(FAULTS):  # a seat gives up where silence is an error
                    self.game_env.forfeit()
            else:
                return

    def _tell(self, agent: str, news: SeatNews) -> str:
        sections = sections_of(self.env.observe_as(agent, "text")["text"])
        assert sections is not None  # an environment writes all its headings
        base = self.game_env
        if base.outcome is None:
            return news.tell(sections).message
        views = [base.view(seat) for seat in range(base.game.seats)]
        return news.tell(sections, game_over(base.text, base.outcome, views, base.seat_of[agent])).message

    def _check_own(self, agent: str) -> None:
        self._check_dealt()
        if agent not in self.agents:
            raise accept("seat", agent, self.agents)

    def _check_dealt(self) -> None:
        if self.game_env.state_now is None:
            raise ParlourError("no game was dealt yet; accepted: reset()")


class ConversationSeat:
    """One seat of a game as a conversation; policies play the others.

        seat = ConversationSeat(table("avalon_v0"), "player_2")
        message = seat.reset(seed=1)
        while not seat.done:
            message = seat.say(answer_to(message))

    Args:
        env: As for `Conversation`; no other seat may use it.
        agent: The seat.
        opponents, list_options: As for `Conversation`.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], agent: str, opponents: Opponents = "heuristic", *, list_options: bool = True
    ) -> None:
        self.agent = agent
        self.conversation = Conversation(env, (agent,), opponents, list_options=list_options)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        """Deal a new game: the first message. The game may be over before the seat has moved (`done`)."""
        self.conversation.reset(seed, options)
        return self.conversation.hear(self.agent)

    def say(self, words: str) -> str:
        """Answer: the next message. Raises as `Conversation.say`."""
        self.conversation.say(words)
        return self.conversation.hear(self.agent)

    def leave(self) -> str:
        """Say nothing any more: the game is played to its end without the seat's words (`Conversation.leave`)."""
        self.conversation.leave(self.agent)
        return self.conversation.hear(self.agent)

    async def areset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        """`reset` in a thread of its own, as the others may ask models."""
        return await asyncio.to_thread(self.reset, seed, options)

    async def asay(self, words: str) -> str:
        """`say` in a thread of its own, as the others may ask models."""
        return await asyncio.to_thread(self.say, words)

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.conversation.done

    @property
    def reward(self) -> float:
        """The seat's return; 0.0 until the game is over."""
        return self.conversation.rewards[self.agent]

    @property
    def options(self) -> tuple[str, ...]:
        """What the seat may do now, in sentences; empty at the end."""
        return self.conversation.options

    @property
    def faults(self) -> dict[str, int]:
        """How many of its words were unreadable, ambiguous, illegal, and how many moves were replaced."""
        return self.conversation.faults[self.agent]

    @property
    def record(self) -> str:
        """All messages to the seat, again, with what it may do now."""
        return self.conversation.record(self.agent)


def _check_takes_words(env: Any) -> None:
    """Raise `ParlourError` for an environment whose actions are numbers alone."""
    while not isinstance(env, TextActions):
        env = getattr(env, "env", None)
        if env is None:
            raise ParlourError(
                "Conversation of an environment that takes numbers alone is not accepted; accepted: what "
                "parlour.wrappers.conversation.table makes"
            )
