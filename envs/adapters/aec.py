"""The one PettingZoo adapter: any `Game` as an AEC environment with prose, features, or both as observation.

It keeps nothing that the contract does not give it: legality is `Game.legal`, knowledge is the log's visibility (for
prose, a line at a time) and `Game.view` (for features and `info["view"]`). Its caches are only for speed:
`render(text, game.view(state, seat))` equals the prose of `observe` at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from sys import maxsize
from typing import Any, Final, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from parlour.envs.adapters.spaces import AfterReset, AgentSpaces, observed_space
from parlour.envs.adapters.wording import Mask, SeatEncoders, SeatTexts, Turn, masked, own_numbers, wording
from parlour.envs.common.terminal import tell_text
from parlour.envs.core import (
    NATURE,
    OVER,
    TABLE,
    Game,
    IllegalMove,
    Move,
    Outcome,
    View,
    accept,
    check_one_of,
    given_up,
)
from parlour.envs.language.entries import Entry, TextAction, entry_of
from parlour.envs.language.text import agents_of, end_of
from parlour.envs.spec import GameSpec
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

OBSERVATIONS: Final = ("text", "features", "both")
INFOS: Final = ("numeric", "full")
RENDER_MODES: Final = ("ansi", "human")
MAX_TEXT: Final = 4_000_000
"""Characters of the longest observation."""


class GameEnv(AgentSpaces, AECEnv[str, Any, Any]):
    """A game as an AEC environment whose actions are numbers: in `game.catalogue`, or as the seat to move counts.

    Args:
        spec: The game's package.
        game: The rules, as `spec.build` made them.
        observation: `"text"`: `{"text", "action_mask"}`; `"features"`: `{"observation", "action_mask"}`; `"both"`.
        features: A kind of features that the table has, with settings behind a colon where the game has them. `"table"`: seats and actions
            numbered as at the table; any other: features, actions and masks in the frame of the seat that observes or moves
            (`parlour.envs.common.frames`).
        info: `"numeric"`: only `action_mask`; `"full"` adds at a seat's turn `options`, `legal` (numbers), `view`,
            `heuristic`, the dotted name of the game's scripted player, and `features`, unless they are `"table"`.
        render_mode: `"ansi"`: `render` returns the public record; `"human"`: `reset` and each step print what was added
            to it, as Gymnasium and PettingZoo do; None: nothing.
    """

    rewards: dict[str, float] = AfterReset()  # type: ignore[assignment]
    terminations: dict[str, bool] = AfterReset()  # type: ignore[assignment]
    truncations: dict[str, bool] = AfterReset()  # type: ignore[assignment]
    infos: dict[str, dict[str, Any]] = AfterReset()  # type: ignore[assignment]
    agent_selection: str = AfterReset()  # type: ignore[assignment]
    _cumulative_rewards: dict[str, float] = AfterReset()  # type: ignore[assignment]

    def __init__(
        self,
        spec: GameSpec,
        game: Game[Any],
        *,
        observation: Literal["text", "features", "both"] = "text",
        features: str = TABLE,
        info: Literal["numeric", "full"] = "numeric",
        render_mode: Literal["ansi", "human"] | None = None,
    ) -> None:
        super().__init__()
        check_one_of("observation", observation, OBSERVATIONS)
        check_one_of("info", info, INFOS)
        check_one_of("render_mode", render_mode, (None, *RENDER_MODES))
        self.spec, self.game = spec, game
        self.game_name = spec.id
        """The name with which `parlour.envs.registry.lookup` finds the game; its id, where the registry does not say otherwise."""
        self.features, self._framed = features, features != TABLE
        if self._framed:
            check_one_of(f"features of {spec.id}", features.partition(":")[0], spec.encoder(game).kinds)
        self._find_wording()
        self.text = self._wording.text
        self.observation, self.info, self.render_mode = observation, info, render_mode
        self.metadata = {"name": spec.id, "render_modes": list(RENDER_MODES), "is_parallelizable": False}
        self.possible_agents = agents_of(game)
        self.agents: list[str] = []
        self.seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._catalogue = game.catalogue
        self._text_only = observation == "text"
        self._idle: Mask = np.zeros(len(self._catalogue), dtype=np.int8)
        sizes = self.encoder.size, len(self._catalogue), MAX_TEXT
        self.observation_spaces = {agent: observed_space(observation, *sizes) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(len(self._catalogue)) for agent in self.possible_agents}
        self.np_random, _ = seeding.np_random(None)
        self._turn: Turn | None = None
        self._mask = self._idle
        self.state_now: Any = None
        self.moves: list[Move] = []
        self.listener: Callable[[Entry | Outcome], None] | None = None
        """Told of every move, of words that were no move, and of the outcome."""
        self.outcome: Outcome | None = None

    def __getstate__(self) -> dict[str, Any]:
        # a wording finds turns by the identity of their options, which a copy does not keep; encoders only remember what
        # they have read; a listener stays behind
        rebuilt = ("_wording", "_turns", "_own", "encoder")
        state = {key: value for key, value in self.__dict__.items() if key not in rebuilt}
        return state | {"listener": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._find_wording()

    def _find_wording(self) -> None:
        """What all environments of this table share, and the encoder."""
        framed, game = self._framed, self.game
        self.encoder = SeatEncoders(self.spec, game, self.features) if framed else self.spec.encoder(game).at_table()
        self._wording = wording(self.spec, self.game)
        self._own = own_numbers(self.spec, self.game) if self._framed else None
        self._turns = {} if self._framed else self._wording.turns  # in frames of seats, turns are found by `offer`

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: Makes the game's chance reproducible; None continues with the present generator.
            options: `{"nature": [Move, ...]}`: nature makes these moves first, then draws (a fixed deal; a replay).
                Other keys are for other wrappers and ignored, as PettingZoo's tests expect.
        """
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self._script = list((options or {}).get("nature", ()))[::-1]
        agents = self.possible_agents
        self.agents = agents[:]
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._idle_info = {agent: {"action_mask": self._idle.copy()} for agent in agents}
        self.infos = dict(self._idle_info)
        self._skip_agent_selection = None
        self.moves = []
        self.outcome = None
        self.state_now = self.game.initial()
        self._texts = SeatTexts(len(agents))
        self._printed = 0
        self._go_on()
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        if self._turn is None:
            self._check_reset()
            if self.agents:
                self._was_dead_step(action)
            else:
                EnvLogger.warn_step_after_terminated_truncated()
            return
        raw, replaced = None, ""
        try:
            if action < 0:
                raise IndexError
            move = self._catalogue[action]
        except (IndexError, TypeError, ValueError):
            if not isinstance(action, TextAction):
                raise accept("action", action, f"a whole number 0..{len(self._catalogue) - 1}") from None
            move, raw, replaced = action
        turn = self._turn
        try:
            self.play(move, raw, replaced)
        except IllegalMove:
            if raw is not None or move in turn.legal:
                raise
            raise masked(action, self.text.say(move), turn) from None
        if self.render_mode == "human":
            self.render()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """The selected agent, again and again; step in between. Lighter than PettingZoo's, and of the same meaning."""
        self._check_reset()
        for _ in repeat(None, min(max_iter, maxsize)):
            if not self.agents:
                return
            yield self.agent_selection

    def last(self, observe: bool = True) -> tuple[dict[str, Any] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, termination, truncation and info of the selected agent. Lighter than
        PettingZoo's, and of the same meaning.
        """
        turn = self._turn
        if turn is None:
            ended: tuple[dict[str, Any] | None, float, bool, bool, dict[str, Any]] = super().last(observe)
            return ended
        agent = self.agent_selection
        seen = None
        if observe and self._text_only:
            text = self._texts.prose(self._wording, self.game, self.state_now, self._seat, turn.choice)
            seen = {"text": text, "action_mask": self._mask}
        elif observe:
            seen = self.observe_as(agent, self.observation)
        return seen, self._cumulative_rewards[agent], False, False, self.infos[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """The observation of `agent`, whether it is to move or not."""
        return self.observe_as(agent, self.observation)

    def observe_as(self, agent: str, observation: str) -> dict[str, Any]:
        """The observation of `agent` in another form than this environment's own; see the class for the forms."""
        self._check_reset()
        seat = self.seat_of[agent]
        turn = self._turn if agent == self.agent_selection and self._turn is not None else None
        choice = self._wording.waiting if turn is None else turn.choice
        seen = self._seen(seat, self.state_now, choice, observation)
        seen["action_mask"] = self._idle.copy() if turn is None else self._mask
        return seen

    def _seen(self, seat: int, state: Any, choice: str, observation: str) -> dict[str, Any]:
        """The prose and the features of an observation, as far as its form has them."""
        seen: dict[str, Any] = {}
        if observation in ("text", "both"):
            seen["text"] = self._texts.prose(self._wording, self.game, self.state_now, seat, choice)
        if observation in ("features", "both"):
            seen["observation"] = self.encoder(self.game.view(state, seat))
        return seen

    def ahead(self, agent: str, state: Any, observation: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Observation, in a form of `observe_as` or none (`"view"`), and info of `agent` at its turn in `state`.

        `state` is a later state, in which the agent has seen the same events as now (`parlour.envs.adapters.moment`).
        """
        seat = self.seat_of[agent]
        view, turn = self.game.view(state, seat), self.offer(self.game.legal(state), seat)
        mask = turn.mask.copy()
        seen = self._seen(seat, state, turn.choice, observation)
        if observation != "view":
            seen["action_mask"] = mask
        info: dict[str, Any] = {"action_mask": mask}
        return seen, info | self.full_info(turn, view) if self.info == "full" else info

    def render(self) -> str | None:
        """What everybody at the table has seen, one line an event; with `"human"` print what is not printed yet."""
        return self.render_record(self.state_now)

    def render_record(self, state: Any) -> str | None:
        """As `render`, but only up to `state`, one of this game up to now."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return "".join(self.text.line(event) for event in state.log if event.to is None)
        new, self._printed = state.log[self._printed :], max(self._printed, len(state.log))
        for event in new:
            if event.to is None:
                tell_text(self.text.line(event).removesuffix("\n"))
        return None

    def close(self) -> None:
        """Nothing to release."""

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self.seat_of[self.agent_selection]

    def view(self, seat: int) -> View:
        """What `seat` may know now."""
        return self.game.view(self.state_now, seat)

    def ended(self) -> str:
        """How the game ended, in one sentence; empty before the end."""
        return "" if self.outcome is None else end_of(self.text, self.outcome)

    def number(self, move: Move) -> int:
        """The action number of a move for the seat to move, words left aside."""
        number = self._wording.numbers[Move(move.kind, move.args)]
        return number if self._own is None else int(self._own.frame.own[self.seat, number])

    def catalogue_of(self, seat: int) -> tuple[Move, ...]:
        """All moves, in the order in which `seat` numbers them."""
        return self.game.catalogue if self._own is None else self._own.catalogues[seat]

    def offer(self, legal: tuple[Move, ...], seat: int) -> Turn:
        """What `seat` is offered when it may do `legal`."""
        turn = self._wording.turn(legal)
        return turn if self._own is None else self._own.turn(turn, seat)

    def full_info(self, turn: Turn, view: View) -> dict[str, Any]:
        """What `info="full"` adds at a seat's turn."""
        info = self._wording.offered(turn, view)
        return info if self._own is None else {**info, "features": self.features}

    def play(self, move: Move, raw: str | None = None, replaced: str = "") -> None:
        """Make a move for the seat to move; `raw` and `replaced` are for the listener, as in `Entry`.

        Raises:
            IllegalMove: It is not legal; nothing is changed.
        """
        agent, before = self.agent_selection, self.state_now
        self.state_now = self.game.apply(before, move)  # as `_nature` does, without a call at each turn
        self.moves.append(move)
        if self.listener is not None:
            self.listener(entry_of(self.game, before, self.state_now, move, raw, replaced))
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = self._idle_info[agent]
        self._go_on()

    def note(self, raw: str, fault: str) -> None:
        """Tell the listener of words that were no move."""
        if self.listener is not None:
            self.listener(Entry(self.seat, None, (self.seat,), raw, fault))

    def forfeit(self) -> None:
        """The seat to move gives up: it gets -1, nobody else gets anything, and the game is over."""
        seat = self.seat
        if self.listener is not None:
            self.listener(Entry(seat, None, None, None, "forfeit"))
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._finish(given_up(self.game.seats, seat))

    def _check_reset(self) -> None:
        if self.state_now is None:
            raise AttributeError("this cannot be done before reset()")

    def _nature(self, move: Move) -> Any:
        """The state after a move of nature, which the listener is told of."""
        before = self.state_now
        self.state_now = self.game.apply(before, move)
        self.moves.append(move)
        if self.listener is not None:
            self.listener(entry_of(self.game, before, self.state_now, move, None, ""))
        return self.state_now

    def _go_on(self) -> None:
        """Let nature move, then select the next seat or end the game."""
        game, state = self.game, self.state_now
        actor = game.actor(state)
        while actor == NATURE:
            drawn = self._script.pop() if self._script else game.nature(state, self.np_random)
            state = self._nature(drawn)
            actor = game.actor(state)
        if actor == OVER:
            outcome = game.outcome(state)
            assert outcome is not None
            self._finish(outcome)
            return
        legal = game.legal(state)
        turn = self._turns.get(id(legal))
        if turn is None:
            turn = self.offer(legal, actor)
            self._catalogue = self.catalogue_of(actor)
        self._turn, self._seat = turn, actor
        agent = self.possible_agents[actor]
        self.agent_selection = agent
        self._mask = mask = turn.mask.copy()
        info: dict[str, Any] = {"action_mask": mask}
        if self.info == "full":
            info |= self.full_info(turn, game.view(state, actor))
        self.infos[agent] = info

    def _finish(self, outcome: Outcome) -> None:
        self.outcome = outcome
        if self.listener is not None:
            self.listener(outcome)
        self._turn = None
        self.rewards = dict(zip(self.possible_agents, outcome.returns, strict=True))
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: self._idle_info[agent] for agent in self.agents}
        for agent, gained in self.rewards.items():
            self._cumulative_rewards[agent] += gained
        self.agent_selection = self.agents[0]
