"""Environment -> environment: one file and one sentence each."""

from parlour.wrappers.features import NumericFeatures
from parlour.wrappers.history import HistoryWindow
from parlour.wrappers.record import Recorder
from parlour.wrappers.rewards import QuestRewards
from parlour.wrappers.seat import SeatEnv
from parlour.wrappers.text_actions import TextActions

__all__ = ["HistoryWindow", "NumericFeatures", "QuestRewards", "Recorder", "SeatEnv", "TextActions"]
