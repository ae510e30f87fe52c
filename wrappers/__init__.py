"""Environment -> environment: one file and one sentence each."""

from parlour.wrappers.features import NumericFeatures
from parlour.wrappers.history import HistoryWindow
from parlour.wrappers.learner_seats import LearnerSeats
from parlour.wrappers.mask_in_info import MaskInInfo, ParallelMaskInInfo
from parlour.wrappers.observations_key import ObservationsKey, ParallelObservationsKey
from parlour.wrappers.record import Recorder
from parlour.wrappers.rewards import QuestRewards
from parlour.wrappers.seat import SeatEnv
from parlour.wrappers.text_actions import TextActions

__all__ = [
    "HistoryWindow",
    "LearnerSeats",
    "MaskInInfo",
    "NumericFeatures",
    "ObservationsKey",
    "ParallelMaskInInfo",
    "ParallelObservationsKey",
    "QuestRewards",
    "Recorder",
    "SeatEnv",
    "TextActions",
]
