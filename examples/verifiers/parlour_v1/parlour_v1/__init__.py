"""parlour's games as an environment of verifiers: `vf-eval parlour-v1`. All of it is in `parlour.training.harnesses.verifiers`."""

from parlour.training.harnesses.verifiers import ChatHarness, GamesTaskset, TableEnv

__all__ = ["ChatHarness", "GamesTaskset", "TableEnv"]
