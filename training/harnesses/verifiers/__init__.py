"""Our games as an environment of the library `verifiers`, its `v1` interface: to evaluate models and to train them.

`games` says which games are dealt, `table` plays one, `chat` asks the model in this process. `examples/verifiers/parlour_v1` is
the package by which verifiers finds them.
"""

from parlour.training.harnesses.verifiers.chat import ChatConfig, ChatHarness
from parlour.training.harnesses.verifiers.games import GameData, GamesConfig, GamesTaskset, GameTask
from parlour.training.harnesses.verifiers.table import TableConfig, TableEnv

__all__ = [
    "ChatConfig",
    "ChatHarness",
    "GameData",
    "GameTask",
    "GamesConfig",
    "GamesTaskset",
    "TableConfig",
    "TableEnv",
]
