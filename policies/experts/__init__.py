"""Experts: trained networks that come with parlour, each for one table. Start with `catalogue`."""
