"""Questum (Zhu et al.): whom to ask by information gain, and its procedure; PLAYER* shares it."""
