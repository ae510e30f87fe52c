"""How Sphinx builds the site: `scripts/docs`. Nothing is fetched while it builds; warnings are errors there."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "parlour"
author = "the authors of parlour"
version = release = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]

extensions = ["myst_nb", "autodoc2", "parlour_pages.extension"]
exclude_patterns = ["_build", "generated/papers.md", "generated/extra", "**/.ipynb_checkpoints"]
suppress_warnings = [
    "autodoc2.dup_item",  # a field that a class declares and its `__init__` sets
    "ref.python",  # an annotation such as `type`, which is the name of fields, too
]

smartquotes = False
html_theme = "furo"
html_title = "parlour"
html_extra_path = ["generated/extra"]  # recorded games, written before the pages are
(Path(__file__).parent / html_extra_path[0]).mkdir(parents=True, exist_ok=True)
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
python_use_unqualified_type_names = True
highlight_language = "none"

myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc2_packages = [
    {"path": f"../{name}", "module": f"parlour.{name}"} for name in ("envs", "wrappers", "policies", "training")
]
autodoc2_output_dir = "generated/api"
autodoc2_index_template = None
autodoc2_render_plugin = "parlour_pages.api.ApiRenderer"
autodoc2_hidden_objects = ["dunder", "private", "inherited"]
