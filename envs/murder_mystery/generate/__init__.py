"""Original cases from a seed: what happened, who knows what, the prose, the quiz, and the proof that it can be solved."""
