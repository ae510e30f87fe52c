"""Golden playthroughs: one random game a table, with all that every seat reads, as files under `playthroughs`; its features in
numbers; cards in docs.

Playthroughs are written anew by `scripts/playthrough.py NAME` or `--all`, and compared line by line; the difference is what a
change of the rules, the prose or the action numbering is reviewed by. A registered game without one fails.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from parlour.envs import registry
from parlour.policies.experts.catalogue import ExpertCard, card_for, cards

from tests import ROOT

FOLDER = Path(__file__).parent / "playthroughs"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("playthrough", ROOT / "scripts" / "playthrough.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load()
FILES = {file: (game, *table) for game in registry for file, table in SCRIPT.files(game).items()}


@pytest.mark.parametrize("file", FILES)
def test_a_game_goes_as_it_went(file):
    game, options, seed = FILES[file]
    path = FOLDER / file
    assert path.exists(), f"there is no playthrough of {game}: run scripts/playthrough.py {game} and look at the file"
    written = path.read_text(encoding="utf-8").split("\n")
    played = list(SCRIPT.playthrough(game, options, seed))
    for number, (then, now) in enumerate(zip(written, played, strict=False), 1):
        assert now == then, f"{file} line {number}; if that is meant, run scripts/playthrough.py {game}"
    assert len(written) == len(played)


@pytest.mark.parametrize("file", FILES)
def test_features_are_what_trained_networks_read(file):
    """Within rounding; networks on disk, the shipped experts among them, are of no use when features change."""
    game, options, seed = FILES[file]
    written = json.loads((FOLDER / "features.json").read_text(encoding="utf-8"))[file]
    made = SCRIPT.feature_sums(game, options, seed)
    assert made.keys() == written.keys()
    for kind, sums in made.items():
        assert sums == pytest.approx(written[kind], abs=1e-3), f"{kind} of {game}; if meant, run scripts/playthrough.py"


@pytest.mark.parametrize("game", registry)
def test_every_registered_game_has_a_playthrough(game):
    assert [path.name for path in FOLDER.glob(f"{game}*.txt")]


def test_there_is_no_playthrough_of_anything_else():
    assert {path.name for path in FOLDER.iterdir()} == {*FILES, "tables.json", "features.json"}


SHOWN = {
    "avalon": ["(taken as: "],
    "avalon_v0-5-official.txt": ["guesses that player_"],
    "avalon_v0-6-paper.txt": [", the Assassin, guesses"],
    "avalon_v0-6-reference.txt": ["Drawn by lot to go instead"],
    "avalon_v0-10-official.txt": ["Two fail cards fail"],
    "werewolf_v0-6-paper-bids.txt": ["bid for the floor", "\n  bid [4]", "(taken as: ", "says to the werewolves"],
    "werewolf_v0-8": [
        "(taken as: ",
        "says to the werewolves",
        "I give the antidote",
        "I poison player",
        "is a werewolf",
        " was ",
    ],
    "werewolf_v0-6-official.txt": ["werewolf by parity"],
    "werewolf_v0-8-paper.txt": ["\n  draw ["],
    "werewolf_v0-8-reference.txt": [" votes for nobody."],
}
"""What sets the rules apart, in all playthroughs whose names begin so: else they would not notice a change."""


@pytest.mark.parametrize("begin", SHOWN)
def test_the_playthroughs_show_what_sets_the_rules_apart(begin):
    texts = [(FOLDER / file).read_text(encoding="utf-8") for file in FILES if file.startswith(begin)]
    assert texts
    assert all(phrase in text for text in texts for phrase in SHOWN[begin])


def test_the_script_writes_what_is_compared(tmp_path):
    """The script as it is called, with the folder of a copy."""
    script = tmp_path / "scripts" / "playthrough.py"
    script.parent.mkdir()
    (tmp_path / "tests" / "envs" / "playthroughs").mkdir(parents=True)
    script.write_text(Path(SCRIPT.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(FOLDER / "tables.json", tmp_path / "tests" / "envs" / "playthroughs")
    subprocess.run([sys.executable, "-W", "ignore", str(script), "--all"], check=True)
    assert set(json.loads((tmp_path / "tests" / "envs" / "playthroughs" / "features.json").read_text("utf-8"))) == set(
        FILES
    )
    for file in FILES:
        assert (tmp_path / "tests" / "envs" / "playthroughs" / file).read_bytes() == (FOLDER / file).read_bytes()


# -- cards -----------------------------------------------------------------------------------------------------

sys.path.insert(0, str(ROOT / "scripts"))
from make_cards import COUNTED, FOLDER as CARDS, pages  # noqa: E402

PAGES = pages()


def page_of(card: ExpertCard) -> str:
    """A network with a style stands on the page of its table's expert."""
    plain = card_for(card.game, card.config)
    assert plain is not None
    return f"{plain.name}.md"


def test_every_game_and_every_network_has_a_card():
    assert set(PAGES) == {"README.md", *(f"{name}.md" for name in registry), *map(page_of, cards())}
    assert [card.name for card in cards() if f"/{card.name}.npz`" not in PAGES[page_of(card)]] == []


def test_the_cards_are_up_to_date():
    """Otherwise: python scripts/make_cards.py"""
    assert {path.name: path.read_text(encoding="utf-8") for path in CARDS.iterdir()} == PAGES


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
def test_a_card_of_a_network_shows_a_convention_from_its_table(card):
    """The first share that a card has: of good seats that approve evil teams, at Werewolf of misleading claims of the village."""
    measure, of = ("approves teams with an evil seat", "good"), ("misleading claims", "village")
    with (COUNTED / f"conventions-{card.name}.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["measure"], row["of"]): row for row in csv.DictReader(file)}
    row = list(rows.get(measure, rows.get(of)).values())
    share, n = row[3], row[6]  # behind among, measure, of; low and high are between them
    assert f"{100 * float(share):.1f} % [" in PAGES[page_of(card)]
    assert f"n = {int(n):,}; heuristic there" in PAGES[page_of(card)]


def test_a_card_tells_what_the_file_of_the_network_holds():
    """116 features, two layers of 128, 30 actions: 116*128+128 + 128*128+128 + 128*30+30 = 35,358 parameters."""
    assert "layers of 116, 128, 128, 30; 35,358 parameters" in PAGES["avalon-5-official.md"]
