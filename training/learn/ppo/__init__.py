"""Training one seat with MaskablePPO (sb3-contrib)."""
