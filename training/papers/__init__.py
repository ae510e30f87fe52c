"""Published results, reproduced: each paper's tables and figures beside ours, and the studies that belong to one paper.

Here: `reproduce` (the list of tables), one file for the tables of each paper, `avalon_social` (Lan et al. 2023), `demo` (the
main job offline). Not here: measures that other commands use too (`measure`). Start with `reproduce.TABLES`.
"""
