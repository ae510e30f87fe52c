"""The mixed tables of GRATR: who sits where, the paper's figures beside ours, and what is said of who is ahead."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.werewolf.amnesia import amnesia
from parlour.training.measure.werewolf.transcripts import Seen
from parlour.training.papers import gratr
from parlour.training.papers.cells import Reproduction, printed
from parlour.training.papers.gratr_teams import OPPONENTS, PAPER, RULE, GratrSetting, Match
from parlour.training.papers.report import report_of
from parlour.training.papers.reproduce import TABLES, ReproductionSetting, reproduce
from parlour.training.play import seeds
from parlour.training.records.werewolf.played import WerewolfGame

from tests.reference_data import paper_table

NAMES = ("gratr-2", "gratr-3", "gratr-fig3", "gratr-fig4")
ROLES = ("Werewolf", "Witch", "Guard", "Seer", "Villager")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gratr")


@pytest.fixture(scope="module")
def made(folder: Path) -> dict[str, Reproduction]:
    """Two deals of the first table, one of the others."""
    games = {"gratr-2": 4}
    return {name: reproduce(name, ReproductionSetting(games=games.get(name, 2), out=folder)) for name in NAMES}


# -- who sits where --------------------------------------------------------------------------------------------


def test_each_deal_is_played_twice_with_the_blocks_changed_over(made: Any, folder: Path) -> None:
    files = sorted((folder / "gratr-mode-paper-floor-none-werewolf_window-older-3-offline").iterdir())
    first, second = seeds.HELD_OUT[0], seeds.HELD_OUT[1]
    assert [path.name for path in files] == [
        f"werewolf_v0-{seed}-gratr-{block}.jsonl" for seed in (first, second) for block in ("leaders", "werewolves")
    ]
    for leaders, wolves in (files[:2], files[2:]):
        a, b = replay.Transcript.read(leaders), replay.Transcript.read(wolves)
        assert a.header["seed"] == b.header["seed"]
        assert a.moves[0] == b.moves[0]  # the deal
        names = a.game().role_names  # type: ignore[attr-defined]
        roles = [names[number] for number in a.moves[0].args[:8]]
        for transcript, own in ((a, "Witch"), (b, "Werewolf")):
            gratrs = [roles[seat] for seat in range(8) if transcript.header["players"][f"player_{seat}"] == PAPER]
            expected = ["Guard", "Seer", "Villager", "Witch"] if own == "Witch" else ["Villager", *["Werewolf"] * 3]
            assert sorted(gratrs) == expected
        first_villager = f"player_{roles.index('Villager')}"
        assert (b.header["players"][first_villager], a.header["players"][first_villager]) == (
            PAPER,
            "werewolf_window:older=3",
        )
        changed = {a.header["players"][f"player_{seat}"] != b.header["players"][f"player_{seat}"] for seat in range(8)}
        assert changed == {True}


def test_tables_share_their_games_and_a_broken_one_is_played_again(made: Any, folder: Path, tmp_path: Path) -> None:
    setting = GratrSetting(games=2, out=folder, against="werewolf_window")
    before = {
        path: path.read_bytes()
        for path in (folder / "gratr-mode-paper-floor-none-werewolf_window-older-3-offline").iterdir()
    }
    broken = min(before)  # of the first deal
    broken.write_bytes(b"".join(before[broken].splitlines(keepends=True)[:-3]))
    assert reproduce("gratr-fig4", setting).cells == tuple(
        cell for cell in made["gratr-fig4"].cells if "history window" in cell.row
    )
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("opponent", "edit", "message"),
    [
        ("werewolf_rag", (b"", b""), r"is of another game \(players\); accepted: a folder of its own"),
        ("werewolf_window-older-3", (b'"seed": 2147483648', b'"seed": 2147483649'), "is of another game"),
    ],
    ids=["of other players", "of another deal"],
)
def test_another_game_in_the_folder_is_refused(
    opponent, edit, message, made: Any, folder: Path, tmp_path: Path
) -> None:
    old = min((folder / "gratr-mode-paper-floor-none-werewolf_window-older-3-offline").iterdir())
    other = tmp_path / f"gratr-mode-paper-floor-none-{opponent}-offline" / old.name
    other.parent.mkdir()
    other.write_bytes(old.read_bytes().replace(*edit))
    with pytest.raises(ParlourError, match=message):
        reproduce("gratr-2", GratrSetting(games=2, out=tmp_path, against=opponent.partition("-")[0]))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"games": 3}, "games 3 is not accepted; accepted: an even number"),
        ({"games": 2, "seed": 2**31}, "seed 2147483648 is not accepted"),
        ({"games": 2, "against": "agent"}, "opponent 'agent' is not accepted; accepted: baseline, werewolf_window"),
    ],
)
def test_settings_that_cannot_be_played_are_refused(edit: Any, message: str) -> None:
    with pytest.raises(ParlourError, match=message):
        reproduce("gratr-2", GratrSetting(**edit))


# -- the cells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_table_can_be_made(name: str, made: dict[str, Reproduction], capsys: pytest.CaptureFixture[str]) -> None:
    table = made[name]
    assert TABLES[name].sizes[0] == 150
    assert len({(cell.row, cell.of, cell.measure) for cell in table.cells}) == len(table.cells)
    rows = {cell.row for cell in table.cells}
    opponents = [*OPPONENTS, RULE] if name == "gratr-2" else OPPONENTS
    assert rows == {
        row for opponent in opponents for row in (f"GRATR v. {opponent.label}", f"{opponent.label} v. GRATR")
    }
    json.dumps(report_of(table, OfflineModel()).as_json(), allow_nan=False)
    report_of(table, OfflineModel()).show()
    shown = " ".join(capsys.readouterr().out.split())
    assert "ours played by heuristics (no language model)" in shown
    # scores are points, rates are percents
    assert (" 5.487 " in shown) == (name == "gratr-fig3")
    assert (" 76.0% " in shown) == (name == "gratr-2")
    assert (" 75.2% " in shown) == (name == "gratr-fig4")


def test_no_figure_of_the_paper_goes_unprinted(made: dict[str, Reproduction]) -> None:
    for name, table in made.items():
        shown = {(cell.row, cell.of, cell.measure): cell.paper for cell in table.cells if cell.paper is not None}
        assert shown == {key[1:]: value for key, (value, _) in printed().items() if key[0] == name}, name


# -- by hand ---------------------------------------------------------------------------------------------------

TABLE = ("Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager")
BLOCK = ("gratr", "gratr", "gratr", "other", "other", "other", "gratr", "other")


def deal(first: str, second: str) -> tuple[Seen, Seen]:
    """Two games with these winners, nobody having voted: GRATR with the werewolves, then with the leaders."""
    changed = tuple("other" if player == "gratr" else "gratr" for player in BLOCK)
    nobody = (None,) * 8
    return (
        Seen(WerewolfGame("", BLOCK, TABLE, first, (), nobody), amnesia(TABLE, ROLES, [])),
        Seen(WerewolfGame("", changed, TABLE, second, (), nobody), amnesia(TABLE, ROLES, [])),
    )


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Plays nothing: gives the games of deals with these winners."""

    def give(*winners: tuple[str, str]) -> None:
        games = tuple(game for winner in winners for game in deal(*winner))
        monkeypatch.setattr(
            gratr, "play_teams", lambda _, opponent: Match("gratr", replace(opponent, policy="other"), games)
        )

    return give


