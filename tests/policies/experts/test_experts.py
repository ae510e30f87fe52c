"""Experts: found by the table, held to their cards; made from a run's own files; those that ship are what their cards say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, TrainedSeat, asks_a_model, make_policy
from parlour.policies.experts import catalogue
from parlour.policies.experts.catalogue import STRONGEST, ExpertCard, Points, cards, expert
from parlour.training.measure import evaluate
from parlour.training.play import rollout, seeds

from tests import ROOT

sys.path.append(str(ROOT / "scripts"))
from expert_maker import MOST_BYTES, make_expert, measure_again

GAME, OPTIONS = "avalon_v0", {"num_players": 5, "rules": "official", "talk": False}
CONFIG = registry[GAME].raw_env(**OPTIONS).game.config
POINTS = {"n": 2000, "mean": 0.6, "low": 0.55, "high": 0.65, "p": 0.0}
SHIPPED = cards()
EQUAL_AMONG_STRANGERS = set[str]()
"""In one seat among these families no difference was shown from a player of the family."""
LARGE = 15
"""Players from which games are slow."""


def untrained(hidden: int = 16) -> TrainedSeat:
    env, rng = registry[GAME].raw_env(features="belief", **OPTIONS), np.random.default_rng(0)
    sizes = (env.encoder.size, hidden, len(env.game.catalogue))
    layers = [
        (rng.normal(0, b**-0.5, (b, a)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in pairwise(sizes)
    ]
    return TrainedSeat(GAME, CONFIG, layers, features="belief", activation="relu", sample=True)


def write_run(folder: Path, seat: TrainedSeat, deals: int = 2000) -> Path:
    """What a run of self-play leaves, as far as a card tells of it."""
    folder.mkdir()
    seat.save(folder / "policy.npz")
    config = {"game": GAME, "options": OPTIONS, "steps": 12_000, "seed": 3, "learning_rate": 0.25}
    points = POINTS | {"n": deals}
    differences = [{"a": "s009", "b": "s000", **points}, {"a": "s009", "b": "heuristic", **points}]
    summary = {"last": "s009", "steps": 12_000, "seconds": 30.5, "differences": differences}
    seat_points = {"s009": points | {"mean": 0.1, "low": None, "high": None}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "summary.json").write_text(json.dumps(summary | {"seat": seat_points}))
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder of experts with one in it, in place of that of the package."""
    folder = tmp_path / "data"
    monkeypatch.setitem(catalogue.FOLDERS, "parlour", folder)
    make_expert(write_run(tmp_path / "run", untrained()), "small", folder)
    return folder


# -- found by the table ----------------------------------------------------------------------------------------


def test_the_expert_of_a_table_is_found_by_game_and_configuration(data):
    for player in (expert(GAME, CONFIG), make_policy("expert", GAME, CONFIG)):
        assert isinstance(player, TrainedSeat)
        assert (player.features, player.activation, player.sample) == ("belief", "relu", True)
        rollout.play(rollout.table(GAME, **OPTIONS), [expert(GAME, CONFIG) for _ in range(5)], 1)
    assert not asks_a_model("expert")


@pytest.mark.parametrize(
    ("game", "options"), [(GAME, {**OPTIONS, "num_players": 6}), (GAME, {**OPTIONS, "talk": True}), ("template_v0", {})]
)
def test_a_table_without_an_expert_is_one_line_that_names_those_that_have_one(data, game, options):
    config = registry[game].raw_env(**options).game.config
    with pytest.raises(
        ParlourError, match=rf"^there is no expert for {game} with .*; there are experts for: "
    ) as caught:
        make_policy("expert", game, config)
    assert str(caught.value).endswith(f"experts for: {GAME} with {json.loads(json.dumps(dict(CONFIG)))}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("game", "strongest"), [("murder_mystery_v0", "questum"), ("mediated_qa_v0", "mediator=grace:file=DIR/policy.json")]
)
def test_a_game_without_a_network_names_its_strongest_player(data, game, strongest):
    config = registry[game].raw_env().game.config
    line = f"no trained network comes with {game}; its strongest player: --policy {strongest}"
    with pytest.raises(ParlourError, match=f"^{line}$"):
        make_policy("expert", game, config)


@pytest.mark.parametrize("game", registry)
def test_the_default_table_of_a_game_has_an_expert_or_names_its_strongest_player(game):
    config = registry[game].raw_env().game.config
    if any(card.game == game for card in SHIPPED):
        assert isinstance(expert(game, config), TrainedSeat)
    else:
        assert game in STRONGEST or game == "template_v0"  # a game to copy


def test_a_file_that_is_not_the_one_of_its_card_is_refused(data):
    whole = (data / "small.npz").read_bytes()
    (data / "small.npz").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    line = rf"small.npz is missing or not the file of its card; accepted: sha256 {sha256(whole).hexdigest()}"
    with pytest.raises(ParlourError, match=line):
        expert(GAME, CONFIG)
    (data / "small.npz").unlink()
    with pytest.raises(ParlourError, match=line):
        expert(GAME, CONFIG)
    (data / "small.json").write_text('{"name": "small"}')
    with pytest.raises(ParlourError, match="is not the card of an expert"):
        expert(GAME, CONFIG)


# -- the command line ------------------------------------------------------------------------------------------


def test_they_play_by_name(data, error_of, json_of):
    words = ["-n", "5", "--rules", "official", "--set", "talk=false", "--policy", "expert", "--json"]
    (game,) = json_of(["play", GAME, *words])
    assert game["winner"] in ("good", "evil")
    assert "parlour: there is no expert for avalon_v0" in error_of(["play", GAME, "-n", "6", "--policy", "expert"])


# -- how they are made -----------------------------------------------------------------------------------------


