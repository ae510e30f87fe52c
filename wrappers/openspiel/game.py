"""Games of parlour as OpenSpiel games: `openspiel_game("avalon_v0", num_players=5, talk=False)`. Needs `open_spiel`.

Importing this file registers them with OpenSpiel as `python_parlour_avalon` and so on, with the games' options as
parameters, so that `pyspiel.load_game("python_parlour_werewolf(num_players=4,talk=False)")` works as well.

* Sequential, imperfect information, rewards at the end. Chance is explicit where the game tells its chances and a deal
  has at most `MOST_CHANCES` outcomes, else sampled from the parameter `seed`.
* `information_state_string`: the seat's View and its own actions (perfect recall); `observation_tensor`: the features.
  There is no information state tensor: the features forget.
* Free words have no number: seats speak by claims only.
* Games whose nature is services (`mediated_qa_v0`) are left out: their answers are not numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, Final

import numpy as np
import pyspiel
from parlour.envs.core import ParlourError, View, accept, check_one_of
from parlour.envs.registry import GAMES, lookup
from parlour.envs.settings import BETWEEN_ITEMS, accepted, of_word
from parlour.wrappers.determinizations import determinizations
from parlour.wrappers.openspiel.state import ParlourObserver, ParlourState, Table, table_of

PREFIX: Final = "python_parlour_"
OFFERED: Final = tuple(name for name in GAMES if name != "mediated_qa_v0")
"""All games but the one whose chance moves carry the words of services: it has no numbered chance outcomes."""
OWN: Final[Mapping[str, Any]] = {"fixed_deal": "", "seed": 0, "zero_sum": False}
"""Parameters beside the game's options: see `openspiel_game`."""
_KEPT: Final = 64


