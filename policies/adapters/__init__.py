"""Other people's players at our tables, and ours in other people's code: one file for each library.

Nothing here is imported before it is asked for; each file needs the library it is named after, and parlour's core none.
"""
