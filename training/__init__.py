"""Makes policies better, and measures them: rollout, evaluate, seat, transcripts of published games, the command line."""
