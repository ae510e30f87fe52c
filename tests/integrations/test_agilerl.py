"""AgileRL: our environments in its training loop, and the example, whose checkpoint sits down at our table.

docs/integrations/agilerl.md says in prose what is tested here.
"""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("agilerl", reason="AgileRL is not installed; run scripts/test-integrations agilerl")

import torch

from tests.integrations.pages import page_code
from tests.integrations.seats import run_example

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that it imports

pytestmark = [  # the library says or causes
    pytest.mark.filterwarnings(r"ignore:TensorDict\.to_module\(\) is replacing:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


# -- our environments in AgileRL -------------------------------------------------------------------------------


def test_the_example_trains_and_its_network_sits_down_by_one_command(tmp_path, monkeypatch):
    run_example("agilerl", 2048, tmp_path, monkeypatch)


def test_the_code_of_the_page_runs():
    block = page_code("agilerl", n_131_072="64", n_16_384="64")
    exec(block.replace("learn_step=2048", "learn_step=64"), {})
