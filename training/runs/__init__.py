"""A run: its folder, its checkpoints, its progress and the loggers that follow it.

Here: `folder` (one process at a time, one configuration, files that are whole or not there), `checkpoints`, `progress`, `loggers`.
Not here: what a run learns (`learn`) and how its result is shown (`report`).
"""
