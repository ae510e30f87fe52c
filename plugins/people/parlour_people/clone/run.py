"""`parlour train clone`: the models that are compared, cross-validated by game; then a clone learned from all games.

One head is fitted to choices as a conditional logit with a small network: early stopping, and an average of several. The games to
learn from are dealt into `members` parts. Each member learns from all parts but one by Adam on the log
likelihood of what was taken less a quadratic penalty, and keeps the weights at which the part left out was likeliest. The head
is the mean of the members' scores, written as one network. So nothing outside of these games decides when to stop.

A third of the decisions after speech, drawn again for each member, is used twice: with the speech, and without it.
At most `ALTERNATIVES` of the moves not taken, drawn evenly, are used; the estimates stay consistent (McFadden
1978, "Modelling the choice of residential location").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run

from parlour_people.clone import report
from parlour_people.clone.choices import CloneConfig, ImitatedChoice, Rows, by_kind, read_choices
from parlour_people.cloned import ChoiceHead, ChoiceNetwork
from parlour_people.cloned.features import COLUMNS, DECISIONS, GROUPS, HEARD, SPEECH

ALTERNATIVES: Final = 16
UNHEARD_TOO: Final = 1 / 3
MOST: Final = {SPEECH: 300}
"""Most choices of each kind that a member learns from, drawn evenly."""
PATIENCE: Final = 30
"""Steps without gain on the part left out after which learning ends."""
EVERY: Final = 5
"""Steps from look to look at the part left out."""
RATE: Final = 0.03
SHARED, OF_GROUP, NETWORK = 0.3, 3.0, 1.0
"""Penalties of the weights that all groups share, of a group's departure from them, and of the hidden layer:
per squared weight, in nats over all choices."""
_LOWEST: Final = -1e9


@dataclass(frozen=True, eq=False)
class Packed:
    """Choices as tensors: the rows of all moves below each other."""

    rows: torch.Tensor
    """Shape (R, D)."""
    groups: torch.Tensor
    """Group of each row, shape (R,)."""
    of: torch.Tensor
    """Which choice each row belongs to, shape (R,)."""
    taken: torch.Tensor
    """Shares of what was done, shape (R,)."""
    count: int
    """How many choices."""


def heard_columns(kind: str) -> list[int]:
    """Which features of a kind describe speech."""
    return [number for number, name in enumerate(COLUMNS[kind]) if name in HEARD]


def unheard(kind: str, rows: Rows) -> Rows:
    """The same moves as if nothing had been said, shape (moves, columns)."""
    silent = rows.copy()
    silent[:, heard_columns(kind)] = 0.0
    return silent


def packed(choices: Sequence[ImitatedChoice], rng: np.random.Generator | None) -> Packed:
    """Choices to learn from: twice where something was said, with a draw of the moves not taken.

    Args:
        choices: At least one, all of one kind.
        rng: Draws; None: all moves, once.
    """
    rows, taken, groups, sizes = [], [], [], []
    columns = heard_columns(choices[0].kind)
    for choice in choices:
        kept = np.arange(len(choice.taken)) if rng is None else _alternatives(choice.taken, rng)
        shown = choice.rows[kept]
        twice = rng is not None and bool(shown[:, columns].any()) and rng.random() < UNHEARD_TOO
        for seen in (shown, unheard(choice.kind, shown)) if twice else (shown,):
            rows.append(seen)
            taken.append(choice.taken[kept])
            groups.append(np.full(len(kept), choice.group))
            sizes.append(len(kept))
    return Packed(
        torch.tensor(np.concatenate(rows)),
        torch.tensor(np.concatenate(groups)),
        torch.tensor(np.repeat(np.arange(len(sizes)), sizes)),
        torch.tensor(np.concatenate(taken), dtype=torch.float32),
        len(sizes),
    )


def _alternatives(taken: NDArray[np.float64], rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    others = np.flatnonzero(taken == 0)
    if len(others) <= ALTERNATIVES:
        return np.arange(len(taken))
    return np.sort(np.concatenate([np.flatnonzero(taken), rng.choice(others, ALTERNATIVES, replace=False)]))


def log_likelihood(scores: torch.Tensor, of: Packed) -> torch.Tensor:
    """Log-likelihood of all choices together, in nats."""
    most = torch.full((of.count,), _LOWEST).scatter_reduce(0, of.of, scores.detach(), "amax")
    total = torch.zeros(of.count).index_add(0, of.of, torch.exp(scores - most[of.of]))
    return (of.taken * (scores - (total.log() + most)[of.of])).sum()


class NetworkMember(torch.nn.Module):
    """One network: weights that all groups share, what each group adds, and a hidden layer."""

    def __init__(self, columns: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.shared = torch.nn.Parameter(torch.zeros(columns))
        self.added = torch.nn.Parameter(torch.zeros(len(GROUPS), columns))
        self.hidden = torch.nn.Parameter(torch.randn(hidden, columns, generator=generator) / columns**0.5)
        self.bias = torch.nn.Parameter(torch.zeros(hidden))
        self.out = torch.nn.Parameter(torch.randn(hidden, generator=generator) * 0.1)

    def forward(self, rows: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
        """Scores, shape (R,)."""
        linear = rows @ (self.shared + self.added).T
        between = torch.tanh(rows @ self.hidden.T + self.bias) - torch.tanh(self.bias)
        return linear.gather(1, groups[:, None])[:, 0] + between @ self.out

    def penalty(self) -> torch.Tensor:
        """In nats over all choices."""
        of_network = self.hidden.square().sum() + self.out.square().sum()
        return SHARED * self.shared.square().sum() + OF_GROUP * self.added.square().sum() + NETWORK * of_network


def _fitted(member: NetworkMember, learned: Packed, left_out: Packed, steps: int) -> NetworkMember:
    """Fit a member; it keeps the weights at which the part left out was likeliest."""
    adam = torch.optim.Adam(member.parameters(), lr=RATE)
    best, at, kept = -np.inf, 0, {}
    for step in range(1, steps + 1):
        adam.zero_grad()
        loss = member.penalty() - log_likelihood(member(learned.rows, learned.groups), learned)
        (loss / learned.count).backward()  # type: ignore[no-untyped-call]
        adam.step()
        if step % EVERY and step < steps:
            continue
        with torch.no_grad():
            log_prob = float(log_likelihood(member(left_out.rows, left_out.groups), left_out))
        if log_prob > best:
            best, at, kept = log_prob, step, {name: value.clone() for name, value in member.state_dict().items()}
        elif step - at >= PATIENCE:
            break
    member.load_state_dict(kept)
    return member


def fit(choices: Sequence[ImitatedChoice], config: CloneConfig) -> ChoiceHead:
    """A head for these choices, at least one and all of one kind."""
    torch.set_num_threads(1)  # sums in one order
    rng = np.random.default_rng((config.seed, 1))
    generator = torch.Generator().manual_seed(config.seed)
    members = [
        _fitted(
            NetworkMember(choices[0].rows.shape[1], config.hidden, generator),
            *_parted(choices, games, rng),
            config.steps,
        )
        for games in _left_out(choices, config.members, rng)
    ]
    with torch.no_grad():
        return ChoiceHead(
            torch.stack([member.shared + member.added for member in members]).mean(0).double().numpy(),
            torch.cat([member.hidden for member in members]).double().numpy(),
            torch.cat([member.bias for member in members]).double().numpy(),
            (torch.cat([member.out for member in members]) / len(members)).double().numpy(),
        )


def _left_out(choices: Sequence[ImitatedChoice], members: int, rng: np.random.Generator) -> list[set[int]]:
    """The games that each member stops early on."""
    games = rng.permutation(sorted({choice.game for choice in choices}))
    return [{int(number) for number in games[k::members]} for k in range(min(members, len(games)))]


def _parted(choices: Sequence[ImitatedChoice], games: set[int], rng: np.random.Generator) -> tuple[Packed, Packed]:
    """What is learned from, and what is left out; of a single game both are that game."""
    kept = _some([choice for choice in choices if choice.game not in games] or list(choices), rng)
    return packed(kept, rng), packed(_some([choice for choice in choices if choice.game in games], rng), rng)


def _some(choices: list[ImitatedChoice], rng: np.random.Generator) -> list[ImitatedChoice]:
    most = MOST.get(choices[0].kind, len(choices))
    if len(choices) <= most:
        return choices
    return [choices[number] for number in np.sort(rng.choice(len(choices), most, replace=False))]


_ROUNDS: Final = 60
"""Rounds of expectation maximisation for one share."""


def learned(choices: Sequence[ImitatedChoice], config: CloneConfig) -> dict[str, report.Model]:
    """All models for one kind of decision, by name.

    Args:
        choices: Choices of the training games; at least one, all of one kind.
        config: Settings of the clone.
    """
    head = fit(choices, config)
    return {
        report.CLONE: lambda choice: head.chances(choice.rows.astype(np.float64), choice.group),
        report.HEURISTIC: _mixed(choices),
        report.FREQUENCY: _frequency(choices),
        report.CHANCE: _chance,
    }


def _chance(choice: ImitatedChoice) -> NDArray[np.float64]:
    return np.full(len(choice.taken), 1 / len(choice.taken))


def _frequency(choices: Sequence[ImitatedChoice]) -> report.Model:
    sorts = 1 + max(int(choice.sorts.max()) for choice in choices)
    counted: dict[str, NDArray[np.float64]] = {}
    for moment in choices:
        counted.setdefault(moment.role, np.ones(sorts))
        np.add.at(counted[moment.role], moment.sorts, moment.taken)

    def model(choice: ImitatedChoice) -> NDArray[np.float64]:
        of_role = counted.get(choice.role, np.ones(sorts))
        of_sort = np.append(of_role, np.ones(max(0, int(choice.sorts.max()) + 1 - sorts)))
        weights = of_sort[choice.sorts] / np.bincount(choice.sorts)[choice.sorts]
        chances: NDArray[np.float64] = weights / weights.sum()
        return chances

    return model


def _mixed(choices: Sequence[ImitatedChoice]) -> report.Model:
    """The heuristic's draws with a share of even chances, by which these choices are likeliest."""
    weights = np.concatenate([choice.taken[choice.taken > 0] for choice in choices])
    drawn = np.concatenate([choice.heuristic[choice.taken > 0] for choice in choices])
    mixed_in = np.concatenate([_chance(choice)[choice.taken > 0] for choice in choices])
    share = 0.5
    for _ in range(_ROUNDS):
        from_other = share * mixed_in / (share * mixed_in + (1 - share) * drawn)
        share = float(from_other @ weights / weights.sum())
    return lambda choice: (1 - share) * choice.heuristic + share * _chance(choice)


