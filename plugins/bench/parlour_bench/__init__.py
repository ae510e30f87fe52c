"""The benchmark: one player on a fixed, versioned suite of tables, one score with its interval. README.md of the plugin."""
