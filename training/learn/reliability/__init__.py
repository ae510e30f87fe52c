"""How far GRATR can rely on each kind of evidence, learned from played episodes: `parlour train gratr-trust`."""
