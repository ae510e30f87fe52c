"""Questum (Zhu et al.): the choice of suspects by information gain, and its procedure; PLAYER* shares it."""
