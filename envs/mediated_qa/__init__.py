"""Mediated question answering after GRACE: a mediator advises a retriever, a generator and a verifier, question by question.

| | |
|---|---|
| Name | `mediated_qa_v0` |
| Players | 1-4, agents `mediator`, `retriever`, `generator`, `verifier`; the mediator alone with `modules=False` |
| Options | `questions`, `joint`, `modules`, `pay`, `utilities`, `costs`, `difficulty`, `corpus_seed`, `corpus_size`, `normalisation`, `service`, `actions`, `mediator_sees` |
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
code (numbers). Departures: only executed costs are charged; a question without a link in the graph has its own state s0.

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from parlour.envs.core import GameSpec, ParlourError, accept, check_one_of
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.rules import MediatedQA, MediatedSetting
from parlour.envs.mediated_qa.service import Service, actions_of
from parlour.envs.mediated_qa.vocabulary import JOINTS, SEES, Payment

if TYPE_CHECKING:
    from parlour.envs.mediated_qa.encode import MediatedEncoder
    from parlour.envs.mediated_qa.text import MediatedText

_SIZES: Final = range(1, 1_000_001)
_QUESTIONS: Final = range(1, 101)
_PAY: Final = ("shared", "own")
_DIFFICULTIES: Final = ("easy", "medium", "hard")
_NORMALISATIONS: Final = ("paper", "ours")
_DEFAULT_SIZE: Final = 60
_LARGEST: Final = 1e12
"""Largest utility or cost, so that no sum of them is infinite."""


class MediatedSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "mediated_qa_v0"
    title: ClassVar[str] = "Mediated question answering (GRACE)"
    services: ClassVar[bool] = True
    options: ClassVar[Mapping[str, str]] = {
        "questions": "1..100, in an episode",
        "joint": ", ".join(JOINTS),
        "modules": "True, False",
        "pay": ", ".join(_PAY),
        "utilities": "four numbers, at most 1e12: right, wrong, rightly silent, wrongly silent",
        "costs": "nine numbers, 0 to 1e12: three retriever actions, four generator actions, two verifier actions",
        "difficulty": ", ".join(_DIFFICULTIES),
        "corpus_seed": "a whole number, at least 0",
        "corpus_size": "1..1000000 questions",
        "normalisation": ", ".join(_NORMALISATIONS),
        "service": "None, or an object that satisfies parlour.envs.mediated_qa.service.Service",
        "actions": "None, an ActionSet of parlour.envs.mediated_qa.actions, or its plain values",
        "mediator_sees": ", ".join(SEES),
    }
    heuristic = "parlour.policies.heuristic.mediated_qa:MediatedPlayer"
    strongest = "mediator=grace:file=DIR/policy.json"
    replay_page = "parlour.training.replay.mediated_qa:mediated_matter"

    def text(self, game: MediatedQA) -> MediatedText:
        """The wording."""
        from parlour.envs.mediated_qa.text import MediatedText

        return MediatedText(game)

    def encoder(self, game: MediatedQA) -> MediatedEncoder:
        """The features as the table numbers seats; see `encode.py`."""
        from parlour.envs.mediated_qa.encode import MediatedEncoder

        return MediatedEncoder(game)

    def build(
        self,
        *,
        questions: int = 1,
        joint: str = "published",
        modules: bool = True,
        pay: str = "shared",
        utilities: Sequence[float] = Payment().utilities,
        costs: Sequence[float] | None = None,
        difficulty: str = "medium",
        corpus_seed: int = 0,
        corpus_size: int = _DEFAULT_SIZE,
        normalisation: str = "ours",
        service: Service | None = None,
        actions: ActionSet | Mapping[str, Any] | None = None,
        mediator_sees: str = "state",
    ) -> MediatedQA:
        """The rules of one table.

        Args:
            questions: In an episode; none comes twice.
            joint: Which joint actions the mediator may recommend.
            modules: Whether the modules decide for themselves; if not, the mediator is the only seat.
            pay: `"shared"`: everybody gets the net utility. `"own"`: a module gets the outcome's utility minus its own cost.
            utilities: See the card.
            costs: See the card; None for the actions' own costs.
            difficulty: Difficulty of the generated corpus.
            corpus_seed: Seed of the generated corpus.
            corpus_size: Questions of the generated corpus; with a service, its size counts.
            normalisation: Normalisation of the graph's signals: the paper's, or ours.
            service: Who answers for nature; None for the offline one over a generated corpus.
            actions: What the modules may do; None for what the service knows, which is usually the published nine.
            mediator_sees: The state alone, as in the paper; the raw signals too; or all that may be known about the question
                before anything is paid for (`context.py`). A service must then have a method `context`.

        Raises:
            ParlourError: An argument is not accepted.
        """
        if service is not None and not isinstance(service, Service):
            raise accept("service", service, self.options["service"])
        size = corpus_size if service is None else service.size
        check_one_of("corpus_size", size, _SIZES)
        if type(questions) is not int or questions not in _QUESTIONS or questions > size:
            raise accept("questions", questions, range(1, min(size, 100) + 1))
        if not isinstance(modules, bool):
            raise accept("modules", modules, ("True", "False"))
        if type(corpus_seed) is not int or corpus_seed < 0:
            raise accept("corpus_seed", corpus_seed, self.options["corpus_seed"])
        for name, value, accepted in (
            ("joint", joint, tuple(JOINTS)),
            ("pay", pay, _PAY),
            ("difficulty", difficulty, _DIFFICULTIES),
            ("normalisation", normalisation, _NORMALISATIONS),
            ("mediator_sees", mediator_sees, SEES),
        ):
            check_one_of(name, value, accepted)
        known = _actions(actions, service)
        count = len(known.costs)
        numbers = known.costs if costs is None else self._numbers("costs", costs, count, least=0.0)
        payment = known.payment(self._numbers("utilities", utilities, 4), numbers)
        config: dict[str, Any] = {
            "questions": questions,
            "joint": joint,
            "modules": modules,
            "pay": pay,
            "utilities": list(payment.utilities),
            "costs": list(payment.costs),
            "difficulty": difficulty,
            "corpus_seed": corpus_seed,
            "corpus_size": size,
            "normalisation": normalisation,
        }
        if mediator_sees != "state":
            if service is not None and not callable(getattr(service, "context", None)):
                lacking = f"mediator_sees {mediator_sees!r} with a service that has no context(number)"
                raise ParlourError(f"{lacking}; accepted: a Pipeline")
            config["mediator_sees"] = mediator_sees
        own = () if known == PUBLISHED_ACTIONS else (known,)
        if own:
            config["actions"] = known.as_plain()
        embedded = partial(_generated, corpus_seed, size, difficulty, normalisation, *own)
        source = embedded if service is None else partial(_itself, service)
        joints = known.joints(joint)
        setting = MediatedSetting(size, questions, joints, modules, pay == "own", payment, known, mediator_sees)
        return MediatedQA(source, setting, config)

    def _numbers(self, name: str, values: Any, count: int, least: float = -_LARGEST) -> tuple[float, ...]:
        fits = isinstance(values, Sequence) and not isinstance(values, str) and len(values) == count
        numbers = fits and all(type(value) in (int, float) and least <= value <= _LARGEST for value in values)
        if not numbers:
            raise accept(name, values, self.options[name])
        return tuple(map(float, values))


def _actions(actions: ActionSet | Mapping[str, Any] | None, service: Service | None) -> ActionSet:
    """The actions of a table: those given, else those of its service."""
    known = PUBLISHED_ACTIONS if service is None else actions_of(service)
    if actions is None:
        return known
    chosen = actions if isinstance(actions, ActionSet) else ActionSet.from_plain(actions)
    if service is not None and chosen != known:
        raise ParlourError(
            "the table's actions differ from the service's actions; accepted: the same ActionSet for both"
        )
    return chosen


@lru_cache(maxsize=8)  # an import statement costs as much as a move
def _generated(seed: int, size: int, difficulty: str, normalisation: Any, *own: ActionSet) -> Service:
    """The embedded service; its parts are loaded when it is first needed."""
    from parlour.envs.mediated_qa.pipeline import generated

    return generated(seed, size, difficulty, normalisation, *own)


def _itself(service: Service) -> Service:
    return service


GAME = MediatedSpec()
