"""A run: its folder, its checkpoints, its progress and the loggers that follow it.

Here: `run` (one process at a time, one configuration, checkpoints, resume), `folder` (files that are whole or not there), `progress`,
`loggers`. Not here: what a run learns (`learn`) and how its result is shown (`report`).
"""
