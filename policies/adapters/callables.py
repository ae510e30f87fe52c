"""Players from anywhere: `--policy module:attribute`. Needs no library.

The kind of object at `module:attribute` is inferred from its type and its required arguments (`inspect.signature`):

* a class, or a function without arguments (a factory): called once for each seat; what it makes counts;
* a `Policy`: sits down as it is;
* an object with `act(observation, info)`: its `reset(seat, seed)` or `reset()`, its `wants` and its `notes()` are used
  where it has them;
* a callable with one required argument: text in, words out, as TextArena's agents are;
* a callable with two required arguments: `(observation, info)`, as in a PettingZoo loop.

Everything else is refused, and so is what could be two of these. A class, a factory and a callable without `reset` may
sit at many seats; an instance with memory (a `Policy`, or anything with `reset` or `act`) is one player and sits at one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import index
from typing import Any, ClassVar, Final, Literal

from parlour.envs.common import dotted
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.base import Policy, legal_numbers
from parlour.policies.llm.model import Model

Kind = Literal["words", "pair", "act"]
WANTS: Final = ("text", "features", "both", "view")
KINDS: Final = (
    "a Policy, an object with act(observation, info), a callable of one argument (text) or of two (observation, info), "
    "or a class or a function without required arguments that makes one of these"
)
_READ: Final = {"observation", "info"}
_ONLY: Final[dict[str, ForeignPlayer]] = {}
"""Name -> the one player that an instance with memory is, so that the loops can see it sit at two seats."""


class ForeignPlayer(Policy):
    """Somebody else's player, seated as a Policy.

    Args:
        called: Its `module:attribute`, for messages.
        player: The player itself; by default what `called` names.

    Raises:
        ParlourError: It is of no kind that can be seated.
    """

    name: ClassVar[str] = "module:attribute"

    def __init__(self, called: str, player: Any = None) -> None:
        super().__init__()
        self.called = called
        self.player = _made(called, dotted.load(called, "policy"))[0] if player is None else player
        self.kind: Kind = _kind(called, self.player)
        wants = "text" if self.kind == "words" else getattr(self.player, "wants", "both")
        check_one_of(f"wants of {called}", wants, WANTS)
        self.wants = wants  # type: ignore[misc]  # its own, where the class has one for all
        self._reset_takes = _reset_takes(called, self.player)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        if self._reset_takes is not None:
            self.player.reset(*(seat, seed)[: self._reset_takes])

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """Raises `ParlourError` if the answer is not of the kind it has to be, or a number that is not legal now."""
        if self.kind == "words":
            answer = self.player(observation["text"])
            if not isinstance(answer, str):
                raise self._refused(answer, "words (str)")
            return answer
        answer = self.player.act(observation, info) if self.kind == "act" else self.player(observation, info)
        return answer if isinstance(answer, str) else self._number(answer, observation, info)

    def notes(self) -> dict[str, Any]:
        notes = getattr(self.player, "notes", None)
        return dict(notes() or {}) if callable(notes) else {}

    @property
    def waits(self) -> bool:
        """Whether the player says that it waits, such as for a language model (an attribute `waits`)."""
        return bool(getattr(self.player, "waits", False))

    def settings(self) -> dict[str, Any]:
        return {"called": self.called}

    def _number(self, answer: Any, observation: Any, info: dict[str, Any]) -> int:
        whole: Any = None if isinstance(answer, bool) else answer
        try:
            number = index(whole)
        except TypeError:
            raise self._refused(answer, "a whole number, or words (str)") from None
        check_one_of(f"action of player {self.called}", number, legal_numbers(observation, info))
        return number

    def _refused(self, answer: Any, accepted: str) -> ParlourError:
        return ParlourError(
            f"player {self.called} answered {answer!r:.80} ({type(answer).__name__}); accepted: {accepted}"
        )


def load(name: str, model: Model | None = None) -> Policy:
    """The player at `module:attribute`, ready to be seated.

    Args:
        name: A module on the import path or in the current directory, and its attribute.
        model: Who answers the questions of an `AskingPolicy`.

    Raises:
        ParlourError: There is no such module or attribute, or it can be none of the players of this module.
        Exception: Whatever the module, class or factory raises, as it is.
    """
    loaded = dotted.load(name, "policy")
    player, own = _made(name, loaded, model)
    if isinstance(player, Policy):
        return player
    if own or not (hasattr(player, "act") or hasattr(player, "reset")):
        return ForeignPlayer(name, player)
    seated = _ONLY.get(name)
    if seated is None or seated.player is not player:
        seated = _ONLY[name] = ForeignPlayer(name, player)
    return seated


def asks_a_model(name: str) -> bool:
    """Whether `module:attribute` names a class whose players ask parlour's model. Raises as `load` does."""
    loaded = dotted.load(name, "policy")
    return isinstance(loaded, type) and issubclass(loaded, AskingPolicy)


