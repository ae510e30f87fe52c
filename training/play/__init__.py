"""Playing games: the loop that everybody uses, many games at once.

Here: `rollout` (one game), `runner` (lists of games; `parallel` has its threads, processes and machines), `outside` (seats
played by callers from outside), `stored_games` (games read back from transcripts), `decisions` and `failures` (who decided,
and what follows when a player fails). Not here: what games are worth (`measure`), and learning from them (`learn`). Start with `rollout.play`.
"""
