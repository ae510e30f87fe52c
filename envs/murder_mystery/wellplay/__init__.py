"""WellPlay folders: the loader, their question rows, and a check for irregularities."""
