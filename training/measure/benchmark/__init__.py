"""The benchmark: one player on a fixed, versioned suite of tables, one number with its interval. docs/howto/benchmark.md."""
