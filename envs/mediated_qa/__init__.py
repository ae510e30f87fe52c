"""Mediated question answering after GRACE: a mediator advises a retriever, a generator and a verifier, question by question.

| | |
|---|---|
| Name | `mediated_qa_v0` |
| Players | 1-4, agents `mediator`, `retriever`, `generator`, `verifier`; the mediator alone with `modules=False` |
| Returns | the net utility of all questions for every seat (`pay="shared"`); with `pay="own"` modules pay for their own action only |
| Reasons of the end | `right`, `wrong`, `abstained` (one question), `questions` (several), `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: joint actions to recommend, then the actions of each module |
| Features | see `encode.py` |
| Time | turns have one fixed order, in the AEC form and in cycles, and reveal nothing |

Each question has three steps:

1. The mediator sees the question and the state (T, Q) of the graph around it, and recommends a joint action.
2. Each module sees the state and its own recommendation, and chooses an action without seeing the others.
3. Nature plays the result: evidence, answer, verdict, judgement. These moves contain the words, so a replay needs no service.

Outcomes and costs:

| outcome | pays |
|---|---|
| right answer | +120 |
| wrong answer | -40 |
| abstained, closed-book answer wrong | +10 |
| abstained, closed-book answer right | -20 |

| action | cost |
|---|---|
| retrieve: shallow, deep, none | 1, 3, 0 |
| generate: from evidence, with consistency, closed book, refuse | 2, 5, 2, 0 |
| verify: check, skip | 4, 0 |

`joint="published"` offers the nine joint actions of the published run; `joint="all"` the 17 feasible ones of 24. The other seven
cannot be executed as named. Without retrieval there is no evidence to generate from (2) or to check against (3 more). After a
refusal there is no answer to check (2 more).

Modules may still reach these combinations by disobeying, or when retrieval returns nothing. Then generation becomes the closed-book
answer and the check is left out. Only executed actions are charged. A check that contradicts the answer turns it into an abstention.

`actions` takes an `actions.ActionSet` with names, costs and kinds of your own actions. The kinds decide which joint actions are
feasible. The default is the published nine.

By default an offline service answers from a generated corpus (`corpus_seed`, `corpus_size`, `difficulty`). You can pass another
`service`. It is not part of the configuration, because replay needs none.

Sources: K. Nguyen, "GRACE: Graph Reasoning with Adaptive Correlated Equilibrium" (rules), and the configuration published with its
code (numbers). Departures, such as the state s0 of a question without a link: decisions 2.1 to 2.6.

Versions: v0, first.
"""

from __future__ import annotations

from typing import ClassVar

from parlour.envs.mediated_qa.options import MediatedOptions
from parlour.envs.mediated_qa.rules import MediatedQA
from parlour.envs.spec import GameSpec


class MediatedSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "mediated_qa_v0"
    title: ClassVar[str] = "Mediated question answering (GRACE)"
    options: ClassVar[type[MediatedOptions]] = MediatedOptions
    heuristic = "parlour.policies.heuristic.mediated_qa:MediatedPlayer"
    wording = "parlour.envs.mediated_qa.text:MediatedText"
    encoders = "parlour.envs.mediated_qa.encode:MediatedEncoders"

    def build(self, options: MediatedOptions) -> MediatedQA:
        """The rules of one table."""
        return MediatedQA(options)


GAME = MediatedSpec()
