"""Tables and figures of `parlour reproduce` by paper, as fragments for the page on the papers."""

from __future__ import annotations

from parlour.training.papers.reproduce import TABLES

from parlour_pages.markdown import code, escaped, table

PAPERS = {
    "avalon": "Lan et al. 2023, Avalon agents (arXiv 2310.14985)",
    "gratr": "Zhu et al. 2024, graph retrieval augmented trustworthiness reasoning in Werewolf",
    "questum": "Zhu et al., Questum, murder mysteries",
    "player": "Zhu et al., PLAYER*, murder mysteries",
    "grace": "Nguyen, GRACE, mediated question answering",
}
"""First word of a name of `reproduce` -> the paper."""


def fragments() -> dict[str, str]:
    """`papers.md`: the reproduced tables and figures of each paper."""
    parts = []
    for paper, title in PAPERS.items():
        rows = []
        for name, made in TABLES.items():
            if name.partition("-")[0] == paper:
                games, practice = made.sizes
                size = f"{games:,}" + (f", practice {practice:,}" if practice else "")
                rows.append((code(f"parlour reproduce {name}"), escaped(made.about), size))
        parts.append(f"### {title}\n\n{table(('command', 'content', 'default size'), rows)}")
    return {"papers.md": "\n\n".join(parts) + "\n"}
