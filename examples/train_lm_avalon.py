"""A small language model learns a seat of Avalon with five players, with and without a reward of deduction, and is measured.

    pip install -c docs/integrations/train_lm.txt ".[lm,batch]"
    python examples/train_lm_avalon.py --seed 0 --opponents expert --out runs/avalon

The tokenizer, the network and the credit of replies are those of `train_lm.py` beside this file. Three models start from one imitation of
the heuristic, and each gets the same processor time: `longer` imitates on, `game` learns from whole games, `deduction` learns from the same
and from what it believes. A belief is typed: beside play, the model is asked of each other seat whether it is evil, and the probability that it
gives to "yes" against "no" is read. The question is put once a game, after the seat's last words, and costs no move.

    loss = PPO's clipped loss + WEIGHT x mean log loss of the belief against the truth (good seats)

The log loss is a reward whose gradient is known, so that nothing is drawn for it. `--opponents itself`: the model plays all seats.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.vocabulary import EVIL, EVIL_ROLES, GOOD
from parlour.policies.experts import expert
from parlour.policies.files import atomic_write, read_json, write_json
from parlour.policies.search.particles import Deduction
from parlour.training.measure.abilities.beliefs import stated_scores
from parlour.training.measure.abilities.moments import BeliefMoment
from parlour.training.measure.statistics import paired, rate, show_interval
from parlour.training.play.seeds import HELD_OUT
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import run_directory
from parlour.wrappers.conversation import Conversation
from transformers import DynamicCache
from transformers.utils.logging import disable_progress_bar

sys.path.insert(0, str(Path(__file__).parent))
import train_lm as lm  # the example beside this one

AVALON, OPTIONS = "avalon_v0", {"num_players": 5, "rules": "official", "talk": False}
ITSELF = "itself"
ARMS = {"longer": None, "game": 0.0, "deduction": 1.0}  # model: weight of the log loss; None: it imitates
QUESTION = "Is each of these players evil?\n"
STREAM = 20  # the first of this example's streams of seeds
lm.HIDDEN, lm.HEADS, lm.INNER = 64, 4, 192  # a game has ten times the words of one of Werewolf with four seats


@dataclass
class AskedGame(lm.SeatGame):
    """A game as one seat met it, with what is asked of it."""

    agent: str = ""
    view: Any = None
    """What the seat knew at its last turn; None without one."""
    evil: tuple[bool, ...] = ()
    """Whether each seat is evil."""

    @property
    def asked(self) -> list[int]:
        """The other seats, if the seat is good and had a turn; an evil seat knows them."""
        if self.view is None or self.view.side != GOOD:
            return []
        return [seat for seat in range(len(self.evil)) if seat != self.view.seat]

    @property
    def truth(self) -> list[bool]:
        """Whether each of `asked` is evil."""
        return [self.evil[seat] for seat in self.asked]


class Table(lm.RoleTable):
    """A table of Avalon: the model has the seat of a role, or all seats."""

    def __init__(self, role: str, opponents: str) -> None:
        super().__init__(OPTIONS, AVALON, role, "heuristic" if opponents == ITSELF else opponents)
        self._all = Conversation(self._env, None, list_options=False) if opponents == ITSELF else None

    def begin(self, seed: int, *, everybody: bool) -> list[AskedGame]:
        """Deal: a game for each seat that the model has."""
        if everybody and self._all is not None:
            self._all.reset(seed)
            self.talk = self._all
        else:
            self.deal(seed)
            self.talk = self.seat.conversation
        game = self._game
        evil = tuple(game.view(seat).role in EVIL_ROLES for seat in range(game.game.seats))
        return [AskedGame(seed, agent=agent, evil=evil) for agent in self.talk.agents]

    def look(self, game: AskedGame) -> Any:
        """What the seat of a game knows now."""
        return self._game.view(self._game.seat_of[game.agent])

    def answer(self, words: str) -> tuple[bool, bool]:
        """Answer for the seat to move: that it is no speech, and whether it is an option word for word."""
        judged = False, words.strip() in self.talk.options
        self.talk.say(words)
        return judged


class Writer:
    """Samples replies; what a game's tokens became inside the network is kept from turn to turn."""

    def __init__(self, model: Any, tokens: lm.Tokens, seed: int | None) -> None:
        self.model, self.tokens, self.kept = model, tokens, {}
        self.rng = None if seed is None else torch.Generator().manual_seed(seed)

    def _padded(self, rows: Sequence[int]) -> tuple[DynamicCache, Any]:
        """Keys and values of some games, filled up on the left; and which columns hold a token."""
        lengths = [self.kept[row][0][0].shape[1] if row in self.kept else 0 for row in rows]
        cache, longest = DynamicCache(), max(lengths)
        mask = torch.tensor([[0] * (longest - own) + [1] * own for own in lengths], dtype=torch.long)
        if longest:
            layers = next(iter(self.kept.values()))
            for layer in range(len(layers)):
                pair = []
                for part in (0, 1):
                    heads, _, size = layers[layer][part].shape
                    full = torch.zeros(len(rows), heads, longest, size)
                    for k, row in enumerate(rows):
                        if lengths[k]:
                            full[k, :, longest - lengths[k] :] = self.kept[row][layer][part]
                    pair.append(full)
                cache.update(*pair, layer)
        return cache, mask.reshape(len(rows), longest)

    @torch.no_grad()
    def replies(self, rows: Sequence[int], news: Sequence[list[int]]) -> list[tuple[list[int], list[float]]]:
        """A reply in each game to its new tokens: tokens and their log-probabilities."""
        cache, mask = self._padded(rows)
        longest = max(map(len, news))
        ids = torch.tensor([[self.tokens.pad] * (longest - len(own)) + own for own in news])
        said: list[tuple[list[int], list[float]]] = [([], []) for _ in rows]
        fresh, alive = (ids != self.tokens.pad).long(), torch.ones(len(rows), dtype=torch.bool)
        for _ in range(lm.REPLY):
            mask = torch.cat([mask, fresh], 1)
            places = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            out = self.model(
                input_ids=ids, attention_mask=mask, position_ids=places, past_key_values=cache, logits_to_keep=1
            )
            probs = out.logits[:, -1].log_softmax(-1)
            drawn = probs.argmax(-1) if self.rng is None else probs.exp().multinomial(1, generator=self.rng)[:, 0]
            for k in alive.nonzero()[:, 0].tolist():
                said[k][0].append(int(drawn[k]))
                said[k][1].append(float(probs[k, drawn[k]]))
            alive &= drawn != self.tokens.end
            if not alive.any():
                break
            ids, fresh = drawn[:, None], alive.long()[:, None]
        read = mask.bool()
        for k, row in enumerate(rows):
            self.kept[row] = [(own.keys[k][:, read[k]], own.values[k][:, read[k]]) for own in cache.layers]
        return said


