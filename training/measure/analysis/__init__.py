"""Who inferred better: recorded games of Avalon under exact beliefs, decision by decision, and players beside the heuristic.

* games: a transcript played again: roles, events, the moments at which seats decided, notes of the record
* beliefs: what each seat, and an onlooker, could believe after each event
* decisions: each decision: its surprise under habits, what the heuristic does at the same View, which was right
* values: what a decision lost, by continuations from what its seat knew
* compare: votes and guesses of a folder against the heuristic's, paired by game
* pages, pictures, tables, report: what is written
* run: `parlour analyse`
"""
