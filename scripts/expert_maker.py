"""Makes an expert, network and card, from a run of `parlour train selfplay` and the best responses to it.

A card holds what the run's own files say. The network is stored in half precision; what was measured is the run's own, in
single precision.
"""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.experts.catalogue import ExpertCard, Exploit, Points
from parlour.policies.files import atomic_write, read_json, reading
from parlour.policies.trained import SUFFIX, TrainedSeat
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig

ROOT: Final = Path(__file__).resolve().parents[1]
LEAST_DEALS: Final = 2000
"""Held-out deals on which an expert was measured, at least."""
MOST_BYTES: Final = 2_000_000
"""Most bytes of all networks together."""
_ALWAYS: Final = ("steps", "seed")
"""Settings that a card's command names also where they are the default."""
_FLAGS: Final = {"num_players": "players", "rules": "rules"}
_REPEATED: Final = {"members": "--member", "population": "--population"}


def make_expert(
    run: Path,
    name: str,
    folder: Path,
    best_responses: Path | None = None,
    strangers: Path | None = None,
    style: str = "",
) -> ExpertCard:
    """Write `NAME.npz` and `NAME.json`.

    Args:
        run: Folder of a finished run.
        name: Name of the two files.
        folder: Where they go.
        best_responses: What `parlour evaluate best-response --policy RUN/policy.npz --json` printed.
        strangers: What `parlour evaluate strangers --policy RUN/policy.npz --family FAMILY ... --json` printed.
        style: What `expert:style=NAME` is to name, or empty for the strongest play.

    Raises:
        ParlourError: The style is not a plain word, a file is missing or of another kind, the run was measured on too few deals, the
            best responses are to another player, or the networks would be too large together.
    """
    if style and not style.isidentifier():
        raise ParlourError(f"style {style!r} is not accepted; accepted: a plain word")
    source = run / f"policy{SUFFIX}"
    seat = TrainedSeat.load(source)
    written = _in_half_precision(seat)
    others = [path for path in folder.glob(f"*{SUFFIX}") if path.stem != name]
    total = len(written) + sum(path.stat().st_size for path in others)
    if total > MOST_BYTES:
        raise ParlourError(f"{total:,} bytes of networks are not accepted; accepted: {MOST_BYTES:,} together")
    known = {sha256(content).hexdigest() for content in (source.read_bytes(), written)}
    exploits = () if best_responses is None else _exploits(best_responses, known)
    card = _card(run, name, seat, sha256(written).hexdigest(), exploits)
    card = replace(card, style=style)
    if strangers is not None:
        card = _with_strangers(card, strangers)
    atomic_write(folder / f"{name}{SUFFIX}", written)
    card.write(folder / f"{name}.json")
    return card


def measure_again(name: str, folder: Path, strangers: Path) -> ExpertCard:
    """Write a new figure among strangers to the card of an expert; its network stays.

    Args:
        name: Name of its two files.
        folder: Where they are.
        strangers: What `parlour evaluate strangers --policy expert --family FAMILY ... --json` printed, for a style with
            `--policy expert:style=STYLE`.

    Raises:
        ParlourError: A file is missing or of another kind, or another player was measured.
    """
    path = folder / f"{name}.json"
    card = ExpertCard.read(path)
    card = _with_strangers(card, strangers, card.policy)
    card.write(path)
    return card


def _with_strangers(card: ExpertCard, path: Path, only: str | None = None) -> ExpertCard:
    """The card with a figure among strangers, of this player only."""
    with reading(path, "file of strangers", "is not accepted; accepted: what evaluate strangers --json printed"):
        stored = read_json(path)
        families = tuple(dict.fromkeys(str(score["family"]) for score in stored["scores"]))
        player, points = str(stored["policy"]), _points(stored["mean"]["all"])
    if only not in (None, player):
        raise ParlourError(f"{player!r} among strangers is not accepted; accepted: {only}")
    return replace(card, among_strangers=points, families=families)


def _in_half_precision(seat: TrainedSeat) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"policy{SUFFIX}"
        seat.save(path, "float16")
        return path.read_bytes()