def play(
    model: Any, tokens: lm.Tokens, tables: list[Table], seeds: Sequence[int], draws: int | None, *, everybody: bool
) -> list[AskedGame]:
    """Whole games of a model, one at each table; `draws` is the seed of what it samples, None: always the likeliest token."""
    dealt = [at.begin(seed, everybody=everybody) for at, seed in zip(tables, seeds, strict=False)]
    row_of = {
        (k, game.agent): (row, game) for row, (k, game) in enumerate((k, g) for k, own in enumerate(dealt) for g in own)
    }
    unread: dict[int, list[int]] = {}
    writer = Writer(model, tokens, draws)
    while True:
        waiting = []
        for k, at in enumerate(tables[: len(dealt)]):
            while not at.talk.done:
                row, game = row_of[k, at.talk.agent]
                if len(game.tokens) <= lm.CONTEXT - lm.ROOM:
                    waiting.append((at, row, game))
                    break
                at.talk.leave(game.agent)
        if not waiting:
            break
        for at, row, game in waiting:
            game.view, message = at.look(game), tokens.message(at.talk.hear(game.agent))
            game.tokens += message
            unread.setdefault(row, []).extend(message)
        rows = [row for _, row, _ in waiting]
        for (at, row, game), reply in zip(waiting, writer.replies(rows, [unread[r] for r in rows]), strict=True):
            judged = at.answer(tokens.decode(reply[0]))
            game.replies.append(lm.Reply(len(game.tokens), *reply, *judged))
            game.tokens += reply[0]
            unread[row] = reply[0][-1:]
    for at, own in zip(tables, dealt, strict=False):
        for game in own:
            game.reward = at.talk.rewards[game.agent]
    return [game for own in dealt for game in own]


def belief_logits(model: Any, tokens: lm.Tokens, games: Sequence[AskedGame]) -> Any:
    """Logit of "evil" for each seat that is asked about, game by game: shape (questions,). The game's tokens stay as they are."""
    yes, no = tokens.encode("y")[0], tokens.encode("n")[0]
    rows, places = [], []
    for game in games:
        own = [*game.tokens, tokens.user, *tokens.encode(QUESTION)]
        places.append([])
        for seat in game.asked:
            own += tokens.encode(f"player_{seat}")
            places[-1].append(len(own) - 1)
        rows.append(own)
    ids = torch.full((len(rows), max(map(len, rows))), tokens.pad)
    for k, own in enumerate(rows):
        ids[k, : len(own)] = torch.as_tensor(own)
    read = model.model(input_ids=ids, use_cache=False).last_hidden_state
    head = model.lm_head.weight
    return torch.cat([read[k, own] for k, own in enumerate(places)]) @ (head[yes] - head[no])


