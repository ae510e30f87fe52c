"""Links to other sites, listed but not followed: the build is offline."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from docutils import nodes

NAME = "external-links.txt"


def write_external(app: Any, error: Exception | None) -> None:
    """Write `external-links.txt` beside the pages: each address, and the pages that link to it."""
    if error is not None:
        return
    pages_of = defaultdict(set)
    for name in sorted(app.env.found_docs):
        for node in app.env.get_doctree(name).findall(nodes.reference):
            address = str(node.get("refuri", ""))
            if address.startswith(("http:", "https:")):
                pages_of[address].add(name)
    lines = [f"{address}  {' '.join(sorted(names))}\n" for address, names in sorted(pages_of.items())]
    (Path(app.outdir) / NAME).write_text("".join(lines), "utf-8")
