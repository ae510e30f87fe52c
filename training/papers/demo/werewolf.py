"""The demo's section on Werewolf: GRATR in mixed games against the paper's baselines, and one seat's trust as a graph."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.policies import GratrAgent, make_policy
from parlour.policies.agents.werewolf.gratr.export import write_history
from parlour.training.measure.werewolf.played import GAME
from parlour.training.measure.werewolf.trust_picture import draw
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Picture, Section, ahead_of, figures, summary
from parlour.training.papers.gratr import gratr_table_2
from parlour.training.papers.gratr_teams import OPPONENTS, PAPER, WEREWOLF_PLAYERS, WEREWOLF_RULES, blocks
from parlour.training.papers.reproduce import Reproduction, ReproductionSetting
from parlour.training.play import rollout, seeds
from parlour.training.results import display
from parlour.training.results.result_table import markdown_list, markdown_table
from parlour.training.results.verdicts import compared_with_each
from parlour.wrappers import Recorder

_SHARE: Final = 20
"""One twentieth of the deals of other measurements; each is played twice against each opponent."""
_COMPLEMENTS: Final = ("WWR", "LWR", "wins as werewolves", "wins as leaders")
"""What the other method's rows would only mirror."""
_PICTURE: Final = "trust.png"
_ROLE: Final = "Witch"
"""Whose trust is drawn: like the seer and the guard she sits in GRATR's block, and knows nobody for certain."""


def _section(out: Path, config: DemoConfig) -> Section:
    """Measure the mixed games, play one of them again, and draw what one seat thought."""
    games = max(2, config.games // _SHARE // 2 * 2)
    with display.progress_line() as progress:
        setting = ReproductionSetting(games=games, practice=0, seed=config.seed, progress=progress)
        reproduction = gratr_table_2("gratr-2", setting)
    transcript = out / "transcripts" / f"{GAME}-1.jsonl"
    chain = _trust(out / "werewolf", transcript, config.seed)
    first = [cell for cell in reproduction.cells if cell.measure == "TWR" and cell.row.startswith("GRATR")]
    lines = [f"{cell.row}: {figures(cell).ours}" for cell in first]
    short = summary("Werewolf, games won with the own block, all answered by heuristics", lines)
    picture = Picture(f"werewolf/{_PICTURE}", f"Werewolf: trust of the {_ROLE} in the others at the end of each day")
    return Section(
        "werewolf",
        _markdown(reproduction, chain),
        short,
        reproduction.as_json(),
        (transcript,),
        _verdict(reproduction),
        "Werewolf",
        picture,
    )


werewolf_section: Final = DemoPart(
    "Werewolf: graphs of trust against windows and retrieval, and what one seat thought",
    _section,
    lambda config: 1 + config.games / 28,
)


def _verdict(reproduction: Reproduction) -> str:
    """GRATR beside each baseline of the paper: both play the werewolves of the same deals."""
    names = {f"{opponent.label} v. GRATR": opponent.label for opponent in OPPONENTS}
    gains = {names[c.row]: ahead_of(c) for c in reproduction.cells if c.measure == "TWR" and c.row in names}
    return compared_with_each("GRATR", {name: gain for name, gain in gains.items() if gain})


def _trust(folder: Path, transcript: Path, seed: int) -> list[str]:
    """Play one mixed game; leave it as a transcript, the trust of GRATR's witch as a picture and as data, and explain its last belief."""
    env: Any = rollout.table(GAME, num_players=WEREWOLF_PLAYERS, rules=WEREWOLF_RULES)
    deal = seeds.HELD_OUT[seed]
    seated = blocks(env, deal, OPPONENTS[0].policy)["gratr-leaders"]
    roles = [env.game_env.view(seat).role for seat in range(WEREWOLF_PLAYERS)]
    make = partial(make_policy, game=GAME, config=env.game_env.game.config)
    players = [make(who) for who in seated]
    named = {agent: str(who) for agent, who in zip(env.possible_agents, seated, strict=True)}
    recorded = Recorder(env, transcript, header={"players": named}, overwrite=True)
    episode = rollout.play(recorded, players, deal)
    recorded.close()
    seat = roles.index(_ROLE)
    agent = players[seat]
    assert isinstance(agent, GratrAgent), f"the seat is {PAPER}'s"
    agent.watch(episode.last_views[seat])
    graph = agent.graph
    assert graph is not None, "the seat had a turn"
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("json", "graphml"):
        write_history(graph, folder / f"trust.{ending}")
    draw(
        graph,
        folder / _PICTURE,
        name=lambda k: f"player_{k}\n{roles[k]}",
        title=f"What player_{seat}, the {_ROLE}, thought; {episode.outcome.winner} won",
        who=f"One mixed game of {GAME}: {PAPER} and {OPPONENTS[0].policy}, a block of seats each, answered by heuristics",
    )
    others = [k for k in range(WEREWOLF_PLAYERS) if k != seat]
    living = [k for k in others if k not in graph.history[-1].dead]
    least = min(living or others, key=lambda k: graph.trust[k])
    return agent.explain(least).lines(depth=1)


def _markdown(reproduction: Reproduction, chain: list[str]) -> str:
    rows = [
        (cell.row, cell.measure, *figures(cell))
        for cell in reproduction.cells
        if cell.row.startswith("GRATR") or cell.measure not in _COMPLEMENTS
    ]
    table = markdown_table(("players", "measure", "paper", "ours", "from the other method, same deals"), rows)
    because = "\n".join(["```", *(f"    {line}" for line in chain), "```"])
    return f"""## Werewolf, trust graphs against windows and retrieval

8 players, the paper's table and rules; four seats each. All methods act by the same heuristics on what they infer: no
language model played. `parlour reproduce gratr-2` plays more games.

{table}

{markdown_list(reproduction.remarks)}

### What one seat thought, and why

The picture at the top shows the trust of the {_ROLE} in one recorded game. Why it trusts one player the least:

{because}

Data: werewolf/trust.json, werewolf/trust.graphml.
"""