# -- what is it? -----------------------------------------------------------------------------------------------


def _made(name: str, loaded: Any, model: Model | None = None) -> tuple[Any, bool]:
    """The player, and whether it was made just now, for this seat alone."""
    is_class = isinstance(loaded, type)
    if not is_class and (isinstance(loaded, Policy) or hasattr(loaded, "act")):
        return loaded, False
    if not callable(loaded):
        raise _no_player(name, loaded)
    if is_class and inspect.isabstract(loaded):
        raise ParlourError(f"policy {name!r} is an abstract class; accepted: {KINDS}")
    needs = _needs(name, loaded, is_class=is_class)
    if needs and is_class:
        raise ParlourError(f"policy {name!r} is a class that needs {needs} arguments; accepted: {KINDS}")
    if needs:
        return loaded, False
    asks = is_class and issubclass(loaded, AskingPolicy)
    made = loaded(model) if asks else loaded()
    if isinstance(made, type):
        raise ParlourError(f"policy {name!r} makes a class; accepted: a function that makes a player")
    return made, True


def _kind(name: str, player: Any) -> Kind:
    """How a player is asked. Raises `ParlourError` if it is none."""
    act = getattr(player, "act", None)
    if act is None and not callable(player):
        raise _no_player(name, player)
    needs = _needs(name, player if act is None else act)
    if inspect.iscoroutinefunction(act or player) or inspect.iscoroutinefunction(type(player).__call__):
        raise ParlourError(f"policy {name!r} is asynchronous; accepted: {KINDS}")
    if act is not None and needs == 2:
        return "act"
    if act is None and needs in (1, 2):
        return "words" if needs == 1 else "pair"
    what = "has an act" if act is not None else "is a callable"
    raise ParlourError(f"policy {name!r} {what} with {needs} required arguments; accepted: {KINDS}")


def _needs(name: str, player: Callable[..., Any], *, is_class: bool = False) -> int:
    """How many arguments it requires. Raises `ParlourError` if that does not say what kind of player it is."""
    try:
        given = inspect.signature(player).parameters.values()
    except (TypeError, ValueError):
        raise ParlourError(f"policy {name!r} does not tell its arguments; accepted: {KINDS}") from None
    needed = [
        parameter
        for parameter in given
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    why = ""
    if any(parameter.kind is parameter.KEYWORD_ONLY for parameter in needed):
        why = "requires an argument by keyword"
    elif not is_class and any(parameter.kind is parameter.VAR_POSITIONAL for parameter in given):
        why = "takes any number of arguments"
    elif not is_class and any(
        parameter.name in _READ and parameter.default is not parameter.empty for parameter in given
    ):
        why = "has observation or info with a default, so that it may be of two kinds"
    if why:
        raise ParlourError(f"policy {name!r} {why}; accepted: {KINDS}")
    return len(needed)


def _reset_takes(name: str, player: Any) -> int | None:
    """How many of (seat, seed) its `reset` takes; None if it has none."""
    reset = getattr(player, "reset", None)
    if not callable(reset):
        return None
    signature = inspect.signature(reset)
    for takes in (2, 0):
        try:
            signature.bind(*range(takes))
        except TypeError:
            continue
        return takes
    raise ParlourError(f"policy {name!r} has a reset{signature}; accepted: reset(seat, seed), reset(), or none")


def _no_player(name: str, loaded: Any) -> ParlourError:
    return ParlourError(f"policy {name!r} is {loaded!r:.60} ({type(loaded).__name__}), no player; accepted: {KINDS}")
