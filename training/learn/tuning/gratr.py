"""GRATR's numbers as a problem for the tuner: episodes are deals of the paper's mixed table, played from both sides.

Zhu et al. 2024, section "Setup": of eight players, four of one method hold the three leaders and a villager, four of the
other the three werewolves and the other villager. An episode is one deal, played twice with the blocks changed over. Its
reward is the mean over both games of whether the side of GRATR's special block won, or of that block's performance score
by Table 3. The paper names no values for rho and gamma; the defaults come from its published code. The dense reward is no
game's result: the other method plays the deal, and GRATR's trust at each turn of the village is scored by its log loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from statistics import fmean
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from parlour.envs.core import accept
from parlour.envs.settings import COMMON, Settings
from parlour.envs.werewolf.vocabulary import VILLAGER, VOTES, WEREWOLF, side_of
from parlour.policies import GratrAgent, Policy, make_policy, names_of
from parlour.policies.agents.werewolf.gratr import Parameters as GraphParameters
from parlour.policies.agents.werewolf.gratr.evidence import LearnedParameters, read_parameters
from parlour.training.learn.reliability.judgements import judgements, log_loss
from parlour.training.learn.tuning.problem import Parameter, Parameters, Space
from parlour.training.measure.werewolf.scores import performance
from parlour.training.play import rollout
from parlour.training.play.rollout import Episode
from parlour.training.records.werewolf.played import GAME
from pydantic import model_validator

Reward = Literal["win", "performance", "trust"]
PLAYERS: Final = 8
RULES: Final = "paper"
_DEFAULTS: Final = GraphParameters()
TRUST_SPACE: Final = Space(
    (
        Parameter("rho", 0.0, 1.0, _DEFAULTS.rho),
        Parameter("gamma", 0.0, 1.0, _DEFAULTS.gamma),
        Parameter("epsilon", 0.0, 0.6, _DEFAULTS.epsilon),
        Parameter("width", 1, PLAYERS - 1, _DEFAULTS.width, "int"),
    )
)
"""All that can be tuned; `rho` and `gamma` are what the paper calls for."""


class GratrTuning(Settings):
    """Mixed games of GRATR against one other method; the heuristics answer all questions.

    Raises:
        ParlourError: There is no such opponent, parameter, reward or mode.
    """

    against: Annotated[str, COMMON] = "werewolf_window"
    """Policy of the other four seats, with its settings."""
    parameters: Annotated[tuple[str, ...], COMMON] = ("rho", "gamma")
    """Parameters to tune, of rho, gamma, epsilon and width."""
    reward_by: Annotated[Reward, COMMON] = "win"
    """Reward: a win of the special block, its performance score by the paper's table 3, or minus the log loss of trust as stated
    at every judgement of games that the opponent plays."""
    mode: Literal["grounded", "paper", "code"] = "grounded"
    """Reading of GRATR's equations."""
    start: str = ""
    """File of `parlour train gratr-trust`, or `trained` for the file that ships with parlour: its reliabilities stay, and it sets
    what is not tuned; None: none of them."""

    name: ClassVar[str] = "gratr"
    games: ClassVar[int] = 2

    @model_validator(mode="after")
    def _has_files_and_players(self) -> Self:
        TRUST_SPACE.chosen(self.parameters)
        self._given()
        plain = self.against.partition(":")[0]
        opponents = [name for name in names_of("plain", "asking", "modules") if name != "human"]
        if plain not in opponents:
            raise accept("opponent", self.against, opponents)
        self._other()
        return self

    @property
    def space(self) -> Space:
        return TRUST_SPACE.chosen(self.parameters)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "game": GAME,
            "num_players": PLAYERS,
            "rules": RULES,
            "against": self.against,
            "reward": self.reward_by,
            "mode": self.mode,
            "floor": _DEFAULTS.floor,
            "answered_by": "heuristics",
            **({"start": self.start, "learned": self._given().parameters} if self.start else {}),
        }

    def reward(self, parameters: Parameters, deals: Sequence[int]) -> list[float]:
        """One number for each deal: 0 to 1 by wins; by performance in the points of Table 3; by trust in nats, below 0."""
        self.space.check(parameters)
        learned = self._given()
        tuned = {name: int(x) if name == "width" else float(x) for name, x in parameters.items()}
        graph = GraphParameters(**{**learned.parameters, **tuned, "mode": self.mode})
        settings: dict[str, Any] = {"reliabilities": learned.reliabilities} if self.start else {}
        make = partial(GratrAgent, parameters=graph, **settings)
        if self.reward_by == "trust":
            return [self._dense(make, deal) for deal in deals]
        ours: list[Policy] = [make() for _ in range(PLAYERS)]
        others = [self._other() for _ in range(PLAYERS)]
        return [fmean([self._play(ours, others, deal, wolves) for wolves in (True, False)]) for deal in deals]

    def _given(self) -> LearnedParameters:
        return read_parameters(self.start) if self.start else LearnedParameters({}, None)

    def _other(self) -> Policy:
        return make_policy(self.against, GAME, _table().game_env.game.config)

    def _dense(self, make: Callable[[], Policy], deal: int) -> float:
        """Minus the mean log loss of trust at each turn of the village, in a game of the other method; 0 if there was none."""
        judged = judgements(_table(), deal, self._other, make)
        return -float(log_loss(judged).mean()) if judged else 0.0

    def _play(self, ours: Sequence[Policy], others: Sequence[Policy], deal: int, wolves: bool) -> float:
        """The reward of one game, in which GRATR holds the werewolves or the leaders."""
        env = _table()
        env.reset(seed=deal)
        block = wolves_block([env.game_env.view(seat).role for seat in range(PLAYERS)])
        own = [(seat in block) == wolves for seat in range(PLAYERS)]
        players = [ours[seat] if own[seat] else others[seat] for seat in range(PLAYERS)]
        episode = rollout.play(env, players, deal)
        special = [seat for seat in range(PLAYERS) if own[seat] and _role(episode, seat) != VILLAGER]
        if self.reward_by == "win":
            return float(_won(episode, special[0]))
        return fmean([scored(episode, seat) for seat in special])


def wolves_block(roles: Sequence[str]) -> frozenset[int]:
    """The seats that play together with the werewolves: they, and the villager with the lowest seat.

    >>> sorted(wolves_block(["Seer", "Werewolf", "Villager", "Villager"]))
    [1, 2]
    """
    wolves = (seat for seat, role in enumerate(roles) if role == WEREWOLF)
    return frozenset({*wolves, list(roles).index(VILLAGER)})


def scored(episode: Episode, seat: int) -> float:
    """The performance score of a seat by Table 3: points for winning, its votes by day for and against."""
    roles = [_role(episode, k) for k in range(len(episode.last_views))]
    ballots = [event.move.args[1:] for event in episode.last_views[seat].events if event.move.kind == VOTES]
    targets = [roles[ballot[seat]] for ballot in ballots if ballot[seat] >= 0]
    return float(performance(roles[seat], _won(episode, seat), targets))


def _role(episode: Episode, seat: int) -> str:
    return str(episode.last_views[seat].role)


def _won(episode: Episode, seat: int) -> bool:
    return episode.outcome.winner == side_of(_role(episode, seat))


@cache
def _table() -> Any:
    """The table of this process; a game begins with its reset, so that nothing is carried over."""
    return rollout.table(GAME, num_players=PLAYERS, rules=RULES)
