"""Tuning the few numbers of an agent from the rewards of whole episodes."""