def test_the_card_holds_what_the_run_says(data):
    card = ExpertCard.read(data / "small.json")
    assert card.command == (
        "parlour train selfplay avalon_v0 --players 5 --rules official --set talk=false --steps 12000 --learning-rate 0.25 --seed 3"
    )
    assert (card.seed, card.decisions, card.seconds) == (3, 12_000, 30.5)
    assert card.sha256 == sha256((data / "small.npz").read_bytes()).hexdigest()
    assert card.whole_sides == Points(60.0, 55.0, 65.0, 2000)  # points are hundredths
    assert card.one_seat == Points(10.0, 10.0, 10.0, 2000)
    assert card.exploits == ()
    assert card.made_with["numpy"] == np.__version__
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?|unknown", card.made_with["commit"])
    assert (card.game, card.config) == (GAME, json.loads(json.dumps(dict(CONFIG))))


def test_networks_that_are_too_large_together_are_refused(data, tmp_path):
    (data / "other.npz").write_bytes(bytes(MOST_BYTES - 5000))
    with pytest.raises(ParlourError, match="bytes of networks are not accepted; accepted: 2,000,000 together"):
        make_expert(tmp_path / "run", "more", data)
    make_expert(tmp_path / "run", "other", data)  # takes the place of the large one


def test_the_script_makes_them_and_says_in_one_line_what_is_wrong(data, tmp_path):
    script = [sys.executable, str(ROOT / "scripts/make-expert"), str(tmp_path / "run")]
    first = (data / "small.npz").read_bytes()
    done = subprocess.run([*script, "again", "--data", str(data)], capture_output=True, text=True, check=True)
    assert "+60.0 points" in done.stdout
    assert (data / "again.npz").read_bytes() == first
    done = subprocess.run([*script[:-1], "nowhere", "x", "--data", str(data)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "make-expert: there is no policy file 'nowhere/policy.npz'\n")
    done = subprocess.run([*script[:-1], "shipped", "small", "--style", "human"], capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        done.stderr == "make-expert: a shipped expert keeps its style and best responses; accepted: --strangers alone\n"
    )


@pytest.fixture
def strangers(tmp_path):
    """A function: the file with the figure of a policy among strangers of some families."""

    def told(policy: str, *families: str, mean: float = 0.6) -> Path:
        scores = [{"family": name, "what": what} for name in families for what in ("all", "evil")]
        path = tmp_path / "strangers.json"
        path.write_text(json.dumps({"policy": policy, "mean": {"all": POINTS | {"mean": mean}}, "scores": scores}))
        return path

    return told


@pytest.mark.parametrize("style", ["human", "strangers"])
def test_the_figure_among_strangers_of_a_shipped_expert_is_measured_again_and_its_network_stays(
    style, tmp_path, data, strangers
):
    of_run = strangers("runs/x/policy.npz", "logic")
    first = make_expert(write_run(tmp_path / "again", untrained()), "shown", data, None, of_run, style)
    with pytest.raises(ParlourError, match=rf"'runs/x/policy.npz' among strangers .* accepted: expert:style={style}"):
        measure_again("shown", data, of_run)
    card = measure_again("shown", data, strangers(f"expert:style={style}", "logic", mean=0.01))
    assert card == ExpertCard.read(data / "shown.json")
    assert (card.style, card.families, card.sha256) == (style, ("logic",), first.sha256)
    assert card.among_strangers is not None
    assert card.among_strangers.mean == 1.0  # 0.01 of all games: 1 point
    assert catalogue.ExpertSettings(style=style).style == style


# -- those that ship -------------------------------------------------------------------------------------------


def test_those_that_ship_are_small_and_each_has_one_table_of_its_style():
    assert sum(path.stat().st_size for path in catalogue.DATA.glob("*.npz")) <= MOST_BYTES
    assert {path.stem for path in catalogue.DATA.glob("*.npz")} == {card.name for card in SHIPPED}
    tables = [(card.style, card.game, json.dumps(dict(card.config), sort_keys=True)) for card in SHIPPED]
    assert len(set(tables)) == len(tables)


def test_the_page_has_a_row_with_the_figures_of_each_card():
    page = (ROOT / "docs" / "explanation" / "strength.md").read_text("utf-8")
    for card in SHIPPED:
        figures = (card.whole_sides, card.among_strangers, *(exploit.gain for exploit in card.exploits))
        assert f"| {' | '.join(f'{p.mean:+.1f} [{p.low:+.1f}, {p.high:+.1f}]' for p in figures)} |" in page, card.name


@pytest.mark.parametrize("card", SHIPPED, ids=lambda card: card.name)
def test_each_that_ships_is_loaded_for_the_table_of_its_card(card):
    config = registry[card.game].raw_env(**card.config).game.config
    player = expert(card.game, config, style=card.style)
    assert player.features == card.features
    assert card.whole_sides.low > 0
    assert card.among_strangers is not None
    below = card.among_strangers.low < 0
    assert below == (card.name in EQUAL_AMONG_STRANGERS)
    assert card.among_strangers.high > 0
    assert min(card.whole_sides.n, card.one_seat.n) >= 2000


@pytest.mark.nightly
@pytest.mark.parametrize("card", [card for card in SHIPPED if not card.style], ids=lambda card: card.name)
def test_each_of_the_strongest_play_beats_the_heuristic_in_the_scalar_game(card):
    env = rollout.table(card.game, **card.config)
    make = partial(expert, card.game, env.game_env.game.config)
    deals = seeds.VALIDATION[: 50 if env.game_env.game.seats < LARGE else 20]
    report = evaluate.team(env, ("expert", make), ("heuristic", HeuristicPolicy), deals)
    (compared,) = (comparison for comparison in report.comparisons if comparison.side == "all")
    assert compared.result.n == len(deals)
    assert compared.result.low > 0
