"""Play TextArena both ways and count what was invalid; no language model plays. See docs/integrations/textarena.md."""

import argparse
from collections import Counter
from pathlib import Path

import textarena as ta
from parlour.policies import ChatPlayer, RandomPolicy
from parlour.policies.adapters.callables import ForeignPlayer
from parlour.policies.adapters.textarena import TextArenaAgent, play_textarena
from parlour.policies.by_text import options_in
from parlour.policies.files import write_json
from parlour.training.play.rollout import play, table

THEIRS = {"SecretMafia-v0": 7, "KuhnPoker-v0": 2, "TicTacToe-v0": 2}
OURS = {"avalon_v0": 5, "werewolf_v0": 8}


class LastOption(ta.Agent):
    """An agent that has read how our prose lists what may be done."""

    def __call__(self, observation):
        return options_in(observation)[-1]


class Brackets(ta.Agent):
    """An agent that answers everything as TextArena's games want it."""

    def __call__(self, observation):
        return "I say we go for [Player 2]."


def main():
    """Play, print, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/textarena"))
    chosen, counts = parser.parse_args(), {}
    for name, n in THEIRS.items():
        count = counts[f"random and chat at {name}"] = Counter(turns=0, invalid=0)
        for seed in range(chosen.seed, chosen.seed + chosen.games):
            agents = [TextArenaAgent((RandomPolicy, ChatPlayer)[k % 2](), k, seed) for k in range(n)]
            game = play_textarena(ta.make(name), agents, seed)
            count.update(turns=game.turns, invalid=sum(game.invalid))
    for name, n in OURS.items():
        for agent in (LastOption, Brackets):
            count = counts[f"{agent.__name__} at {name}"] = Counter(unreadable=0, ambiguous=0, illegal=0, replaced=0)
            for seed in range(chosen.seed, chosen.seed + chosen.games):
                players = [ForeignPlayer(agent.__name__, agent()), *(RandomPolicy() for _ in range(n - 1))]
                count.update(play(table(name, num_players=n), players, seed).faults["player_0"])
    for what, count in counts.items():
        print(f"{what}: {', '.join(f'{value} {key}' for key, value in count.items())}")
    write_json(chosen.out / "report.json", {"games": chosen.games, "seed": chosen.seed, "counts": counts})


if __name__ == "__main__":
    main()
