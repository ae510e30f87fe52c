"""GRATR: trust as a graph (Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning")."""

from parlour.policies.gratr.agent import GratrAgent
from parlour.policies.gratr.graph import TrustGraph
from parlour.policies.gratr.parameters import Parameters

__all__ = ["GratrAgent", "Parameters", "TrustGraph"]
