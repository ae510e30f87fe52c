"""`search:expert`: play continuations of the game from what the seat holds possible, and choose by their results. Start with `policy`."""
