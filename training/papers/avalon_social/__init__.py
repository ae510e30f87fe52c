"""The social behaviour of players, measured in what they said: Avalon, after Lan et al. 2023 (arXiv 2310.14985).

`judge` puts questions about every utterance to a model, or to heuristics; `measures` counts over the answers;
`agreement` tells how far a judge agrees with labels that were set by hand.

    judged = social.judge_directory("runs/published")
    print(social.measures(judged)["groups"]["good"]["identity"])
"""

from parlour.training.papers.avalon_social.judging import Judged, judge, judge_directory
from parlour.training.papers.avalon_social.labels import agreement
from parlour.training.papers.avalon_social.measures import measures

__all__ = ["Judged", "agreement", "judge", "judge_directory", "measures"]