def _card(run: Path, name: str, seat: TrainedSeat, digest: str, exploits: tuple[Exploit, ...]) -> ExpertCard:
    config, summary = read_json(run / "config.json"), read_json(run / "summary.json")
    with reading(run / "summary.json", "summary", "is not accepted; accepted: that of a run of `train selfplay`"):
        last = summary["last"]
        whole = next(
            difference for difference in summary["differences"] if (difference["a"], difference["b"]) == (last, RULE)
        )
        measured = datetime.fromtimestamp((run / "summary.json").stat().st_mtime, UTC).date()
        card = ExpertCard(
            name=name,
            game=seat.game,
            config=json.loads(json.dumps(seat.config)),
            sha256=digest,
            features=seat.features,
            command=command(config),
            seed=config["seed"],
            decisions=summary["steps"],
            seconds=summary["seconds"],
            date=measured.isoformat(),
            whole_sides=_points(whole),
            one_seat=_points(summary["seat"][last]),
            exploits=exploits,
            made_with=made_with(),
        )
    for what, points in (("whole sides", card.whole_sides), ("one seat", card.one_seat)):
        if points.n < LEAST_DEALS:
            raise ParlourError(f"{what} were measured on {points.n} held-out deals; accepted: at least {LEAST_DEALS}")
    return card


def _points(estimate: Mapping[str, Any]) -> Points:
    """From shares (-1 to 1) to points."""
    low, high = (estimate["mean"] if estimate[end] is None else estimate[end] for end in ("low", "high"))
    mean, low, high = (round(100 * share, 2) for share in (estimate["mean"], low, high))
    return Points(mean, low, high, estimate["n"])


def _exploits(path: Path, known: set[str]) -> tuple[Exploit, ...]:
    with reading(
        path, "file of best responses", "is not accepted; accepted: what evaluate best-response --json printed"
    ):
        responses = read_json(path)["best_responses"]
        made = tuple(Exploit(response["side"], response["steps"], _points(response["gain"])) for response in responses)
        against = {response["against"] for response in responses}
    for player in against:
        if not Path(player).is_file() or sha256(Path(player).read_bytes()).hexdigest() not in known:
            raise ParlourError(f"best responses to {player!r} are not accepted; accepted: to the policy of the run")
    return made


def made_with() -> dict[str, str]:
    """What decides the bytes of a network besides its command: the commit, Python, the libraries, and the processor."""
    describe = ("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True).stdout if shutil.which("git") else ""
    versions = {name: version(name) for name in ("numpy", "numba", "torch")}
    return {
        "commit": commit.strip() or "unknown",
        "python": platform.python_version(),
        **versions,
        "processor": platform.machine(),
    }


def command(config: Mapping[str, Any]) -> str:
    """The command that trains with this configuration: the table, steps and seed, and what else is not the default.

    >>> command({"game": "avalon_v0", "options": {"num_players": 6, "talk": False}, "steps": 9000, "seed": 3})
    'parlour train selfplay avalon_v0 --players 6 --set talk=false --steps 9000 --seed 3'
    >>> command({"game": "werewolf_v0", "options": {}, "steps": 9000, "false_claim": 0.1, "seed": 0})
    'parlour train selfplay werewolf_v0 --steps 9000 --false-claim 0.1 --seed 0'
    """
    words = ["parlour", "train", "selfplay", config["game"]]
    for key, value in config["options"].items():
        plain = value if isinstance(value, str) else json.dumps(value)
        words += [f"--{_FLAGS[key]}", plain] if key in _FLAGS else ["--set", f"{key}={plain}"]
    usual = SelfplayConfig().plain()  # without what is stored only where it is set
    for name in SelfplayConfig.model_fields:
        value = config.get(name)
        if name in ("game", "options") or value is None or (value == usual.get(name) and name not in _ALWAYS):
            continue
        words += _option(name, value)
    return shlex.join(words)


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if name in _REPEATED:
        return [word for item in value for word in (_REPEATED[name], item)]
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    return [flag, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
