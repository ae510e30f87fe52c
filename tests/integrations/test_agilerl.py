"""AgileRL: our environments in its training loop, and the example, whose checkpoint sits down at our table.

docs/integrations/agilerl.md says in prose what is tested here.
"""

from __future__ import annotations

import pytest

pytest.importorskip("agilerl", reason="AgileRL is not installed; run scripts/test-integrations agilerl")

import torch

from tests.integrations.seats import run_commands

pytestmark = [  # the library says or causes
    pytest.mark.filterwarnings("ignore:MakeEvolvable will be deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings(r"ignore:TensorDict\.to_module\(\) is replacing:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


# -- our environments in AgileRL -------------------------------------------------------------------------------


def test_the_page_s_commands_train_a_seat_and_compare_it_with_the_expert(tmp_path, monkeypatch, capsys):
    run_commands("agilerl", 2048, tmp_path, monkeypatch, capsys)
