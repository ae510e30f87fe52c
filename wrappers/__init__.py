"""Environment -> environment: wrappers for learners, readers and records."""

from parlour.wrappers.batch_seat import BatchObservationsKey, BatchSeatEnv
from parlour.wrappers.conversation import Conversation, ConversationSeat
from parlour.wrappers.learner_seats import LearnerSeats, SeatEnv
from parlour.wrappers.record import Recorder
from parlour.wrappers.shapes import (
    HistoryWindow,
    LegalRanks,
    MaskInInfo,
    NumericFeatures,
    ObservationsKey,
    ParallelLegalRanks,
    ParallelMaskInInfo,
    ParallelObservationsKey,
)
from parlour.wrappers.text_actions import TextActions
from parlour.wrappers.turns import SealedTurn, TurnInInfo

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
    "Recorder",
    "SealedTurn",
    "SeatEnv",
    "TextActions",
    "TurnInInfo",
]
