"""The social behaviour of players, measured in what they said: Avalon, after Lan et al. 2023 (arXiv 2310.14985).

`judge` asks a model, or heuristics, about every utterance; `measures` counts over the answers.

    judged = social.judge_directory("runs/published")
    print(social.measures(judged)["groups"]["good"]["identity"])
"""

from parlour.training.papers.avalon_social.judging import Judged, judge, judge_directory
from parlour.training.papers.avalon_social.measures import measures

__all__ = ["Judged", "judge", "judge_directory", "measures"]
