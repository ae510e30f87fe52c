"""Measuring players: win rates with intervals, rankings, benchmarks, and what players of one game did.

Here: `evaluate` (two designs on common deals), `arena` (everybody against everybody), `benchmark` (a fixed suite),
`statistics` (every interval), `analysis`, `werewolf`, `murder_mystery` (measures of one game). Not here: tables and pages
(`results`), the papers' own tables (`papers`). Start with `evaluate.single`.
"""
