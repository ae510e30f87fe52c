"""Print how fast environments, memory and graphs are, as ratios within one run. Usage: python scripts/bench/all.py [--rounds N]"""

import argparse

import environments
import knowledge_graph
import retrieval_memory
import text_games
import trust_graph

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rounds", type=int, default=9, help="rounds; the median is quoted")
parser.add_argument("--games", type=int, default=300, help="games of Avalon in each round")
chosen = parser.parse_args()
environments.main(chosen.rounds, chosen.games)
text_games.main(chosen.rounds)
retrieval_memory.main()
trust_graph.main()
knowledge_graph.main()
