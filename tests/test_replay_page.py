"""The data of a replay page (training/replay_page): what each seat was told, by its View, and nothing else; every line once.

`tests/replays/coin.json` is the data of `coin.jsonl` as it stands in a page: the example for whoever writes the browser's side.
"""

from __future__ import annotations

import json
from pathlib import Path

from parlour.envs.replay import read
from parlour.training.replay_page.build import replay_of
from parlour.training.replay_page.model import as_json

REPLAYS = Path(__file__).parent / "replays"


def test_the_data_of_a_coin_game_is_the_example_that_is_written_down():
    """The coin shows heads, which its keeper alone is told; he lies, and the guesser believes it right: tails is not said."""
    data = as_json(replay_of(read(REPLAYS / "coin.jsonl"), "coin.jsonl"))
    assert data == json.loads((REPLAYS / "coin.json").read_text("utf-8"))
