"""Records of games that others played: formats, names in what was said, the way through the rules.

Here: `reading` (what a format is, how files become transcripts), `in_words` (a form for any game of hidden roles), `avalon`
and `werewolf` (formats of one game), `json_objects` (reading JSON from outside). Not here: what recorded players were like
(`measure`). Start with `reading`.
"""
