"""Modules of version 0.2 are found under their old names for one version, and say what to import instead."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from parlour.training.moved import MOVED, new_name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages that hold it, the first time
@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_the_module_and_says_the_new_name(old, monkeypatch):
    for known in [known for known in sys.modules if new_name(known) is not None]:
        monkeypatch.delitem(sys.modules, known)  # a name that was imported before warns no more
    name = f"parlour.training.{old}"
    with pytest.warns(DeprecationWarning, match=f"import {new_name(name)}"):
        module = import_module(name)
    assert module is import_module(str(new_name(name)))


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("parlour.training.never_was")
