"""A live table: people play with each other and with parlour's players in their browsers, and others watch.

`games` plays in a thread of its own, `boards` hold what each browser is shown, `waiting` makes what they show before the first game,
`sockets` and `opening` send it; the files in `look` are the page.
"""
