"""Weights & Biases offline: a trainer with `--log wandb` writes run directories, resumes by the run's id, and logs what the CSV has."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("wandb", reason="wandb is not installed; pip install '.[wandb]'")

from parlour.training.runs.loggers import SPEED, Loggers, read_curve
from wandb.proto import wandb_internal_pb2

pytestmark = pytest.mark.filterwarnings("ignore")  # of W&B's own
TRAIN = ["train", "avalon", "--games", "1", "-n", "5", "--log", "wandb"]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """No network, and nothing in the user's own folders."""
    for name, value in {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_API_KEY": ""}.items():
        monkeypatch.setenv(name, value)
    for name in ("WANDB_CONFIG_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "own"))


HEADER, BLOCK, LAST = 7, 32_768, (1, 4)


def records(file: Path) -> Iterator[bytes]:
    """The records of a file of W&B: LevelDB's log format, behind a header. A record ends with a piece of kind FULL or LAST."""
    content, at, record = file.read_bytes(), HEADER, b""
    while at + 7 <= len(content):
        if BLOCK - at % BLOCK < 7:  # too little room for a piece: the rest of the block is empty
            at += BLOCK - at % BLOCK
            continue
        _checksum, length, kind = struct.unpack_from("<IHB", content, at)
        record += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in LAST:
            yield record
            record = b""


def history(folder: Path) -> dict[int, dict[str, float]]:
    """Step -> the metrics that the offline runs of a run directory hold."""
    by_step: dict[int, dict[str, float]] = {}
    for file in sorted(folder.glob("wandb/offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime):
        for data in records(file):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            if record.HasField("history"):
                row = {
                    "".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item
                }
                step = int(row["_step"])
                assert step not in by_step, f"step {step} twice"
                by_step[step] = {name: x for name, x in row.items() if not name.startswith("_") and name != SPEED}
    return by_step


def curve(folder: Path) -> dict[int, dict[str, Any]]:
    """Step -> the metrics of progress.csv."""
    return {step: {name: x for name, x in row.items() if x is not None} for step, row in read_curve(folder)}


def identities(folder: Path) -> list[str]:
    """The id of each offline run, from its folder: `offline-run-TIME-ID`, with a number behind it if the second is the same."""
    return [path.name.split("-")[3] for path in folder.glob("wandb/offline-run-*")]


def test_a_trainer_leaves_an_offline_run_with_its_curve(tmp_path):
    command = [sys.executable, "-m", "parlour.training.cli", *TRAIN, "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert len(curve(tmp_path / "run")) == 2
    assert history(tmp_path / "run") == curve(tmp_path / "run")


def test_a_resumed_run_goes_on_under_its_id_and_holds_each_step_once(tmp_path):
    for steps, kept in (([10, 20, 30], 0), ([20, 30, 40], 1)):  # the first process was killed behind its checkpoint
        with closing(Loggers(tmp_path, ["wandb"], read_curve(tmp_path)[:kept], monotonic())) as logger:
            for step in steps:
                logger.log({"eval/win_rate": step / 8, "charts/best_return": None}, step)
    assert history(tmp_path) == curve(tmp_path) == {step: {"eval/win_rate": step / 8} for step in (10, 20, 30, 40)}
    kept_id = json.loads((tmp_path / "loggers.json").read_text())["wandb"]["id"]
    assert identities(tmp_path) == [kept_id] * 2


def test_a_network_that_is_not_there_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    command = [sys.executable, "-m", "parlour.training.cli", *TRAIN, "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr.rstrip().splitlines()[-1].startswith("parlour: wandb: ")
    assert "WANDB_MODE=offline" in done.stderr
    assert "Traceback" not in done.stderr
