"""Any game as a PettingZoo environment: written once for all games."""