@dataclass(frozen=True)
class Cloned:
    """What came out."""

    network: ChoiceNetwork
    """Learned from all games."""
    held_out: report.Columns
    """Each choice, by models that had not learned from its game."""
    scores: Sequence[report.ChoiceScore]


def clone(
    folder: str | Path,
    run: Run,
    config: CloneConfig | None = None,
) -> Cloned:
    """Learn a clone from a folder of transcripts and write it, with its scores, to the directory of a run.

    Args:
        folder: Transcripts of Avalon (`*.jsonl`), recorded or played here.
        run: Gets `clone.npz` (for `--policy clone:FILE`), `scores.csv`, `report.md`, `scores.png`.
        config: None for the defaults.

    Raises:
        ParlourError: There are fewer games than folds, a file is no transcript of Avalon, or the directory cannot be used.
    """
    config = config or CloneConfig()
    choices = read_choices(folder, config.seed, run.progress)
    games = len({choice.game for choice in choices})
    if games < config.folds:
        raise ParlourError(f"{config.folds} folds of {games} games are not accepted; accepted: 2 to {games} folds")
    with run.opened({**config.plain(), "games": games, "choices": len(choices)}) as directory:
        held_out = cross_validated(choices, config, run)
        cloned = Cloned(_of_all(choices, config, run.progress), held_out, report.table(held_out))
        cloned.network.save(directory / report.PLAYER)
        report.report_of(cloned.scores, cloned.network.told).write(directory)
    return cloned


