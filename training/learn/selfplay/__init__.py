"""Populations: a learner against a frozen pool of what it was before, with ratings and a cross-play matrix."""
