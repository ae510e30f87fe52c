"""Pages of one file that open from disk: the shared look (style, ring of seats, conversation, tables, charts) and who may run.

`page.render` joins style, scripts and data into one HTML text; `report` makes pages of tables and pictures. The first lines of
the scripts in `look/` say what they offer.
"""