def belief_loss(model: Any, tokens: lm.Tokens, games: Sequence[AskedGame]) -> Any:
    """Mean log loss of the typed beliefs, in nats a seat; 0 if nobody is asked."""
    asked = [game for game in games if game.asked]
    if not asked:
        return torch.zeros(())
    truth = torch.tensor([float(own) for game in asked for own in game.truth])
    return torch.nn.functional.binary_cross_entropy_with_logits(belief_logits(model, tokens, asked), truth)


def moment_of(game: AskedGame, deduction: Deduction) -> BeliefMoment:
    """The question as the measures of abilities take it: the truth, what the night showed, and the exact posterior."""
    view = game.view
    prior = AvalonBelief(view.roles, view.seat, view.role, view.knows).evil_chance()
    exact = deduction.chances([view], np.random.default_rng(game.seed))[0]
    prior, exact = ([float(own[seat]) for seat in game.asked] for own in (prior, exact))
    return BeliefMoment(
        game=str(game.seed), table=(AVALON, {}), by_player=True, opponent="", seat=view.seat, seed=game.seed, text="", info={},
        truth=tuple(game.truth), prior=tuple(prior), exact=tuple(exact),
    )  # fmt: skip


class Run(lm.Run):
    """A run in its folder; a model whose `NAME.json` is there is not made again."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen, self.out, self.seed = chosen, chosen.out, chosen.seed
        self.everybody = chosen.opponents == ITSELF
        self.tables = [Table(chosen.role, chosen.opponents) for _ in range(max(64, chosen.batch * lm.GROUP))]
        self.tokens = lm.Tokens(self.tables[0], lm.seeds_of(self.seed, STREAM, 0, lm.GAMES_OF_WORDS))

    def imitate(self, model: Any, seconds: float, stream: int) -> list[dict[str, float]]:
        """Say what the heuristic says, for so much processor time; the rate rises, stays, and falls over the last half."""
        optimizer, curve, started = torch.optim.AdamW(model.parameters(), **lm.ADAM), [], process_time()
        while (spent := (process_time() - started) / seconds) < 1:
            deals = lm.seeds_of(self.seed, stream, len(curve), lm.IMITATED)
            games = [game for deal in deals if (game := lm.taught(self.tables[0], self.tokens, deal)).replies]
            wanted = torch.as_tensor([token for game in games for reply in game.replies for token in reply.tokens])
            loss = torch.nn.functional.cross_entropy(lm.token_logits(model, games, self.tokens.pad), wanted)
            lm.descend(model, optimizer, loss, 3e-3 * min((len(curve) + 1) / lm.WARM_UP, 1.0, 2 * (1 - spent)))
            curve.append({"loss": float(loss.detach())})
        return curve

    def learn(self, model: Any, seconds: float, weight: float) -> list[dict[str, float]]:
        """Learn from whole games for so much processor time, `GROUP` games on each deal."""
        chosen, optimizer, curve = self.chosen, torch.optim.AdamW(model.parameters(), **lm.ADAM), []
        started = process_time()
        while (spent := (process_time() - started) / seconds) < 1:
            k = len(curve)
            deals = [deal for deal in lm.seeds_of(self.seed, STREAM + 3, k, chosen.batch) for _ in range(lm.GROUP)]
            (draws,) = lm.seeds_of(self.seed, STREAM + 4, k, 1)
            games = play(model, self.tokens, self.tables, deals, draws, everybody=self.everybody)
            by_agent = {}
            for game in games:  # a group is the games of one seat on one deal
                by_agent.setdefault(game.agent, []).append(game)
            credited = [pair for own in by_agent.values() for pair in zip(own, lm.credits_of(own), strict=True)]
            credited = [(game, own) for game, own in credited if game.replies]
            for part in np.array_split(np.arange(len(credited)), min(lm.UPDATES, len(credited))):
                batch = [credited[row] for row in part]
                loss = lm.policy_loss(model, batch)
                if weight:
                    loss = loss + weight * belief_loss(model, self.tokens, [game for game, _ in batch])
                lm.descend(model, optimizer, loss, 5e-4 * (1 - spent))
            curve.append({"games": len(games), "wins": sum(game.reward > 0 for game in games)})
        return curve

    def held_out(self, name: str) -> list[AskedGame]:
        """The games of a model in the seat of the role, on held-out deals that are the same for all."""
        deals = lm.seeds_of(self.seed, STREAM + 7, 0, self.chosen.deals, HELD_OUT)
        model, games = self.model(name), []
        for start in range(0, len(deals), len(self.tables)):
            part = deals[start : start + len(self.tables)]
            games += play(model, self.tokens, self.tables, part, part[0], everybody=False)
        return games

    def beliefs(self, name: str, games: list[AskedGame], deduction: Deduction) -> Any:
        """What the model's beliefs at the end of games are worth; None for a seat that knows who is evil."""
        asked, model = [game for game in games if game.asked], self.model(name)
        if not asked:
            return None
        with torch.no_grad():
            stated = [belief_logits(model, self.tokens, [game]).sigmoid().tolist() for game in asked]
        moments = [moment_of(game, deduction) for game in asked]
        return stated_scores(moments, stated, np.random.default_rng(self.seed))


