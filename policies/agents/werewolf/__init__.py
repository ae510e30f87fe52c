"""The agents that GRATR is compared with: a window of the history, with and without retrieval."""

from parlour.policies.agents.werewolf.agents import RerankAgent, RetrievalAgent, WindowAgent

__all__ = ["RerankAgent", "RetrievalAgent", "WindowAgent"]
