"""The parallel form and the AEC form are one game: a seat decides in both at the same turns, from the same observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardening.walks import Walk, shown_as_text
from parlour.envs.testing.table import follow

if TYPE_CHECKING:
    from hardening.tables import Scene


def differs_from_aec(scene: Scene) -> str:
    """Where a game that was played in cycles and one with the same moves, turn by turn, differ; empty if nowhere."""
    walk = scene.walk()
    walk.start(scene.drawn.seed)
    asked: dict[str, list[str]] = {agent: [] for agent in walk.env.agents}
    while not walk.over:
        _note(asked, walk)
        walk.step()
    aec, turns = walk.env.aec, scene.table.raw_env(observation="both", info="full", render_mode="ansi")
    for move in follow(turns, aec.moves):
        if move is not None and turns.outcome is None:
            agent = turns.agent_selection
            now = shown(turns.observe(agent), turns.infos[agent]["action_mask"])
            if now not in asked[agent]:
                return f"decides from another observation: {agent}, move {len(turns.moves)}"
            del asked[agent][: asked[agent].index(now) + 1]
    if (turns.outcome, turns.moves) != (aec.outcome, aec.moves):
        return "another outcome"
    return ""


def _note(asked: dict[str, list[str]], walk: Walk) -> None:
    for agent, seen in walk._now[0].items():
        if not seen["action_mask"][-1]:
            asked[agent].append(shown(seen, seen["action_mask"][:-1]))


def shown(seen: dict[str, Any], mask: Any) -> str:
    """What a seat decides from."""
    return shown_as_text((seen["text"], seen["observation"], mask))
