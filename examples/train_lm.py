"""Make a small language model, let it imitate the heuristic and learn from whole games of Werewolf, and measure it.

    pip install -c docs/integrations/train_lm.txt ".[lm]"
    python examples/train_lm.py --seed 0 --out runs/train_lm

One file: a byte-pair tokenizer and a Llama of about a million parameters are made from games of the heuristic; the model imitates it;
then it plays whole games, and each of its replies gets a credit of its own:

    0.5 x (return of the game - mean return on that deal) + (1 if the reply is an option word for word, else 0; - mean of the batch)

The second part is for replies that choose, since any words will do as speech. The loss is PPO's clipped one; the games on one deal
take the place of a learned value, as in GRPO. For comparison the imitation goes on for as long. `--policy hf:dir=DIR/learned` seats
the result. A finished stage is not repeated.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from parlour.envs.language import speech
from parlour.policies import make_policy
from parlour.policies.files import atomic_write, write_json
from parlour.training.play.seeds import HELD_OUT, TRAINING
from parlour.training.report.result_table import markdown_table
from parlour.training.runs.run import Run
from parlour.training.statistics import SHARE, Estimate
from parlour.wrappers.base import inner_game
from parlour.wrappers.conversation import ConversationSeat, table
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

GAME, ROLE = "werewolf_v0", "Werewolf"
CONTEXT, ROOM, REPLY = 1024, 128, 16  # tokens: of a game; that must be left before a turn; of a reply
VOCABULARY, GAMES_OF_WORDS = 1536, 300  # tokens at most; games from which they are learned
HIDDEN, HEADS, INNER = 192, 8, 512  # of the network
IMITATED, WARM_UP = 16, 20  # games in a step of imitation; first steps, in which the rate rises
GROUP, UPDATES = 8, 4  # games of a deal; updates in a step of learning
ADAM: Any = {"betas": (0.9, 0.95), "weight_decay": 0.0}
CLIP = 0.2  # how far the probability of a token may move from what it was sampled with
WORDS, IMITATION, LONGER, LEARNING, MEASURED = 0, 1, 2, 3, 7  # streams of seeds
SPECIAL = PAD, END, USER, ASSISTANT = "<|pad|>", "<|end|>", "<|user|>", "<|assistant|>"
TEMPLATE = (
    "{% for message in messages %}"
    "{{ ('<|assistant|>' if message['role'] == 'assistant' else '<|user|>') + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def seeds_of(seed: int, stream: int, step: int, count: int, among: range = TRAINING) -> list[int]:
    """Seeds of deals, or of what a model draws: the same for the same arguments."""
    rng = np.random.default_rng((seed, stream, step))
    return [int(drawn) for drawn in rng.integers(among.start, among.stop, count)]


class RoleTable:
    """Words that cannot be used are not asked for again: the move that the rules prescribe takes their place."""

    def __init__(self, options: dict[str, Any], game: str = GAME, role: str = ROLE, others: str = "heuristic") -> None:
        self._env, self._role, self._others = table(game, on_bad="default", tries=1, **options), role, others
        self._game = inner_game(self._env, "RoleTable", full=True)
        self._teacher = make_policy("heuristic", self._game.spec.id, self._game.game.config)
        self._seats: dict[str, ConversationSeat] = {}

    def deal(self, seed: int) -> str:
        """Deal a new game: the first message to the role's seat, which gets news without a list of options."""
        self._env.reset(seed=seed)
        views: dict[str, Any] = {agent: self._game.view(seat) for agent, seat in self._game.seat_of.items()}
        agent = next(agent for agent, view in views.items() if view.role == self._role)
        if agent not in self._seats:
            self._seats[agent] = ConversationSeat(self._env, agent, self._others, list_options=False)
        self._teacher.reset(self._game.seat_of[agent], seed)
        self.seat = self._seats[agent]
        return self.seat.reset(seed)

    def say(self, words: str) -> tuple[tuple[bool, bool], str]:
        """Answer: whether the reply was speech, and one of the options word for word; and the next message."""
        legal = self._game.view(self._game.seat_of[self.seat.agent]).legal
        speaks = any(move.kind == speech.SILENT for move in legal)
        return (speaks, words.strip() in self.seat.options), self.seat.say(words)

    def teacher_words(self) -> str:
        """What the heuristic says in the seat's place."""
        game, seat = self._game, self._game.seat_of[self._game.agent_selection]
        action = self._teacher.act({}, game.infos[game.agent_selection])
        move = game.catalogue_of(seat)[int(action)]
        return self.seat.options[game.view(seat).legal.index(move)]