def measured(run: Run) -> dict[str, Any]:
    """Wins on every held-out deal and the worth of the beliefs, for each model."""
    path = run.out / "measured.json"
    if path.exists():
        return read_json(path)
    base = run.tables[0]._game
    deduction = Deduction(expert(AVALON, dict(base.game.config)), EVIL)
    results = {}
    for name in ("imitation", *ARMS):
        games = run.held_out(name)
        scores = run.beliefs(name, games, deduction)
        beliefs = {}
        if scores is not None:
            beliefs = {"loss": _numbers(scores.loss), "skill": _numbers(scores.skill)}
        results[name] = {"won": [game.reward > 0 for game in games], **beliefs}
    write_json(path, results)
    return results


def _numbers(estimate: Any) -> list[float] | None:
    return None if estimate is None else [estimate.value, estimate.low, estimate.high]


def report(results: dict[str, Any], chosen: argparse.Namespace) -> str:
    """The ablation as Markdown: wins, the gains over imitation and over longer imitation, and the beliefs."""
    rows = []
    for name, own in results.items():
        wins, gains = rate(sum(own["won"]), len(own["won"])), []
        for other in ("imitation", "longer"):
            gain = paired(own["won"], results[other]["won"])
            same = name in ("imitation", other)
            gains.append("" if same else f"{100 * gain.value:+.1f} {show_interval(gain, '+.1f', 100)}")
        beliefs = [f"{v[0]:.3f} [{v[1]:.3f}, {v[2]:.3f}]" if (v := own.get(key)) else "-" for key in ("loss", "skill")]
        rows.append((name, f"{wins.value:.3f} {show_interval(wins, '.3f')}", *gains, *beliefs))
    head = ("model", "wins", "points against imitation", "points against longer", "log loss of the belief", "skill")
    title = f"# {chosen.role} at Avalon with five players, against {chosen.opponents}, seed {chosen.seed}"
    return f"{title}\n\n{markdown_table(head, rows)}\n"


def train(chosen: argparse.Namespace) -> dict[str, Any]:
    """All models and the measurement; leaves models that transformers reads, curves, measured.json and report.md."""
    torch.set_num_threads(1)
    disable_progress_bar()
    with run_directory(chosen.out, {key: value for key, value in vars(chosen).items() if key != "out"}):
        run = Run(chosen)
        run.stage("imitation", "", lambda model: run.imitate(model, chosen.imitation, STREAM + 1))
        for name, weight in ARMS.items():
            work: Callable[[Any], list[dict[str, float]]] = (
                (lambda model: run.imitate(model, chosen.learning, STREAM + 2))
                if weight is None
                else (lambda model, weight=weight: run.learn(model, chosen.learning, weight))
            )
            run.stage(name, "imitation", work)
        results = measured(run)
        atomic_write(chosen.out / "report.md", report(results, chosen))
    return results


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/train_lm_avalon"), help="folder of the run")
    parser.add_argument("--role", default="Loyal Servant", help="whose seat the model has; Loyal Servant unless told")
    parser.add_argument(
        "--opponents", default="expert", choices=("heuristic", "expert", ITSELF), help="the other seats"
    )
    for name, default, what in (
        ("seed", 0, "of everything"),
        ("imitation", 60, "seconds of processor time of the imitation"),
        ("learning", 60, "seconds of processor time of each model after it"),
        ("batch", 8, "deals in each step of learning"),
        ("deals", 400, "held-out deals of the measurement"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what}; {default} unless told")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
