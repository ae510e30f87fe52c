"""GRACE: a mediator that recommends what retriever, generator and verifier shall do with a question."""

from parlour.policies.grace.mediator import GraceMediator
from parlour.policies.grace.policy_file import PolicyTable

__all__ = ["GraceMediator", "PolicyTable"]
