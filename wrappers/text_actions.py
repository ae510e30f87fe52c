"""TextActions: words instead of action numbers, and one policy for words that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from parlour.envs.adapters.spaces import AgentSpaces, ObservedSpace, ProseSpace
from parlour.envs.core import IllegalMove, ParlourError, View, check_from, check_one_of
from parlour.envs.language.entries import TextAction
from parlour.envs.language.headings import headings_of
from parlour.envs.language.speech import quote
from parlour.envs.language.text import MAX_WORDS, AmbiguousMove, UnreadableMove, clean
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

ON_BAD: Final = ("ask_again", "default", "random", "raise", "forfeit")
FAULTS: Final = {UnreadableMove: "unreadable", AmbiguousMove: "ambiguous", IllegalMove: "illegal"}
_STREAM: Final = 0x7E87  # keeps this wrapper's chance apart from the game's under the same seed


class TextActions(AgentSpaces, BaseWrapper[str, Any, Any]):
    """Actions are words; a number is taken as well, so that players of both kinds can sit at one table.

    Observations and infos lose `action_mask` (a mask of numbers does not fit a space of words); the options stay in the
    prose. Infos gain, for each seat, how many of its answers were `unreadable`, `ambiguous` or `illegal`, how many
    moves were made in its place (`replaced`), and how often it was asked again this turn (`asked_again`).

    Args:
        env: A `GameEnv`, possibly inside a Recorder.
        on_bad: What follows words that cannot be used. `"ask_again"`: the seat reads what was wrong and is asked
            again, `tries` times in all, then `"default"`; `"default"`: the move that the sources of the game's rules
            prescribe; `"random"`: a random legal move; `"raise"`: the error; `"forfeit"`: the seat loses.
        tries: How often a seat is asked.
        mask: Keep `action_mask` in observations and infos.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], *, on_bad: str = "ask_again", tries: int = 3, mask: bool = False
    ) -> None:
        check_one_of("on_bad", on_bad, ON_BAD)
        check_from("tries", tries, 1)
        super().__init__(env)
        base = inner_game(env, "TextActions")
        self.game_env, self.on_bad, self.tries, self.mask = base, on_bad, tries, mask
        self.action_spaces = {agent: ProseSpace(MAX_WORDS) for agent in base.possible_agents}
        self.observation_spaces = {agent: self._observation_space(agent) for agent in base.possible_agents}
        self._faults: dict[str, Counter[str]] = {}
        self._reasons: list[str] = []
        self._infos: dict[str, dict[str, Any]] = {}
        self._made_from: dict[str, Any] = {}
        """Agent -> the game's own info that its info was made from."""
        self._at_turn = ""

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        return self._infos

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """As `GameEnv.agent_iter`."""
        yield from self.game_env.agent_iter(max_iter)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        drawn = int(self.game_env.np_random.integers(2**32)) if seed is None else seed
        self._rng = np.random.default_rng((drawn, _STREAM))
        self._faults = {agent: Counter() for agent in self.game_env.possible_agents}
        self._reasons = []
        self._made_from = {}
        self._refresh()

    def step(self, action: Any) -> None:
        if isinstance(action, str) and self.game_env.outcome is None:
            self._hear(action)
        else:
            agent = self.game_env.agent_selection
            self.env.step(action)
            self._reasons = []
            if isinstance(action, TextAction) and action.replaced:  # by whoever took the seat's turn
                self._faults[agent]["replaced"] += 1
        self._refresh()

    def observe(self, agent: str) -> Any:
        return self._seen(agent, self.env.observe(agent))

    def observe_as(self, agent: str, observation: str) -> dict[str, Any]:
        """As `GameEnv.observe_as`, with what was wrong with the last answer."""
        return self._seen(agent, self.env.observe_as(agent, observation))

    def ahead(self, agent: str, state: Any, observation: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """As `GameEnv.ahead`; nothing is wrong yet with an answer that is not given."""
        seen, info = self.env.ahead(agent, state, observation)
        if not self.mask:
            seen.pop("action_mask", None)
        return seen, self._counted(agent, info, 0)

    def _seen(self, agent: str, observed: Any) -> dict[str, Any]:
        seen: dict[str, Any] = dict(observed)
        if not self.mask:
            seen.pop("action_mask", None)
        if self._reasons and "text" in seen and agent == self.game_env.agent_selection:
            refused = headings_of(self.game_env.text).refused
            seen["text"] += "".join(f"{refused}{quote(clean(why))}\n" for why in self._reasons)
        return seen

    def _hear(self, raw: str) -> None:
        base = self.game_env
        words = clean(raw)
        view = base.view(base.seat)
        try:
            self.env.step(TextAction(base.text.parse(words, view), raw))
        except (UnreadableMove, AmbiguousMove, IllegalMove) as error:
            self._fault(raw, words, view, error)
        else:
            self._reasons = []

    def _fault(self, raw: str, words: str, view: View, error: ParlourError) -> None:
        base, agent = self.game_env, self.game_env.agent_selection
        fault = FAULTS[type(error)]
        self._faults[agent][fault] += 1
        base.note(raw, fault)
        if self.on_bad == "raise":
            self._refresh()
            raise error
        self._reasons.append(str(error))
        if self.on_bad == "ask_again" and len(self._reasons) < self.tries:
            return
        self._faults[agent]["replaced"] += 1
        self._reasons = []
        if self.on_bad == "forfeit":
            base.forfeit()
        elif self.on_bad == "random":
            self.env.step(TextAction(view.legal[int(self._rng.integers(len(view.legal)))], None, "random"))
        else:
            self.env.step(TextAction(base.text.default(words, view, self._rng), None, "default"))

    def _observation_space(self, agent: str) -> spaces.Dict:
        parts = dict(self.env.observation_space(agent).spaces)
        if not self.mask:
            del parts["action_mask"]
        return ObservedSpace(parts)

    def _refresh(self) -> None:
        """The infos of seats that neither acted nor act next stay, as long as the game's own do."""
        base, infos = self.game_env, {}
        at_turn = self._at_turn, base.agent_selection
        for agent, info in base.infos.items():
            if agent in at_turn or self._made_from.get(agent) is not info:
                times = len(self._reasons) if agent == base.agent_selection else 0
                infos[agent] = self._counted(agent, info, times)
            else:
                infos[agent] = self._infos[agent]
        self._made_from, self._infos, self._at_turn = dict(base.infos), infos, base.agent_selection

    def _counted(self, agent: str, info: dict[str, Any], times: int) -> dict[str, Any]:
        """An info of the game with what is counted here; `asked` is how often the agent was asked again."""
        shown = {key: value for key, value in info.items() if self.mask or key != "action_mask"}
        faults = self._faults[agent]
        counts = {fault: faults[fault] for fault in (*FAULTS.values(), "replaced")}
        return {**shown, **counts, "asked_again": times}
