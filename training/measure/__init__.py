"""Measuring players: win rates with intervals, rankings, and what players of one game did.

Here: `evaluate` (two designs on common deals), `arena` (everybody against everybody), `statistics` (every interval),
`avalon`, `werewolf`, `murder_mystery` (measures of one game). Not here: tables and pages
(`results`), the papers' own tables (`papers`). Start with `evaluate.single`.
"""
