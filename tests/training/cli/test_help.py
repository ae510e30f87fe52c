"""`--help` of every command: an example, and for every option a default, unless it is required or a flag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
import typer
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings
from parlour.training.cli import COMMANDS, GROUPS, command_of, commands, run
from parlour.training.cli.options import HELP_ALL, MOST, Options, as_command
from parlour.training.report.report import Report
from pydantic import Field

OPTION = re.compile(r"^[ *]+(--?[a-z][a-z-]*)", re.MULTILINE)
FLAGS = {"--forecast", "--json", "--list", "--help", "--no-schema", "--resume", "--truth"}


def help_of(words: str, capsys, option: str = "--help") -> str:
    assert run([*words.split(), option]) == 0
    lines = capsys.readouterr().out.replace("│", " ").splitlines()
    return "\n".join(line.rstrip() for line in lines)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_shows_its_default(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = help_of(words, capsys, HELP_ALL)
    assert f"Example: parlour {words}" in shown
    options = re.split(r"\n[ *]+(?=--?[a-z])", shown.partition("─ Options")[2])[1:]
    assert options
    for option in options:
        name = option.split()[0]
        if name not in FLAGS:
            assert "[default:" in option or "[required]" in option, option
        text = re.sub(r"\[.*?\]|-\S+|<.*?>", "", option.replace("\n", " ")).split()
        assert len(text) > 1, f"no help: {option}"


@pytest.mark.parametrize("words", commands())
def test_help_lists_at_most_14_options_and_says_how_many_more_there_are(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    known, listed = ({*re.findall(OPTION, help_of(words, capsys, option))} for option in (HELP_ALL, "--help"))
    listed -= {HELP_ALL}  # the last line
    assert listed <= known
    assert len(listed) <= MOST
    last = help_of(words, capsys).strip().splitlines()[-1].strip()
    more = len(known) - len(listed)
    assert (last == f"--help-all shows the other {more} options.") == (more > 0)
    declared = {
        name for option in command_of(words).params if option.param_type_name == "option" for name in option.opts
    }
    assert declared <= {*help_of(words, capsys, HELP_ALL).split()}


@pytest.mark.parametrize("words", ["", "train"])
def test_the_help_of_a_group_is_whole(words, capsys):
    assert help_of(words, capsys, HELP_ALL) == help_of(words, capsys)


def test_what_help_does_not_list_is_accepted(capsys, error_of):
    assert "--ray-workers" not in help_of("play", capsys)
    assert "--ray-workers goes with --ray" in error_of(["play", "template_v0", "--ray-workers", "2"])


def test_the_command_line_is_small():
    assert len({words.split()[0] for words in COMMANDS}) <= 18
    assert len(COMMANDS) <= 40
    assert set(GROUPS) - {""} == {words.split()[0] for words in COMMANDS} - set(COMMANDS)


@pytest.mark.parametrize("words", [words for words in COMMANDS if any(f"{words} " in other for other in COMMANDS)])
def test_a_command_names_those_that_begin_with_its_words(words, capsys):
    shown = " ".join(help_of(words, capsys).split())
    for other in COMMANDS:
        assert not other.startswith(f"{words} ") or f"parlour {other}" in shown


@pytest.mark.parametrize("words", [words for words in GROUPS if words])
def test_every_group_lists_its_commands(words, capsys):
    text = help_of(words, capsys)
    for command in COMMANDS:
        if command.rpartition(" ")[0] == words:
            assert command.rpartition(" ")[2] in text


class Base(Settings):
    steps: int = Field(default=3, ge=1)
    """Number of steps,
    in all."""


class Config(Base):
    method: Literal["fast", "slow"] = "fast"
    """Method."""
    seat: int | Literal["random"] = "random"
    """Seat [0-3]."""
    floor: float | None = None
    """Least probability; None: by cross-validation."""
    price: tuple[float, float] | None = None
    """Prices."""
    hidden: tuple[int, ...] = (8, 8)
    """Widths."""
    members: tuple[str, ...] = ()
    """Member."""
    talk: bool = True
    """Players talk."""
    extra: Mapping[str, Any] = Field(default_factory=dict)
    """More."""
    key: str = "secret"


def call(*arguments: str) -> Config:
    got: list[Config] = []

    def command(
        config: Annotated[Config, Options(exclude=("key",), rename={"members": "--member -m"}, repeated=("members",))],
    ) -> Report:
        got.append(config)
        return Report("")

    command.__annotations__ = {"config": command.__annotations__["config"], "return": Report}
    app = typer.Typer(add_completion=False)
    app.command()(as_command(command))
    app(args=list(arguments), standalone_mode=False)
    return got[0]


def test_a_command_gets_its_configuration():
    assert call() == Config()
    words = "--steps 5 --method slow --seat 2 --floor 0.1 --price 1,2.5 --hidden 4 -m a,b --member c --no-talk --extra x=[1]"
    wanted = Config(
        steps=5,
        method="slow",
        seat=2,
        floor=0.1,
        price=(1.0, 2.5),
        hidden=(4,),
        members=("a,b", "c"),
        talk=False,
        extra={"x": [1]},
    )
    assert call(*words.split()) == wanted


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--steps 0", "steps"),
        ("--seat two", "seat 'two' is not accepted; accepted: "),
        ("--price 1", "price "),
        ("--hidden a,b", "hidden 'a,b' is not accepted; accepted: "),
        ("--extra x", "option 'x' is not accepted; accepted: KEY=VALUE"),
    ],
)
def test_what_a_configuration_does_not_accept_is_refused(words, why):
    with pytest.raises(ParlourError, match=re.escape(why)):
        call(*words.split())


@pytest.mark.parametrize(
    ("words", "seat"),
    [
        (["show", "case", "seed:7", "--seat", "player_2"], ["show", "case", "seed:7", "--seat", "2"]),
        (["show", "case", "seed:7", "--seat=player_2"], ["show", "case", "seed:7", "--seat", "2"]),
    ],
)
def test_a_seat_is_called_by_its_number_or_its_name(words, seat, output_of):
    assert output_of(words) == output_of(seat)


def test_a_seat_of_a_transcript_is_called_by_its_number_or_its_name(tmp_path, output_of):
    output_of(["play", "template_v0", "--policy", "random", "--out", str(tmp_path)])
    file = str(tmp_path / "template_v0-1.jsonl")
    assert output_of(["replay", file, "--seat", "1"]) == output_of(["replay", file, "--seat", "player_1"])