def test_rates_by_hand(by_hand: Any) -> None:
    # GRATR's wolves win 2 of 3; the other's wolves 1 of 3, so that GRATR's leaders win 2 of 3
    by_hand(("werewolf", "village"), ("werewolf", "werewolf"), ("village", "village"))
    cells = {
        (cell.row, cell.measure): cell
        for cell in reproduce("gratr-2", GratrSetting(games=6, against="werewolf_window")).cells
        if cell.ours is not None
    }
    counts = {key: (cell.ours.hits, cell.ours.n) for key, cell in cells.items() if cell.ours}
    measures = ("TWR", "WWR", "LWR", "wins as werewolves", "wins as leaders")
    assert counts == {
        **{("GRATR v. history window", m): (4, 6) if m == "TWR" else (2, 3) for m in measures},
        **{("history window v. GRATR", m): (2, 6) if m == "TWR" else (1, 3) for m in measures},
    }
    difference = cells["history window v. GRATR", "TWR"].difference
    assert difference is not None
    assert (difference.n, difference.only_a, difference.only_b) == (3, 0, 1)


def test_scores_by_hand_are_means_over_deals(by_hand: Any) -> None:
    by_hand(("werewolf", "village"), ("village", "village"))
    cells = {
        (cell.row, cell.of): cell
        for cell in reproduce("gratr-3", GratrSetting(games=4, against="werewolf_window")).cells
    }
    wolves, other = (cells[row, "Werewolf"] for row in ("GRATR v. history window", "history window v. GRATR"))
    assert wolves.ours is not None
    assert other.difference is not None
    assert (wolves.ours.value, wolves.ours.n) == (2.5, 2)  # 5 and 0
    assert other.difference.value == -2.5
    # its villager sits with the wolves, who win the first game, and then with the leaders: 0 and 5; then 5 and 5
    villager = cells["GRATR v. history window", "Villager"].ours
    assert villager is not None
    assert villager.value == 3.75


