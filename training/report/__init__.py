"""How results are shown: tables, terminal, pictures, pages of one file. It knows no feature.

Here: `report` (one result in all its forms), `result_table` (every table), `display` (terminal), `plots` (matplotlib), `verdicts`, `page` (style, scripts and data joined into
one HTML text; the first lines of the scripts in `look/` say what they offer), `html` (pages of tables and pictures).
Not here: the figures themselves (`measure`). Start with `report`.
"""
