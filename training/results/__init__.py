"""What a run leaves and shows: run directories, tables, pictures, pages.

Here: `result_table` (every table), `runs` (files of a run directory), `display` (terminal), `plots` (matplotlib), `pages`
(HTML of one file), `replay_page` (a transcript as a page). Not here: the figures themselves (`measure`). Start with `runs`
and `display`.
"""
