"""Train a language model of a billion parameters or more on one GPU: whole games of Werewolf, with TRL's GRPO.

    pip install -c docs/integrations/trl.txt ".[trl]" peft
    python examples/train_trl.py --model Qwen/Qwen2.5-1.5B-Instruct --out runs/train_trl

The model takes one seat; heuristics play the others. A completion is a whole game, and all completions of a group play the same
deal. The reward is the seat's return plus half the share of replies that the table could use. The model is measured on held-out
deals before and after training, on the same deals with the same random draws.

With --lora-rank 32 (the default) the base model stays in bfloat16 and only an adapter is trained. --lora-rank 0 trains all weights.
If the run is killed, the same command resumes after the last checkpoint. The result is in DIR/model, the report in DIR/report.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from parlour.envs.common.terminal import tell_text
from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write, read_json, write_json
from parlour.training.harnesses.trl import GameRollout, game_reward, rollout_rows, seed_of, usable_share
from parlour.training.play.seeds import HELD_OUT, TRAINING
from parlour.training.report.result_table import markdown_table
from parlour.training.report.verdicts import REWARD
from parlour.training.runs.run import Run
from parlour.training.statistics import SHARE, Bounds, Estimate
from parlour.wrappers import ConversationSeat
from parlour.wrappers.conversation import table
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig, GRPOTrainer

RETURN: Bounds = (-1.0, 1.0)
MEASURED_SEED = 1_000_003
"""Seed of the model's draws in a measurement: the same before and after."""


@dataclass(frozen=True)
class Settings:
    """What decides the result; stored with the run."""

    model: str
    """A folder, or a name on the hub, of a causal language model with a chat template."""
    game: str = "werewolf_v0"
    players: int = 4
    agent: str = "player_0"
    """The model's seat."""
    steps: int = 200
    deals: int = 4
    """Deals in a step."""
    group: int = 8
    """Games on each deal."""
    at_once: int = 2
    """Games in one backward pass: raise it until the memory is used."""
    reply: int = 48
    """Most tokens of a reply."""
    tokens: int = 3072
    """Most tokens of a game after its first message."""
    rate: float = 1e-5
    lora_rank: int = 32
    """Rank of the adapter; 0: all weights are trained."""
    held_out: int = 200
    """Deals of a measurement."""
    seed: int = 0


def seat_maker(settings: Settings) -> Callable[[], ConversationSeat]:
    """Makes the model's seat; if a reply cannot be used, the rules choose the move."""

    def make() -> ConversationSeat:
        env = table(settings.game, num_players=settings.players, on_bad="default", tries=1)
        return ConversationSeat(env, settings.agent, "heuristic")

    return make


def trainer_of(settings: Settings, folder: Path) -> GRPOTrainer:
    """TRL's trainer for the seat."""
    gpu = torch.cuda.is_available()
    make = seat_maker(settings)
    rows = rollout_rows(settings.steps * settings.deals, make, seed=TRAINING.start + settings.seed * 10_000_000)
    args = GRPOConfig(
        output_dir=str(folder / "checkpoints"),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.at_once,
        gradient_accumulation_steps=settings.deals * settings.group // settings.at_once,
        num_generations=settings.group,
        max_completion_length=settings.tokens,
        learning_rate=settings.rate,
        lr_scheduler_type="constant",
        reward_weights=[1.0, 0.5],
        loss_type="dr_grpo",
        scale_rewards="none",
        temperature=1.0,
        seed=settings.seed,
        shuffle_dataset=False,
        model_init_kwargs={"dtype": "bfloat16" if gpu else "float32"},
        bf16=gpu,
        use_cpu=not gpu,
        gradient_checkpointing=gpu,
        logging_steps=1,
        save_steps=max(1, settings.steps // 10),
        save_total_limit=2,
        report_to="none",
    )
    return GRPOTrainer(
        model=settings.model,
        args=args,
        train_dataset=Dataset.from_list(rows),
        rollout_func=GameRollout(make, max_new_tokens=settings.reply, seed=settings.seed),
        reward_funcs=[game_reward, usable_share],
        peft_config=adapter(settings.lora_rank),
    )


def adapter(rank: int) -> Any:
    """The adapter that is trained; None: all weights."""
    if not rank:
        return None
    from peft import LoraConfig

    return LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")


def measured(trainer: GRPOTrainer, settings: Settings, file: Path) -> dict[str, list[float]]:
    """Returns and shares of usable replies on held-out deals, game by game; from the file if they were measured before."""
    if not file.exists():
        make = seat_maker(settings)
        prompts = [row["prompt"] for row in rollout_rows(settings.held_out, make, seed=HELD_OUT.start)]
        rollout = GameRollout(make, max_new_tokens=settings.reply, seed=MEASURED_SEED)
        made = rollout(prompts, trainer)
        usable = usable_share(made["completion_ids"], made["said"], made["refused"])
        write_json(file, {"deals": list(map(seed_of, prompts)), "returns": made["game_reward"], "usable": usable})
    stored: dict[str, list[float]] = read_json(file)
    return stored


def save(trainer: GRPOTrainer, folder: Path) -> None:
    """Write the trained model, with the adapter merged, so that `--policy hf:dir=FOLDER` seats it."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    model.save_pretrained(folder)
    trainer.processing_class.save_pretrained(folder)


def report(settings: Settings, before: dict[str, list[float]], after: dict[str, list[float]]) -> str:
    """The result in Markdown."""
    rows = []
    for name, values in (("before", before), ("after", after)):
        estimates = (Estimate.mean(values["returns"], RETURN), Estimate.mean(values["usable"], SHARE))
        texts = (f"{estimate.value:.3f} {estimate.interval('.3f')}" for estimate in estimates)
        rows.append((name, str(len(values["returns"])), *texts))
    verdict = REWARD.compared(
        "the model after training", "the model before it", Estimate.mean_difference(after["returns"], before["returns"])
    )
    trained = f"{settings.model}: {settings.steps} steps, {settings.deals} deals a step, {settings.group} games a deal."
    columns = ("model", "held-out deals", "return", "usable replies")
    return "\n".join([verdict, "", trained, "", markdown_table(columns, rows), ""])


def main(settings: Settings, out: Path) -> str:
    """Measure, train, measure again; the report.

    Raises:
        ParlourError: A step's games are not whole batches, or `out` holds a run with other settings.
    """
    games = settings.deals * settings.group
    if games % settings.at_once:
        raise ParlourError(f"--at-once {settings.at_once} is not accepted; accepted: a divisor of {games} games a step")
    with Run(out).opened(asdict(settings)) as folder:
        trainer = trainer_of(settings, folder)
        before = measured(trainer, settings, folder / "before.json")
        kept = folder / "checkpoints"
        trainer.train(resume_from_checkpoint=get_last_checkpoint(kept) if kept.exists() else None)
        write_json(folder / "curve.json", {"steps": trainer.state.log_history})
        text = report(settings, before, measured(trainer, settings, folder / "after.json"))
        save(trainer, folder / "model")
        atomic_write(folder / "report.md", text)
    return text


def given() -> tuple[Settings, Path]:
    """The settings of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=Path("runs/train_trl"))
    for setting in fields(Settings):
        kind = {"int": int, "float": float}.get(str(setting.type), str)
        option = f"--{setting.name.replace('_', '-')}"
        if setting.name == "model":
            parser.add_argument(option, required=True)
        else:
            parser.add_argument(option, type=kind, default=setting.default, help=f"default: {setting.default}")
    chosen = vars(parser.parse_args())
    out: Path = chosen.pop("out")
    return Settings(**chosen), out


if __name__ == "__main__":
    tell_text(main(*given()))
