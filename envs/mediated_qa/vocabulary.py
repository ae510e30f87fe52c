"""What the modules may do, what it costs, and what is done in its place where it cannot be done.

Names, costs and utilities come from the published configuration of GRACE; the list `PUBLISHED` has the order of the
columns of its published calibration table.
"""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

from parlour.envs.core import Event, Move, Number


class Module(Number):
    """Modules by seat."""

    MEDIATOR = 0
    RETRIEVER = 1
    GENERATOR = 2
    VERIFIER = 3


AGENTS: Final = tuple(module.name.lower() for module in Module)

RETRIEVER_ACTIONS: Final = ("retrieve_shallow", "retrieve_deep", "skip_retrieval")
GENERATOR_ACTIONS: Final = ("generate", "generate_consistency", "generate_parametric", "refuse_to_generate")
VERIFIER_ACTIONS: Final = ("run_nli_check", "skip_check")
MODULE_ACTIONS: Final = ((), RETRIEVER_ACTIONS, GENERATOR_ACTIONS, VERIFIER_ACTIONS)
"""Seat -> the names of its actions; the mediator has joint actions instead."""


class Retrieve(Number):
    """Actions of the retriever, in the order of `RETRIEVER_ACTIONS`."""

    SHALLOW = 0
    DEEP = 1
    NOTHING = 2


class Generate(Number):
    """Actions of the generator, in the order of `GENERATOR_ACTIONS`."""

    FROM_EVIDENCE = 0
    CONSISTENT = 1
    PARAMETRIC = 2
    REFUSE = 3


class Check(Number):
    """Actions of the verifier, in the order of `VERIFIER_ACTIONS`."""

    RUN = 0
    SKIP = 1


LEVELS: Final = ("low", "mid", "high")
NO_SIGNAL: Final = "s0"
STATES: Final = (*(f"T:{t}_Q:{q}" for t, q in product(LEVELS, LEVELS)), NO_SIGNAL)
"""Trust in the documents (T) and quality of the path between them (Q), as the published policy file names them."""

VERDICTS: Final = ("none", "entailment", "neutral", "contradiction")


class CheckVerdict(Number):
    """Verdicts of the check, in the order of `VERDICTS`."""

    UNCHECKED = 0
    ENTAILED = 1
    NEUTRAL = 2
    CONTRADICTED = 3


class Joint(NamedTuple):
    """A joint action: numbers into the three lists of names."""

    retriever: int
    generator: int
    verifier: int

    @property
    def names(self) -> tuple[str, str, str]:
        """The same in names."""
        return RETRIEVER_ACTIONS[self[0]], GENERATOR_ACTIONS[self[1]], VERIFIER_ACTIONS[self[2]]


PUBLISHED: Final = (
    Joint(Retrieve.SHALLOW, Generate.FROM_EVIDENCE, Check.RUN),
    Joint(Retrieve.SHALLOW, Generate.FROM_EVIDENCE, Check.SKIP),
    Joint(Retrieve.SHALLOW, Generate.REFUSE, Check.SKIP),
    Joint(Retrieve.DEEP, Generate.FROM_EVIDENCE, Check.RUN),
    Joint(Retrieve.DEEP, Generate.FROM_EVIDENCE, Check.SKIP),
    Joint(Retrieve.DEEP, Generate.REFUSE, Check.SKIP),
    Joint(Retrieve.SHALLOW, Generate.CONSISTENT, Check.SKIP),
    Joint(Retrieve.DEEP, Generate.CONSISTENT, Check.SKIP),
    Joint(Retrieve.NOTHING, Generate.PARAMETRIC, Check.SKIP),
)
FALLBACK: Final = Joint(Retrieve.SHALLOW, Generate.REFUSE, Check.SKIP)


def _feasible(joint: Joint) -> bool:
    """Whether there is evidence to read and an answer to check, if retrieval finds something."""
    retriever, generator, verifier = joint
    unread = generator == Generate.FROM_EVIDENCE and retriever == Retrieve.NOTHING
    return not unread and (verifier == Check.SKIP or (retriever != Retrieve.NOTHING and generator != Generate.REFUSE))


_EVERY: Final = map(Joint._make, product(range(3), range(4), range(2)))
ALL: Final = PUBLISHED + tuple(joint for joint in _EVERY if _feasible(joint) and joint not in PUBLISHED)
"""The seventeen feasible ones of the 24: the published ones, then the others in the order of the modules' actions."""
JOINTS: Final = {"published": PUBLISHED, "all": ALL}


class Judgement(Number):
    """Outcomes of a question."""

    ANSWERED_RIGHT = 0
    ANSWERED_WRONG = 1
    KEPT_SILENT = 2
    MISSED = 3