class Tokens:
    """A byte-pair tokenizer for one game; each message is encoded alone, between special tokens, as in `TEMPLATE`.

    It is made from what is told to the role's seat and what the heuristic says there; names of seats are tokens of their own.
    """

    def __init__(self, at: RoleTable, seeds: Sequence[int]) -> None:
        lines = []
        for deal in seeds:
            lines.append(at.deal(deal))
            while not at.seat.done:
                words = at.teacher_words()
                lines += [words, at.say(words)[1]]
        made, alphabet = Tokenizer(models.BPE()), sorted(pre_tokenizers.ByteLevel.alphabet())
        by_byte = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"player_\d+"), "isolated"), by_byte])
        made.decoder = decoders.ByteLevel()
        learned = {"vocab_size": VOCABULARY, "special_tokens": list(SPECIAL), "initial_alphabet": alphabet}
        made.train_from_iterator(lines, trainers.BpeTrainer(**learned, show_progress=False))
        special = {"eos_token": END, "pad_token": PAD, "additional_special_tokens": [USER, ASSISTANT]}
        own = {"tokenizer_object": made, "chat_template": TEMPLATE, "clean_up_tokenization_spaces": False}
        self.tokenizer = PreTrainedTokenizerFast(**own, **special)
        self.pad, self.end, self.user, self.assistant = self.tokenizer.convert_tokens_to_ids(list(SPECIAL))

    def encode(self, words: str) -> list[int]:
        """Tokens of words, none of them special."""
        return list(self.tokenizer.backend_tokenizer.encode(words, add_special_tokens=False).ids)

    def message(self, words: str) -> list[int]:
        """A message, and that the model speaks next."""
        return [self.user, *self.encode(words), self.end, self.assistant]

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of a reply; special tokens say nothing."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))


def make_model(tokens: Tokens, seed: int) -> Any:
    """A Llama of two layers with weights drawn from a seed."""
    sizes = {"vocab_size": len(tokens.tokenizer), "hidden_size": HIDDEN, "intermediate_size": INNER}
    heads = {"num_hidden_layers": 2, "num_attention_heads": HEADS, "num_key_value_heads": HEADS}
    shape = {"max_position_embeddings": CONTEXT, "tie_word_embeddings": True, "initializer_range": 0.06}
    ids = {"bos_token_id": None, "eos_token_id": tokens.end, "pad_token_id": tokens.pad}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(LlamaConfig(**sizes, **heads, **shape, **ids))


def token_logits(model: Any, games: Sequence["SeatGame"], pad: int) -> Any:
    """Logits of all tokens of the replies of games, game by game: shape (tokens, vocabulary).

    Eight games of similar length are read side by side, filled up on the right: a causal network needs no mask for that.
    """
    order = sorted(range(len(games)), key=lambda k: len(games[k].tokens))
    hidden: dict[int, Any] = {}
    for start in range(0, len(order), 8):
        rows = order[start : start + 8]
        ids = torch.full((len(rows), max(len(games[k].tokens) for k in rows)), pad, dtype=torch.long)
        for row, k in enumerate(rows):
            ids[row, : len(games[k].tokens)] = torch.as_tensor(games[k].tokens)
        read = model.model(input_ids=ids, use_cache=False).last_hidden_state
        hidden |= {k: read[row, games[k].places] for row, k in enumerate(rows)}
    return model.lm_head(torch.cat([hidden[k] for k in range(len(games))]))


