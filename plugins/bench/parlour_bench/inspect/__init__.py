"""The suite as a task of Inspect AI, with the figures of the benchmark and of abilities as its metrics."""
