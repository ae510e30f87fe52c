"""Games of parlour as OpenSpiel games. Needs `open_spiel`."""
