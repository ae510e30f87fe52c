"""What a statement claims, as a question: read by a model where there is one, else by rule (`parlour.envs.claims`)."""

from parlour.policies.agents.spoken.ask import ClaimsOfStatement, ReadClaims, claims_by, reader_by

__all__ = ["ClaimsOfStatement", "ReadClaims", "claims_by", "reader_by"]
