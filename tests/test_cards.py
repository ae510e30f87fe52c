"""The cards of docs/cards are those that scripts/make_cards.py writes, one for each game and each network."""

from __future__ import annotations

import sys
from pathlib import Path

from parlour.envs import registry
from parlour.policies.experts import cards

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from make_cards import FOLDER, pages  # noqa: E402

PAGES = pages()


def test_every_game_and_every_network_has_a_card():
    assert set(PAGES) == {"README.md", *(f"{name}.md" for name in registry), *(f"{one.name}.md" for one in cards())}


def test_the_cards_are_up_to_date():
    """Otherwise: python scripts/make_cards.py"""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == PAGES


def test_a_card_tells_what_the_file_of_the_network_holds():
    """116 features, two layers of 128, 30 actions: 116*128+128 + 128*128+128 + 128*30+30 = 35,358 numbers."""
    assert "layers of 116, 128, 128, 30; 35,358 numbers" in PAGES["avalon-5-official.md"]
