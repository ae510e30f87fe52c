"""A page for each named player: what it is, its game, its settings with defaults, its questions to a model."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parlour.envs.settings import Settings, accepted
from parlour.policies import FOREIGN, REGISTRY, make_policy, names_of
from parlour.policies.experts.catalogue import EXPERT, cards
from parlour.policies.llm.ask import ASKS
from parlour.policies.llm.model import OfflineModel
from parlour.policies.mixture import MixedPolicy
from parlour.policies.names import MIXED, ZOO
from parlour.policies.search.policy import SEARCH, SearchPolicy
from parlour.policies.trained import TrainedSeat

from parlour_pages.markdown import code, of_docstring, read_next, summary, table

READ_ON = {
    EXPERT: ("explanation/experts", "explanation/strength"),
    **dict.fromkeys(ZOO, ("howto/strangers",)),
    "grace": ("howto/mediators", "explanation/mediators"),
    "obedient": ("howto/mediators",),
    "gratr": ("explanation/dials",),
    "questum": ("explanation/questum",),
    "avalon_agent": ("howto/questions", "howto/models"),
    "chat": ("howto/models",),
    **{name: (f"integrations/{name}", "integrations/players") for name in FOREIGN},
}
"""Player -> pages to read next."""


def made(name: str, game: str, env: Any) -> Any:
    """The player of that name at this table."""
    return make_policy(name, game, env.unwrapped.game.config, OfflineModel())


def pages() -> dict[str, str]:
    """`NAME.md` for each player, and `index.md`."""
    said, page = _of_class("trained", TrainedSeat)
    made_pages = {
        **{name: _of_class(name, REGISTRY[name].cls) for name in names_of("plain", "asking", "modules")},
        EXPERT: _expert(),
        MIXED: _of_class(MIXED, MixedPolicy),
        SEARCH: _of_class(SEARCH, SearchPolicy),
        **{name: _of_class(name, REGISTRY[name].cls) for name in ZOO},
        "trained": (said, page.replace("# trained\n", "# A trained seat\n\n`--policy policy.npz` seats it.\n", 1)),
    }
    made_pages |= {name: _foreign(name) for name in FOREIGN}
    rows = [(f"[{code(name)}]({name}.md)", said) for name, (said, _) in made_pages.items()]
    entries = "\n".join(made_pages)
    head = "# Players\n\n`--policy NAME` seats a player; `parlour.policies.make_policy` makes one in Python. Without `--model`, heuristics answer the players' questions."
    index = f"{head}\n\n{table(('player', 'what it is'), rows)}\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    return {**{f"{name}.md": page for name, (_, page) in made_pages.items()}, "index.md": index}


def _of_class(name: str, cls: Any) -> tuple[str, str]:
    doc = inspect.getdoc(cls) or ""
    module = sys.modules[cls.__module__].__doc__ or ""
    plays = vars(cls).get("plays") or getattr(cls, "plays", None)
    where = f"It plays [{code(plays[1])}](../../reference/games/{plays[1]}.md)." if plays else ""
    said = summary(module if doc.startswith("...") else doc)  # "..." continues another docstring
    parts = [
        f"# {name}",
        of_docstring(module),
        f"## The class\n\n{{py:class}}`~{cls.__module__}.{cls.__qualname__}`",
        of_docstring(doc),
        where,
        _settings(name, cls.settings_type),
        _asks(cls),
        read_next(READ_ON.get(name, ())),
    ]
    return said, "\n\n".join(part for part in parts if part) + "\n"


def _settings(name: str, kind: type[Settings]) -> str:
    """Settings after the name, with what they accept and their defaults."""
    rows = list(_rows(kind))
    if not rows:
        return ""
    how = f"Settings follow the name: `{name}:{next(iter(kind.model_fields))}=VALUE`."
    return f"## Settings\n\n{how}\n\n{table(('setting', 'default', 'accepted', 'meaning'), rows)}"


def _rows(kind: type[Settings], made: Settings | None = None) -> Iterator[tuple[str, str, str, str]]:
    """A row for each setting; those of an inner object, with its values, stand among the others."""
    for name, field in kind.model_fields.items():
        value = getattr(made, name, None) if made else field.get_default(call_default_factory=True)
        if isinstance(value, Settings):
            yield from _rows(type(value), value)
            continue
        default = "needed" if field.is_required() else code(_shown(value))
        yield code(name), default, accepted(field), of_docstring(field.description or "")


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return str(value) if isinstance(value, str | int | float) else "none"


def _asks(cls: Any) -> str:
    """The questions defined in the player's folder."""
    folder = cls.__module__.rpartition(".")[0]
    rows = [
        (code(kind), summary(inspect.getdoc(ask) or ""))
        for kind, ask in ASKS.items()
        if ask.__module__.rpartition(".")[0] == folder and ".agents." in cls.__module__
    ]
    text = "Questions that it may ask a model. `parlour show question KIND` shows one as it would be sent."
    return f"## Questions\n\n{text}\n\n{table(('question', 'content'), rows)}" if rows else ""


def _expert() -> tuple[str, str]:
    doc = sys.modules["parlour.policies.experts.catalogue"].__doc__ or ""
    rows = []
    for card in cards():
        config = ", ".join(f"{key}={value!r}" for key, value in card.config.items() if key != "roles")
        rows.append((card.name, code(card.game), code(config), f"{card.decisions:,}", code(card.command)))
    listed = table(("expert", "game", "table", "training decisions", "training command"), rows)
    return summary(
        doc
    ), f"# {EXPERT}\n\n{of_docstring(doc)}\n\n## Available experts\n\n{listed}\n{read_next(READ_ON[EXPERT])}\n"


def _foreign(name: str) -> tuple[str, str]:
    """Read from the source, without its library."""
    spec = find_spec(f"parlour.policies.adapters.{name}")
    tree = ast.parse(Path(str(spec.origin if spec else "")).read_text("utf-8"))
    doc = ast.get_docstring(tree) or ""
    settings = _settings(name, REGISTRY[name].settings_for())
    text = f"# {name}\n\n{of_docstring(doc)}\n\nNeeds the extra `{name}`.\n\n{settings}\n\n{read_next(READ_ON.get(name, ()))}\n"
    return summary(doc), text