def cross_validated(choices: Sequence[ImitatedChoice], config: CloneConfig, run: Run) -> report.Columns:
    """What models say about choices from games that they have not learned from, in the order of kinds and choices."""
    games = sorted({choice.game for choice in choices})
    dealt = np.random.default_rng((config.seed, 0)).permutation(games)
    fold = {int(number): k % config.folds for k, number in enumerate(dealt)}
    kinds = by_kind(choices)
    rows: list[dict[str, Any]] = []
    stage = Stage("Cross-validating", len(kinds) * config.folds, "fits")
    run.progress(stage, 0)
    for number, of_kind in enumerate(kinds.values()):
        said: dict[int, dict[str, Any]] = {}
        for k in range(config.folds):
            train = [case for case in of_kind if fold[case.game] != k]
            models = learned(train, config) if train else {}
            tested = {id(case): report.told_of(case, models) for case in of_kind if fold[case.game] == k}
            said |= tested
            logs = [row[f"log: {report.CLONE}"] for row in tested.values()] if models else []
            step, metric = number * config.folds + k + 1, f"eval/log_likelihood_{of_kind[0].kind}"
            run.log({metric: fmean(logs) if logs else None}, step)
            run.progress(stage, step)
        rows += [said[id(case)] for case in of_kind if f"log: {report.CLONE}" in said[id(case)]]
    told = (f"{part}: {model}" for model in report.MODELS for part in ("top", "log"))
    names = ("game", "what", "role", *told)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def _of_all(choices: Sequence[ImitatedChoice], config: CloneConfig, progress: Callable[..., None]) -> ChoiceNetwork:
    """The network from all games; a kind that was never decided is even."""
    kinds, heads = by_kind(choices), {}
    stage = Stage("Learning from all games", len(DECISIONS), "kinds of decisions")
    for kind in stage.counted(DECISIONS, progress):
        width = len(COLUMNS[kind])
        even = ChoiceHead(np.zeros((len(GROUPS), width)), np.zeros((0, width)), np.zeros(0), np.zeros(0))
        heads[kind] = fit(kinds[kind], config) if kind in kinds else even
    source = {
        "games": len({choice.game for choice in choices}),
        "choices": {kind: len(of) for kind, of in kinds.items()},
        "players": sorted({choice.players for choice in choices}),
        "config": config.plain(),
    }
    return ChoiceNetwork(heads, source)


def summary(cloned: Cloned) -> dict[str, Any]:
    """What `--json` prints: what it was learned from, and the scores over all roles."""
    scores = [plain(score) for score in cloned.scores if score.role == report.ALL]
    return {"learned_from": dict(cloned.network.told), "scores": scores}
