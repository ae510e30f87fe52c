"""WellPlay folders: the loader, and their question rows."""
