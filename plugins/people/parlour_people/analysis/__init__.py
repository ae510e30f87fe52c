"""Who inferred better: recorded games of Avalon under exact beliefs, decision by decision, and players beside the heuristic.

* decisions: each decision: its surprise under habits, what the heuristic does at the same View, which was right
* compare: votes and guesses of a folder against the heuristic's, paired by game
* pictures, tables, report: what is written
* run: `parlour analyse`

Games as they are played again come from `parlour.training.measure.avalon.games`.
"""
