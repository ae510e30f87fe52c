"""`--config FILE`: a file of settings stands between the defaults and the command line; a trainer leaves one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings
from parlour.training.cli.config_file import FILE
from parlour.training.cli.options import Options, as_command
from parlour.training.report.report import Report
from pydantic import Field


class Config(Settings):
    steps: int = 3
    """Number of steps."""
    hidden: tuple[int, ...] = (8,)
    """Widths of the layers."""
    anchored: bool = False
    """Whether there is an anchor."""
    option: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game."""


def train(
    config: Annotated[Config, Options(rename={"option": "--set"})],
    out: Annotated[Path, "Run directory."],
) -> Report:
    """Train.

    Example: parlour train
    """
    return Report("", values=[config.steps, list(config.hidden), config.anchored, config.option])


app = typer.Typer(add_completion=False)
app.command()(as_command(train, trains=True))


def result(capsys, *arguments: str) -> str:
    app(args=[*arguments, "--json"], standalone_mode=False)
    return "".join(capsys.readouterr().out.split())


def test_the_command_line_comes_before_the_file_and_the_file_before_the_defaults(tmp_path, capsys):
    file = tmp_path / "settings.toml"
    file.write_text("steps = 5\nhidden = [16, 32]\nanchored = true\n[set]\ntalk = false\n")
    assert result(capsys, "--out", str(tmp_path)) == "[3,[8],false,{}]"
    assert result(capsys, "--out", str(tmp_path), "--config", str(file)) == '[5,[16,32],true,{"talk":false}]'
    assert result(capsys, "--out", str(tmp_path), "--config", str(file), "--steps", "7").startswith("[7,[16,32]")


def test_a_trainer_leaves_a_file_that_starts_the_same_run(tmp_path, capsys):
    first = result(
        capsys, "--out", str(tmp_path), "--steps", "9", "--hidden", "4,4", "--set", "talk=false", "--anchored"
    )
    left = tmp_path / FILE
    assert left.read_text() == 'steps = 9\nhidden = "4,4"\nanchored = true\nset = ["talk=false"]\n'
    assert result(capsys, "--out", str(tmp_path), "--config", str(left)) == first


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("stepz = 5\n", "setting 'stepz' is not accepted; accepted: anchored, hidden, out, set, steps"),
        ("steps = \n", "cannot be read"),
    ],
)
def test_a_file_with_another_setting_or_no_toml_is_refused(text, error, tmp_path):
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ParlourError, match=error):
        app(args=["--out", str(tmp_path), "--config", str(tmp_path / "settings.toml")], standalone_mode=False)
