"""Our games as evaluations of Inspect AI: one task for each game, found as `parlour/avalon` and so on.

Interfaces of the package `inspect_ai` 0.3.285: tasks, solvers, scorers, spans and the logs that it writes.
"""
