"""Seeded samples of small wrong changes (mutants) of the product, and which of them the tests notice: `scripts/mutants`."""
