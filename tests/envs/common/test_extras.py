"""Where an optional package is missing, the error has a command that works in a checkout and does not promise PyPI."""

from __future__ import annotations

import re
import tomllib

import pytest
from parlour.envs.common.extras import install
from parlour.envs.core import ParlourError
from parlour.training.play.extras import import_extra

from tests import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SOURCES = [
    path for part in ("envs", "policies", "training", "wrappers", "examples") for path in (ROOT / part).rglob("*.py")
]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_for_an_extra_names_a_file_of_versions_that_is_there(extra):
    command = re.fullmatch(
        r'pip install -c (\S+) -e "\.\[(\w+)\]" --config-settings editable_mode=strict in a checkout .*', install(extra)
    )
    assert command is not None
    assert (ROOT / command[1]).is_file()
    assert command[2] == extra


@pytest.mark.parametrize("library", ["agilerl", "ray", "supersuit", "tianshou", "torchrl", "transformers", "trl"])
def test_the_versions_of_a_library_are_those_it_was_tested_with(library):
    extra = {"supersuit": "sb3", "transformers": "hf"}.get(library, library)
    pinned = (ROOT / install(extra).split()[3]).read_text()
    assert re.search(rf"^{library}==", pinned, re.MULTILINE)


def test_a_missing_package_is_one_line_with_that_command():
    with pytest.raises(ParlourError) as caught:
        import_extra("no_such_package_of_anybody", "train")
    assert str(caught.value) == f"no_such_package_of_anybody is not installed; accepted: {install('train')}"


def test_no_source_has_an_install_command_of_its_own():
    """`parlour[...]` is on no index; one function makes the command."""
    said = {str(path) for path in SOURCES if re.search(r"pip install ['\"]parlour\[", path.read_text("utf-8"))}
    assert not said