class Reply(NamedTuple):
    """A reply: the place of its first token, its tokens, with which log-probabilities they were sampled; what it is."""

    start: int
    tokens: list[int]
    log_probs: list[float]
    speech: bool
    canonical: bool


@dataclass
class SeatGame:
    """A game as the seat of the model met it."""

    seed: int
    tokens: list[int] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    reward: float = 0.0

    @property
    def places(self) -> list[int]:
        """Where the tokens of the replies are predicted: one place before each."""
        return [reply.start + k - 1 for reply in self.replies for k in range(len(reply.tokens))]

    def over(self, at: RoleTable) -> bool:
        """Whether the game is over, or too long for the network; then its seat leaves the table."""
        if not at.seat.done and len(self.tokens) > CONTEXT - ROOM:
            at.seat.leave()
        self.reward = at.seat.reward if at.seat.done else 0.0
        return at.seat.done

    def choices(self) -> list[bool]:
        """Of the replies that choose, whether they are an option word for word."""
        return [reply.canonical for reply in self.replies if not reply.speech]


def taught(at: RoleTable, tokens: Tokens, seed: int) -> SeatGame:
    """A game of the heuristic at the role's seat, in its own words."""
    game, news = SeatGame(seed), at.deal(seed)
    while not game.over(at):
        game.tokens += tokens.message(news)
        words = at.teacher_words()
        judged, news = at.say(words)
        game.replies.append(Reply(len(game.tokens), [*tokens.encode(words), tokens.end], [], *judged))
        game.tokens += game.replies[-1].tokens
    return game


def replies_to(model: Any, tokens: Tokens, games: Sequence[SeatGame], seed: int | None) -> list[tuple[Any, Any]]:
    """A reply in each game: tokens and their log-probabilities. Sampled at temperature 1; seed None: the likeliest tokens."""
    longest = max(len(game.tokens) for game in games)
    ids = torch.full((len(games), longest), tokens.pad)
    for row, game in enumerate(games):  # filled up on the left: all replies begin in the same column
        ids[row, longest - len(game.tokens) :] = torch.as_tensor(game.tokens)
    how: Any = {"max_new_tokens": REPLY, "do_sample": seed is not None, "top_k": 0, "temperature": 1.0, "top_p": 1.0}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed or 0)
        how |= {"attention_mask": (ids != tokens.pad).long(), "return_dict_in_generate": True, "output_logits": True}
        out = model.generate(ids, **how)
    said = out.sequences[:, longest:]
    log_probs = torch.stack(out.logits, 1).log_softmax(-1).gather(2, said[:, :, None])[:, :, 0].tolist()
    lengths = ((said == tokens.end).cumsum(1).roll(1, 1).index_fill(1, torch.tensor([0]), 0) == 0).sum(1).tolist()
    return [(own[:n], probs[:n]) for own, probs, n in zip(said.tolist(), log_probs, lengths, strict=True)]


def play(
    model: Any, tokens: Tokens, tables: list[RoleTable], seeds: Sequence[int], draws: int | None
) -> list[SeatGame]:
    """Whole games of a model, one at each table; `draws` is the seed of what it samples, None: always the likeliest token."""
    games = [SeatGame(seed) for seed in seeds]
    news = [at.deal(seed) for at, seed in zip(tables, seeds, strict=False)]
    turn = 0
    while rows := [k for k, game in enumerate(games) if not game.over(tables[k])]:
        for k in rows:
            games[k].tokens += tokens.message(news[k])
        seed, turn = None if draws is None else draws + turn, turn + 1
        for k, reply in zip(rows, replies_to(model, tokens, [games[k] for k in rows], seed), strict=True):
            judged, news[k] = tables[k].say(tokens.decode(reply[0]))
            games[k].replies.append(Reply(len(games[k].tokens), *reply, *judged))
            games[k].tokens += reply[0]
    return games


