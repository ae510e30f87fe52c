"""Words: wording that games share, and readers of plain language that know no game."""
