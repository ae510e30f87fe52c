"""Environment -> environment: one file and one sentence each."""

from parlour.wrappers.batch_observations_key import BatchObservationsKey
from parlour.wrappers.batch_seat import BatchSeatEnv
from parlour.wrappers.conversation import Conversation, ConversationSeat
from parlour.wrappers.features import NumericFeatures
from parlour.wrappers.history import HistoryWindow
from parlour.wrappers.learner_seats import LearnerSeats
from parlour.wrappers.legal_ranks import LegalRanks, ParallelLegalRanks
from parlour.wrappers.mask_in_info import MaskInInfo, ParallelMaskInInfo
from parlour.wrappers.observations_key import ObservationsKey, ParallelObservationsKey
from parlour.wrappers.record import Recorder
from parlour.wrappers.rewards import QuestRewards
from parlour.wrappers.sealed_turn import SealedTurn
from parlour.wrappers.seat import SeatEnv
from parlour.wrappers.text_actions import TextActions
from parlour.wrappers.turn_in_info import TurnInInfo

__all__ = [
    "BatchObservationsKey",
    "BatchSeatEnv",
    "Conversation",
    "ConversationSeat",
    "HistoryWindow",
    "LearnerSeats",
    "LegalRanks",
    "MaskInInfo",
    "NumericFeatures",
    "ObservationsKey",
    "ParallelLegalRanks",
    "ParallelMaskInInfo",
    "ParallelObservationsKey",
    "QuestRewards",
    "Recorder",
    "SealedTurn",
    "SeatEnv",
    "TextActions",
    "TurnInInfo",
]