def descend(model: Any, optimizer: Any, loss: Any, rate: float) -> None:
    """Move the weights once."""
    optimizer.param_groups[0]["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def credits_of(games: Sequence[SeatGame]) -> list[list[float]]:
    """The credit of each reply of each game of a batch; games with one seed are of one deal."""
    returns: dict[int, list[float]] = {}
    for game in games:
        returns.setdefault(game.seed, []).append(game.reward)
    canonical = [own for game in games for own in game.choices()]
    usual = sum(canonical) / max(1, len(canonical))
    gains = [0.5 * (game.reward - float(np.mean(returns[game.seed]))) for game in games]
    return [
        [gain + (0 if reply.speech else reply.canonical - usual) for reply in game.replies]
        for game, gain in zip(games, gains, strict=True)
    ]


def policy_loss(model: Any, games: Sequence[tuple[SeatGame, list[float]]]) -> Any:
    """PPO's clipped loss of games, given the credit of their replies."""
    kept = [(game, own) for game, own in games if game.replies]
    replies = [(reply, gain) for game, own in kept for reply, gain in zip(game.replies, own, strict=True)]
    said = torch.as_tensor([token for reply, _ in replies for token in reply.tokens])
    sampled = torch.as_tensor([x for reply, _ in replies for x in reply.log_probs], dtype=torch.float32)
    gains = torch.as_tensor([gain for reply, gain in replies for _ in reply.tokens], dtype=torch.float32)
    logits = token_logits(model, [game for game, _ in kept], model.config.pad_token_id)
    ratio = (logits.log_softmax(-1).gather(1, said[:, None])[:, 0] - sampled).exp()
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    return -torch.minimum(ratio * gains, clipped * gains).mean()


class Stages:
    """A run in its folder: `NAME.json` of a stage is written last, and a stage that has it is not repeated."""

    def __init__(self, chosen: argparse.Namespace, **options: Any) -> None:
        self.chosen, self.out, self.seed = chosen, chosen.out, chosen.seed
        self.tables = [RoleTable(options) for _ in range(max(100, chosen.batch * GROUP))]
        self.tokens = Tokens(self.tables[0], seeds_of(self.seed, WORDS, 0, GAMES_OF_WORDS))

    def imitate(self, model: Any, stream: int, steps: int) -> list[dict[str, float]]:
        """Learn to say what the heuristic says, each game seen once; the rate rises, stays, and falls over the last half."""
        optimizer, curve = torch.optim.AdamW(model.parameters(), **ADAM), []
        for k in range(steps):
            deals = seeds_of(self.seed, stream, k, IMITATED)
            games = [game for deal in deals if (game := taught(self.tables[0], self.tokens, deal)).replies]
            wanted = torch.as_tensor([token for game in games for reply in game.replies for token in reply.tokens])
            loss = torch.nn.functional.cross_entropy(token_logits(model, games, self.tokens.pad), wanted)
            descend(model, optimizer, loss, 3e-3 * min((k + 1) / WARM_UP, 1.0, 2 * (steps - k) / steps))
            curve.append({"step": k + 1, "loss": float(loss.detach())})
        return curve

    def learn(self, model: Any) -> list[dict[str, float]]:
        """Learn from whole games of its own, `GROUP` on each deal."""
        chosen, optimizer, curve = self.chosen, torch.optim.AdamW(model.parameters(), **ADAM), []
        for k in range(chosen.learning):
            deals = [deal for deal in seeds_of(self.seed, LEARNING, k, chosen.batch) for _ in range(GROUP)]
            (draws,) = seeds_of(self.seed, LEARNING, chosen.learning + k, 1)
            games = play(model, self.tokens, self.tables, deals, draws)
            credited = list(zip(games, credits_of(games), strict=True))
            for part in np.array_split(np.arange(chosen.batch), min(UPDATES, chosen.batch)):
                rows = slice(part[0] * GROUP, (part[-1] + 1) * GROUP)
                descend(model, optimizer, policy_loss(model, credited[rows]), 5e-4 * (1 - k / chosen.learning))
            curve.append({"step": k + 1, "games": len(games), "wins": sum(game.reward > 0 for game in games)})
        return curve

    def stage(self, name: str, after: str, work: Callable[[Any], list[dict[str, float]]]) -> None:
        """Make a model from another, or from nothing, unless that is done."""
        if (self.out / f"{name}.json").exists():
            return
        started = process_time()
        model = self.model(after) if after else make_model(self.tokens, self.seed)
        curve = work(model)
        model.save_pretrained(str(self.out / name), safe_serialization=True)
        self.tokens.tokenizer.save_pretrained(str(self.out / name))
        write_json(self.out / f"{name}.json", {"processor_seconds": process_time() - started, "curve": curve})

    def model(self, name: str) -> Any:
        """The model of a finished stage."""
        return LlamaForCausalLM.from_pretrained(str(self.out / name), local_files_only=True)

    def held_out(self) -> dict[str, list[SeatGame]]:
        """The games of every player on the same held-out deals, on which no model has learned."""
        deals = seeds_of(self.seed, MEASURED, 0, self.chosen.deals, HELD_OUT)
        parts = [deals[start : start + 100] for start in range(0, len(deals), 100)]

        def played(name: str, *, greedy: bool = False) -> list[SeatGame]:
            how, model = (self.tokens, self.tables), self.model(name)
            return [game for part in parts for game in play(model, *how, part, None if greedy else part[0])]

        sampled = {name: played(name) for name in ("imitation", "learned", "longer")}
        heuristic = [taught(self.tables[0], self.tokens, deal) for deal in deals]
        return sampled | {"learned, greedy": played("learned", greedy=True), "heuristic": heuristic}


def report(games: dict[str, list[SeatGame]]) -> str:
    """Every player's row and what learning gained, as Markdown."""
    won_by, rows = {name: [game.reward > 0 for game in own] for name, own in games.items()}, []
    for name, won in won_by.items():
        wins: Any = Estimate.rate(sum(won), len(won))
        choices = [own for game in games[name] if (own := game.choices())]
        share = Estimate.weighted_mean([sum(own) / len(own) for own in choices], [len(own) for own in choices], SHARE)
        rows.append((name, *(f"{estimate.value:.3f} {estimate.interval('.3f')}" for estimate in (wins, share))))
    sentences = [
        f"Learning won {100 * gain.value:+.1f} points {gain.interval('+.1f', 100)} more often than {what}, "
        f"n = {gain.n} deals, paired, p = {gain.p:.2g}."
        for name, what in (("imitation", "imitation"), ("longer", "longer imitation"))
        for gain in [Estimate.paired(won_by["learned"], won_by[name])]
    ]
    lines = markdown_table(("player", "wins", "canonical choices"), rows)
    return "\n\n".join([f"# A small language model at {GAME}, as {ROLE}", *sentences, lines]) + "\n"


def train(chosen: argparse.Namespace, **options: Any) -> dict[str, list[SeatGame]]:
    """All stages and the measurement; leaves models that transformers reads, curves and report.md."""
    torch.set_num_threads(1)
    disable_progress_bar()
    settings = {key: value for key, value in vars(chosen).items() if key != "out"}
    with Run(chosen.out).opened({**settings, "options": options}):
        run = Stages(chosen, **options)
        run.stage("imitation", "", lambda model: run.imitate(model, IMITATION, chosen.imitation))
        run.stage("learned", "imitation", run.learn)
        run.stage("longer", "imitation", lambda model: run.imitate(model, LONGER, chosen.longer))
        games = run.held_out()
        atomic_write(chosen.out / "report.md", report(games))
    return games


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/train_lm"), help="folder of the run")
    for name, default, what in (
        ("seed", 0, "of everything"),
        ("imitation", 400, "steps of imitation"),
        ("learning", 32, "steps of learning"),
        ("batch", 16, "deals in each step of learning"),
        ("longer", 1100, "steps of the longer imitation after it"),
        ("deals", 400, "held-out deals of the measurement"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what}; {default} unless told")
    train(parser.parse_args(), num_players=4)


if __name__ == "__main__":
    main()
