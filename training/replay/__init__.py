"""Replay pages: a transcript as one HTML file that opens from disk, and an index of a folder of them. Ours.

`model.py` is the schema of a page's data, `build.py` makes it from a transcript, the games' own parts are beside them.
The browser's side is in `look/` here, and what all pages share is in `parlour.training.report`.
"""
