"""Players cloned from recorded games of Avalon: a conditional choice model of what recorded players did, cross-validated.

* choices: the decisions of a folder of transcripts, each with its legal moves in numbers, and what the heuristic would do
* report: held-out top-1 and log likelihood by decision and role, paired by game; calibration, tables, pictures
* run: one head (`policies/cloned/__init__.py`) fitted to choices, with PyTorch; what is compared (the clone, a plain logistic
  model, the heuristic, frequencies, chance), and `parlour train clone`
"""
