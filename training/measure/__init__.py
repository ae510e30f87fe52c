"""Measuring players: win rates with intervals, rankings, and what players of one game did.

Here: `evaluate` (two designs on common deals), `arena` (everybody against everybody), `decision_tables` (whose decisions),
`avalon`, `werewolf`, `murder_mystery` (measures of one game). Not here: how reports are written
(`report`), the papers' own tables (`papers`). Start with `evaluate.single`.
"""
