"""Objects by their dotted name."""

from __future__ import annotations

import pytest
from parlour.envs.common import dotted
from parlour.envs.core import ParlourError
from parlour.envs.spec import GameSpec


@pytest.mark.parametrize("name", ["", ":Agent"])
def test_a_name_without_a_module_is_refused(name):
    with pytest.raises(ParlourError, match="policy"):
        dotted.load(name, "policy")


@pytest.mark.parametrize(("made", "missing"), [("text", "wording"), ("encoder", "encoders")])
def test_a_game_that_neither_names_nor_makes_its_wording_is_refused(made, missing):
    class Bare(GameSpec):
        """Names nothing."""

    with pytest.raises(ParlourError, match=missing):
        getattr(Bare(), made)(None)