class Payment(NamedTuple):
    """What outcomes pay and actions cost, in the same unit."""

    utilities: tuple[float, float, float, float] = (120.0, -40.0, 10.0, -20.0)
    """Answered right; answered wrong; abstained where the closed-book answer is wrong; where it is right."""
    costs: tuple[float, ...] = (1.0, 3.0, 0.0, 2.0, 5.0, 2.0, 0.0, 4.0, 0.0)
    """Costs of the retriever's three actions, the generator's four, the verifier's two."""
    starts: tuple[int, int, int] = (0, 3, 7)
    """Where each module's costs begin; otherwise only with other actions, see `actions.ActionSet.payment`."""

    def costs_of(self, joint: Joint) -> tuple[float, float, float]:
        """What each module's action costs."""
        a, b, c = self.starts
        return self.costs[a + joint.retriever], self.costs[b + joint.generator], self.costs[c + joint.verifier]

    def net(self, joint: Joint, outcome: int) -> float:
        """The net utility of an executed joint action with this outcome."""
        return self.utilities[outcome] - sum(self.costs_of(joint))


def outcome_of(*, answered: bool, right: bool, known: bool) -> Judgement:
    """Which of the four outcomes it is; `known`: whether the closed-book answer is right."""
    if answered:
        return Judgement.ANSWERED_RIGHT if right else Judgement.ANSWERED_WRONG
    return Judgement.MISSED if known else Judgement.KEPT_SILENT


QUESTION: Final = "question"  # nature; args: (number, state), words: the question
MEASURED: Final = (
    "measured"  # nature, where the mediator sees more than the state; words: the features, with blanks between
)
ADVISE: Final = "advise"  # args: a joint action
CHOICES: Final = ("", "retrieve", "generate", "verify")  # by seat; args: (action,)
RETRIEVED: Final = "retrieved"  # nature; args: (action carried out, 0/1 found), words: the evidence
ANSWERED: Final = "answered"  # nature; args: (action carried out, 0/1 answered), words: the answer
CHECKED: Final = "checked"  # nature; args: (action carried out, verdict)
JUDGED: Final = "judged"  # nature; args: (0/1 right, 0/1 closed-book answer right), words: the right answer

# Announcements: events that are no moves.
SIGNAL: Final = "signal"  # to all; args: (state,)
ADVICE: Final = "advice"  # to one module; args: (its seat, action)
RESULT: Final = "result"  # to all; args: (outcome, joint action carried out), words: the question


SIGNALS: Final = ("reliability", "degree", "length", "coherence", "diversity")
"""The raw signals, in the order of `signals.Signals`."""
FORMS: Final = ("both", "yes_no", "choice", "when", "how_many", "who", "where", "which", "other")
"""Forms of questions; the first that fits is taken."""
SIGNAL_FEATURES: Final = ("linked", *SIGNALS)
QUESTION_FEATURES: Final = (
    *(f"form_{form}" for form in FORMS),
    *("words", "stems", "relation", "names", "genitives", "clauses", "years", "rarity", "strange"),
)
LINK_FEATURES: Final = (
    *("links", "unlinked", "inexact", "rivals", "first_degree", "second_degree"),
    *("first_reliability", "second_reliability", "first_mentions", "second_mentions"),
)
PATH_FEATURES: Final = (
    *("score", "nodes", "sentences", "documents", "entities", "concepts", "titles", "met", "weight", "lightest"),
    *("said", "asked", "offering", "candidates", "cued", "dated"),
    *("telling", "missing", "tells_last", "offers_last", "cues_last", "joined"),
    *("degree_mean", "degree_last", "reliability_mean", "reliability_least"),
)
FEATURES: Final = (*SIGNAL_FEATURES, *QUESTION_FEATURES, *LINK_FEATURES, *PATH_FEATURES)
"""What may be known about a question before anything is paid for; see `context`."""
SEES: Final = ("state", "signals", "question")
"""What a mediator may see of a question: the state alone, the raw signals too, all of `FEATURES`."""
SEEN: Final = {"state": (), "signals": SIGNAL_FEATURES, "question": FEATURES}
"""The features that it is then given."""


class MediatedView(NamedTuple):
    """What one seat may know. Satisfies `parlour.envs.core.View`."""

    seat: int
    legal: tuple[Move, ...]
    events: tuple[Event, ...]
    signal: int
    """State of the present question, number into `vocabulary.STATES`; -1 before the first."""
    question: str
    """The present question; empty for a module."""
    advice: tuple[int, ...]
    """A module: its recommended action. The mediator: the joint action it recommended. Empty before."""
    outcome: int
    """Outcome of the last finished question; -1 before."""
    done: int
    questions: int
    """In the episode."""
    earned: float
    """By this seat so far."""
    own: tuple[tuple[str, ...], ...] = ()
    """Seat -> the names of its actions, at a table with other ones than the published."""
    sees: str = "state"
    """What the mediator sees of a question, one of `SEES`."""
    signals: tuple[float, ...] = ()
    """The mediator: the five raw signals, where it sees them and the question is linked."""
    context: tuple[float, ...] = ()
    """The mediator: the first of `FEATURES`, all that it sees; empty where it sees the state alone."""