@pytest.mark.parametrize(
    ("winners", "verdict"),
    [
        ([("werewolf", "village")] * 5, "GRATR against history window: ahead (TWR 100.0%"),
        ([("village", "werewolf")] * 5, "GRATR against history window: behind (TWR 0.0%"),
        ([("werewolf", "werewolf")] * 5, "not distinguished from an even match (TWR 50.0%"),
        (
            [("werewolf", "village")] * 3 + [("werewolf", "werewolf")] * 4,
            "not distinguished from an even match (TWR 71.4%",
        ),
        (
            [("village", "werewolf")] * 3 + [("werewolf", "werewolf")] * 4,
            "not distinguished from an even match (TWR 28.6%",
        ),
    ],
)
def test_ahead_is_said_only_if_the_interval_leaves_out_one_half(by_hand: Any, winners: Any, verdict: str) -> None:
    # 10 of 14: Wilson's interval is [45.4 %, 88.3 %]; of 4 of 14 [11.7 %, 54.6 %]
    by_hand(*winners)
    (line,) = [
        remark
        for remark in reproduce("gratr-2", GratrSetting(games=2, against="werewolf_window")).remarks
        if "GRATR aga" in remark
    ]
    assert verdict in line
    points = 100 * sum((a == "werewolf") - (b == "werewolf") for a, b in winners) / len(winners)
    assert f"as werewolves on the same deals {points:+.1f} points [" in line


# -- the paper's figures ---------------------------------------------------------------------------------------

METHODS = {"Baseline": "history window", "Baseline+Native RAG": "native RAG", "Baseline+Rerank RAG": "rerank RAG"}
GROUPS = dict(zip(("group 1", "group 2", "group 3"), METHODS.values(), strict=True))
OF = {"WE": "Werewolf", "WI": "Witch", "G": "Guard", "GU": "Guard", "S": "Seer", "SE": "Seer", "V": "Villager"} | {
    "VI": "Villager",
    "Total": "all roles",
}


def row(line: dict[str, str]) -> str:
    if line["method"] == "GRATR":
        return f"GRATR v. {GROUPS[line['group']]}"
    return f"{METHODS[line['method']]} v. GRATR"


def test_win_rates_are_the_papers() -> None:
    theirs = {
        ("gratr-2", row(line), "", line["metric"]): float(line["mean"])
        for line in paper_table("gratr_table2_win_rates.csv")
        if line["table"] == "Table 2"
    }
    ours = {key: value / 100 for key, (value, _) in printed().items() if key[0] == "gratr-2"}
    assert len(ours) == 18
    assert ours == pytest.approx(theirs)


def test_bars_are_the_papers() -> None:
    lines = paper_table("gratr_performance_and_reasoning.csv")
    theirs = {}
    for line in lines:
        if line["table"].startswith("Fig. 3"):
            key = ("gratr-fig3", row(line), OF[line["metric"].removesuffix("PS")], "performance score")
            theirs[key] = float(line["mean"])
        else:
            key = ("gratr-fig4", row(line), OF[line["metric"].removeprefix("success_ratio_")], "reasoning success")
            theirs[key] = 100 * float(line["mean"])
    ours = {key: value for key, (value, _) in printed().items() if key[0].startswith("gratr-fig")}
    assert len(ours) == len(lines) == 66
    assert ours == pytest.approx(theirs)


# -- GRATR with settings of its own ----------------------------------------------------------------------------


def test_gratr_with_settings_sits_in_the_place_of_gratr(folder: Path) -> None:
    ours = "gratr:gamma=0.02,rho=0.9"
    table = reproduce("gratr-2", GratrSetting(games=2, against="werewolf_window", ours=ours, out=folder))
    assert f"Here GRATR is {ours}." in table.remarks
    (kept,) = (path for path in folder.iterdir() if "gamma" in path.name)
    for path in kept.iterdir():
        assert list(replay.Transcript.read(path).header["players"].values()).count(f"{PAPER},gamma=0.02,rho=0.9") == 4


@pytest.mark.parametrize("ours", ["heuristic", "werewolf_rag", "gratr2:gamma=0"])
def test_nobody_else_sits_there(ours: str) -> None:
    with pytest.raises(ParlourError, match=f"ours '{ours}' is not accepted; accepted: gratr, with settings"):
        reproduce("gratr-2", GratrSetting(games=2, against="werewolf_window", ours=ours))


def test_votes_may_be_public_as_they_are_cast_as_in_the_published_code(tmp_path: Path) -> None:
    reproduce("gratr-2", GratrSetting(games=2, against="werewolf_window", votes="as_cast", out=tmp_path))
    tables = [replay.Transcript.read(path).header["config"].get("votes") for path in tmp_path.rglob("*.jsonl")]
    assert tables == ["as_cast"] * 2
