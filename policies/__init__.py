"""Observation -> action: the players that parlour brings, and `REGISTRY`, by which they are found by name.

A player's module is imported when its name is first used (PEP 562), so that a command pays only for the players that it seats.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from parlour.policies.registry import (
    FOREIGN as FOREIGN,
    REGISTRY as REGISTRY,
    PolicyKind,
    asks_a_model,
    checkpoint_settings as checkpoint_settings,
    make_policy,
    names_of as names_of,
    players_of,
    register,
    settings_of as settings_of,
)

if TYPE_CHECKING:
    from parlour.policies.agents.avalon import AvalonAgent, BaselineAgent
    from parlour.policies.agents.chat.player import ChatPlayer
    from parlour.policies.agents.mediated_qa import GraceMediator, ObedientModule
    from parlour.policies.agents.murder_mystery import QuestumAgent
    from parlour.policies.agents.werewolf import RerankAgent, RetrievalAgent, WindowAgent
    from parlour.policies.agents.werewolf.gratr import GratrAgent
    from parlour.policies.base import Policy
    from parlour.policies.experts.catalogue import expert
    from parlour.policies.heuristic.policy import HeuristicPolicy
    from parlour.policies.human import HumanPolicy
    from parlour.policies.llm.model import OfflineModel
    from parlour.policies.mixture import MixturePolicy
    from parlour.policies.random import RandomPolicy
    from parlour.policies.trained import TrainedSeat

__all__ = [
    "AvalonAgent",
    "BaselineAgent",
    "ChatPlayer",
    "GraceMediator",
    "GratrAgent",
    "HeuristicPolicy",
    "HumanPolicy",
    "MixturePolicy",
    "ObedientModule",
    "OfflineModel",
    "Policy",
    "PolicyKind",
    "QuestumAgent",
    "RandomPolicy",
    "RerankAgent",
    "RetrievalAgent",
    "TrainedSeat",
    "WindowAgent",
    "asks_a_model",
    "expert",
    "make_policy",
    "players_of",
    "register",
]
_HOMES: Final = {
    home.partition(":")[2]: home.partition(":")[0]
    for kind in REGISTRY.here().values()
    if isinstance(home := kind.home, str) and not kind.extra
} | {
    "OfflineModel": "parlour.policies.llm.model",
    "Policy": "parlour.policies.base",
    "TrainedSeat": "parlour.policies.trained",
    "expert": "parlour.policies.experts.catalogue",
}


def __getattr__(name: str) -> Any:
    """A player's class, imported now."""
    if name not in _HOMES or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
