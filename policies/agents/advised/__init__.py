"""The advised talker: a language model or the rule of thumb speaks, a trained expert plans. Of parlour's own."""

from parlour.policies.agents.advised.ask import AdvisedTurn, OptionCost
from parlour.policies.agents.advised.player import AdvisedPlayer

__all__ = ["AdvisedPlayer", "AdvisedTurn", "OptionCost"]