class ParlourGame(pyspiel.Game):
    """One of parlour's games at one table, for OpenSpiel. Made by `openspiel_game` or `pyspiel.load_game`."""

    name: ClassVar[str]
    """Registry name in parlour; a subclass for each is registered."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        name, params = self.name, params or {}
        unknown = [key for key in params if key not in parameters(name)]
        if unknown:
            raise accept(f"parameter of {openspiel_name(name)}", unknown[0], parameters(name))
        given = {**parameters(name), **params}
        self.table: Table = table_of(name, _config(name, given), _numbers(given["fixed_deal"]))
        if self.table.fixed_deal and not self.table.explicit:
            raise accept("fixed_deal", given["fixed_deal"], "the last numbers of a deal of this table")
        self.rng = np.random.default_rng(given["seed"])
        self._samples: OrderedDict[Any, tuple[list[float], list[ParlourState]]] = OrderedDict()
        game, zero = self.table.game, {"utility_sum": 0.0} if given["zero_sum"] else {}
        info = pyspiel.GameInfo(
            num_distinct_actions=len(game.catalogue),
            max_chance_outcomes=max(len(self.table.deals), len(game.catalogue)) if self.table.explicit else 1,
            num_players=game.seats,
            min_utility=-1.0,
            max_utility=1.0,
            max_game_length=game.max_moves,
            **zero,
        )
        kind = _game_type(name, explicit=self.table.explicit, zero_sum=given["zero_sum"])
        super().__init__(kind, info, dict(params))

    def new_initial_state(self) -> ParlourState:
        return ParlourState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ParlourObserver:
        """The observer of a seat; an observer with other private information, or none, is not offered."""
        if params:
            raise accept("observer's parameters", params, "none")
        if iig_obs_type is not None and iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise accept("observer's private_info", iig_obs_type.private_info, "SINGLE_PLAYER: what one seat knows")
        return ParlourObserver(self.table)

    def sample_state(self, view: View, own: Sequence[int], z: float) -> ParlourState:
        """One of the states that a seat to move cannot distinguish, from its View and its own actions alone.

        Args:
            view: The seat's.
            own: The numbers of the actions that it has taken.
            z: In [0, 1): which state, by the probabilities of `parlour.wrappers.determinizations`.

        Raises:
            ParlourError: See `determinizations`.
        """
        key = (view, tuple(own))
        sampled = self._samples.get(key)
        if sampled is None:
            courses = determinizations(self.table.game, self.table.text, view, own)
            sampled = list(accumulate(w.probability for w in courses)), [self.state_after(w.moves) for w in courses]
            self._samples[key] = sampled
            if len(self._samples) > _KEPT:
                self._samples.popitem(last=False)
        bounds, states = sampled
        drawn: ParlourState = states[min(bisect_right(bounds, z), len(states) - 1)].clone()
        return drawn

    def state_after(self, moves: Sequence[Any]) -> ParlourState:
        """The state after these moves of parlour's, nature's included. Raises `ParlourError` where chance is sampled."""
        if not self.table.explicit:
            raise ParlourError(f"chance is sampled at this table ({self}); accepted: tables with explicit chance")
        state = self.new_initial_state()
        for move in moves:
            at = state.moment
            if at.player == pyspiel.PlayerId.CHANCE:
                state.apply_action([outcome for outcome, _ in self.table.chances(at.state)].index(move))
            else:
                state.apply_action(self.table.wording.numbers[move._replace(words="")])
        return state


def openspiel_game(game: str, **options: Any) -> ParlourGame:
    """A table of parlour as an OpenSpiel game.

    Args:
        game: Registry name.
        **options: The game's own options, and
            `fixed_deal`: the last numbers of the deal, if they are to be no matter of chance: of Avalon's the first
            leader, of Werewolf's the order of talk. By symmetry nothing is lost, and the tree is smaller;
            `seed`: of chance, where it is sampled;
            `zero_sum`: the caller's word that returns always sum to 0, which some algorithms ask for.

    Raises:
        ParlourError: There is no such game here, or an option is not accepted.
    """
    check_one_of("game", game, OFFERED)
    default = parameters(game)
    params = {}
    for key, value in options.items():
        check_one_of(f"option of {game}", key, default)
        if isinstance(value, list | tuple):
            value = "/".join(map(str, value))
            value += "/" * value.isdigit()  # else OpenSpiel would read a single number as no text
        params[key] = default[key] if value is None else value
    return pyspiel.load_game(openspiel_name(game), params)  # type: ignore[no-any-return]


def openspiel_name(game: str) -> str:
    """What a game is called in OpenSpiel.

    >>> openspiel_name("avalon_v0")
    'python_parlour_avalon'
    """
    return PREFIX + game.rpartition("_v")[0]


def parameters(game: str) -> dict[str, Any]:
    """OpenSpiel parameters of a game with their defaults: plain values; lists of names are joined by `/`.

    An option whose default is None is 0 if it is a whole number, and else an empty text.
    """
    options = lookup(game).spec.options.model_fields.items()
    plain = {name: field.default for name, field in options if type(field.default) in (int, bool, float, str)}
    absent = {name: 0 if field.annotation == int | None else "" for name, field in options if field.default is None}
    return {**plain, **absent, **OWN}


def _config(game: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the game: an empty text or 0 stands for None where that is the default."""
    options, defaults = lookup(game).spec.options.model_fields, parameters(game)
    config: dict[str, Any] = {}
    for key, value in given.items():
        if key in OWN:
            continue
        if options[key].default is None:
            if value == defaults[key]:
                continue
            if isinstance(value, str):
                value = of_word(key, options[key], value.replace("/", BETWEEN_ITEMS))
        config[key] = value
    return config


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split("/") if part)
    except ValueError:
        raise accept("fixed_deal", text, "whole numbers with / between them") from None


def _game_type(name: str, *, explicit: bool = True, zero_sum: bool = False) -> Any:
    kind, players = pyspiel.GameType, lookup(name).spec.options.model_fields.get("num_players")
    low, _, high = ("" if players is None else accepted(players)).partition("..")
    return kind(
        short_name=openspiel_name(name),
        long_name=f"parlour: {lookup(name).spec.title}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if explicit else kind.ChanceMode.SAMPLED_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if zero_sum else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        min_num_players=int(low or 2),
        max_num_players=int(high or 15),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters(name),
    )


# A class for each game: OpenSpiel keeps what it is given beyond the end of the interpreter, which a function does not
# survive (the process would abort at exit).
for _name in OFFERED:
    _class = type(f"ParlourGame_{_name}", (ParlourGame,), {"name": _name})
    globals()[_class.__name__] = _class  # where pickle looks for it
    pyspiel.register_game(_game_type(_name), _class)
