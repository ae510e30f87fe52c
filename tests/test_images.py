"""The Dockerfiles, by rules of the Dockerfile reference (https://docs.docker.com/reference/dockerfile/) and of the linter hadolint,
whose names for them stand beside each; and the image of the OpenEnv server against the command that it runs.

Docker builds them where there is one: scripts/openenv-image, which the workflow `tests` calls.
"""

from __future__ import annotations

import json
import re
import stat

import pytest
from parlour.training.cli import command_of

from tests import ROOT

OPENENV = ROOT / "examples" / "openenv" / "Dockerfile"
SCRIPT = ROOT / "scripts" / "openenv-image"
FILES = [ROOT / "Dockerfile", OPENENV]


def instructions(text: str) -> list[tuple[str, str]]:
    """Name and arguments of each; comments are left out, lines that a backslash continues are one."""
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    lines = re.sub(r"\\\n\s*", "", kept).splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


def faults(text: str) -> set[str]:
    """The rules that a Dockerfile breaks."""
    steps = instructions(text)
    names = [name for name, _ in steps]
    given = dict(steps)
    broken = {
        "DL3061": next(name for name in names if name != "ARG") != "FROM",
        "DL3006": any(not re.search(r":(?!latest)\S", value) for name, value in steps if name == "FROM"),
        "DL3000": any(not value.startswith("/") for name, value in steps if name == "WORKDIR"),
        "DL3002": given.get("USER", "root") in {"root", "0"},
        "DL3003": any(re.match(r"cd\s", value) for name, value in steps if name == "RUN"),
        "DL3004": any("sudo" in value for name, value in steps if name == "RUN"),
        "DL3020": "ADD" in names,
        "DL3025": any(not is_json(value) for name, value in steps if name in {"CMD", "ENTRYPOINT"}),
        "DL3042": any("pip install" in value and "--no-cache-dir" not in value for _, value in steps),
        "DL4000": "MAINTAINER" in names,
        "DL4003": names.count("CMD") > 1,
        "DL4004": names.count("ENTRYPOINT") > 1,
        "DL3012": names.count("HEALTHCHECK") > 1,
        "DL3011": any(not 0 < int(value) < 65536 for name, value in steps if name == "EXPOSE"),
    }
    return {rule for rule, is_broken in broken.items() if is_broken}


def is_json(value: str) -> bool:
    return value.startswith("[") and isinstance(json.loads(value), list)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_dockerfile_breaks_no_rule(path):
    assert faults(path.read_text("utf-8")) == set()


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("FROM python", "DL3006"),
        ("FROM python:latest", "DL3006"),
        ("RUN true\nFROM python:3.11", "DL3061"),
        ("FROM python:3.11\nWORKDIR games", "DL3000"),
        ("FROM python:3.11\nUSER root", "DL3002"),
        ("FROM python:3.11\nRUN cd /games", "DL3003"),
        ("FROM python:3.11\nRUN sudo true", "DL3004"),
        ("FROM python:3.11\nADD . /games", "DL3020"),
        ("FROM python:3.11\nCMD parlour list", "DL3025"),
        ("FROM python:3.11\nRUN pip install \\\n    numpy", "DL3042"),
        ("FROM python:3.11\nMAINTAINER me", "DL4000"),
        ('FROM python:3.11\nCMD ["a"]\nCMD ["b"]', "DL4003"),
        ('FROM python:3.11\nENTRYPOINT ["a"]\nENTRYPOINT ["b"]', "DL4004"),
        ("FROM python:3.11\nHEALTHCHECK NONE\nHEALTHCHECK NONE", "DL3012"),
        ("FROM python:3.11\nEXPOSE 80000", "DL3011"),
    ],
)
def test_a_broken_rule_is_noticed(broken, rule):
    assert rule in faults(broken)


def test_the_build_of_the_openenv_image_uses_no_network():
    steps = instructions(OPENENV.read_text("utf-8"))
    run = " && ".join(value for name, value in steps if name == "RUN")
    installs = re.findall(r"pip install [^&]*", run)
    assert len(installs) == 1
    assert '--no-index --find-links /wheels "parlour[openenv]"' in installs[0]
    assert not re.search(r"https?:|apt-get|curl|wget|git ", run)
    copied = [value.split()[:-1] for name, value in steps if name == "COPY"]
    assert copied == [["wheels"], ["--from=installed", "/opt/parlour"]]  # the image has no wheels
    script = SCRIPT.read_text("utf-8")
    assert SCRIPT.stat().st_mode & stat.S_IXUSR
    assert "docker build --network none" in script
    assert "-f examples/openenv/Dockerfile" in script
    assert "-c docs/integrations/openenv.txt" in script


def test_the_openenv_image_runs_a_command_that_is_there_and_asks_after_its_health_where_it_answers():
    given = dict(instructions(OPENENV.read_text("utf-8")))
    words = json.loads(given["ENTRYPOINT"]) + json.loads(given["CMD"])
    assert words[:3] == ["parlour", "serve", "openenv"]
    read = command_of("serve openenv").make_context("openenv", words[3:]).params
    assert (read["host"], read["port"]) == ("0.0.0.0", int(given["EXPOSE"]))  # all of the container's own addresses
    assert f"http://127.0.0.1:{given['EXPOSE']}/health" in given["HEALTHCHECK"]
    assert "- run: scripts/openenv-image" in (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
