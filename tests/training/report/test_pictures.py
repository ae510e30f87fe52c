"""All pictures: no word is cut or lies on another, keys lie on no data, axes are named, and n and who played are told."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from unittest.mock import ANY

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="THE EXTRA `train` IS NOT INSTALLED: nothing is drawn")
pytest.importorskip("torch", reason="THE EXTRA `train` IS NOT INSTALLED: nothing is drawn")
import parlour.training  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import FixedFormatter, FuncFormatter  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402
from parlour.training.papers import reproduce as reproducing  # noqa: E402
from parlour.training.papers.reproduce import ReproductionSetting, reproduce  # noqa: E402
from parlour.training.report import plots  # noqa: E402
from parlour.training.report.learning_curve import LearningCurve  # noqa: E402

from tests.training.report import drawn_pictures as drawn  # noqa: E402
from tests.training.report.drawn_pictures import PICTURES  # noqa: E402

CROSSING = 1.0  # pixels that boxes may share: their edges are rounded


class Drawn(NamedTuple):
    """A picture, as a matplotlib figure and as a file, and what its words are."""

    figure: Figure
    file: Path
    words: list[tuple[Text, Bbox]]
    """All that are shown, with their boxes in pixels."""
    modules: set[Path]
    """That drew it."""


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    drawn, kept, folder = {}, [], tmp_path_factory.mktemp("pictures")
    save, opened, described, makers = plots.save, plots.picture, LearningCurve.__init__, set()

    def picture(path, *sizes, **settings):
        frames = (sys._getframe(1), sys._getframe(2))
        kept[:] = [{Path(frame.f_code.co_filename).resolve() for frame in frames} | makers]
        makers.clear()
        return opened(path, *sizes, **settings)

    def describe(self, *values, **named):
        makers.add(Path(sys._getframe(1).f_code.co_filename).resolve())
        described(self, *values, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "save", lambda made, path: (kept.append(made), save(made, path)))
        patch.setattr(plots, "picture", picture)
        patch.setattr(LearningCurve, "__init__", describe)
        for name, draw in PICTURES.items():
            file = folder / name.replace(" ", "-") / "curve.png"
            file.parent.mkdir()
            draw(file)
            modules, made = kept
            drawn[name] = Drawn(made, file, words(made), modules)
    return drawn


def words(figure):
    """Every word of a figure that is shown, with its box; ticks beyond the ends of an axis are not."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            beyond = [tick for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()) if not within(axis, tick)]
            hidden |= {id(text) for of in (beyond if axes.axison else [axis]) for text in of.findobj(Text)}
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text, text.get_window_extent()) for text in shown if id(text) not in hidden]


def within(axis, tick):
    low, high = sorted(axis.get_view_interval())
    return low - 1e-9 <= tick.get_loc() <= high + 1e-9


@pytest.mark.parametrize("name", PICTURES)
def test_no_word_is_cut(figures, name):
    width, height = figures[name].figure.canvas.get_width_height()
    for text, box in figures[name].words:
        inside = box.x0 >= -0.5 and box.y0 >= -0.5 and box.x1 <= width + 0.5 and box.y1 <= height + 0.5
        assert inside, f"{text.get_text()!r} at {box.extents} of {width} x {height}"


@pytest.mark.parametrize("name", PICTURES)
def test_title_and_caption_say_what_is_shown_who_played_and_how_much(figures, name):
    texts = {text.get_gid(): text.get_text() for text in figures[name].figure.texts}
    assert texts["title"]
    caption = texts["caption"].replace("\n", " ")
    who, _, counted = caption.rpartition("; n = ")
    assert len(who) > 10, caption
    assert re.match(r"\d[\d,]*( to \d[\d,]*)?( of [\d,]+)? \w", counted), caption


@pytest.mark.parametrize("name", PICTURES)
def test_keys_lie_on_no_panel_and_on_no_words(figures, name):
    figure = figures[name].figure
    for key in [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend() is not None)]:
        box = key.get_window_extent()
        for axes in figure.axes:
            assert not crossing(box, axes.patch.get_window_extent()), f"on the panel {axes.get_title()!r}"
        inside = {id(text) for text in key.get_texts()}
        for text, of in figures[name].words:
            assert id(text) in inside or not crossing(box, of), f"on {text.get_text()!r}"


@pytest.mark.parametrize("name", PICTURES)
def test_words_around_the_panels_lie_apart(figures, name):
    figure = figures[name].figure
    around = {id(text) for axes in figure.axes for text in (axes.title, axes.xaxis.label, axes.yaxis.label)}
    around |= {id(text) for text in figure.texts if text.get_gid()}
    shown = [(text.get_text(), box) for text, box in figures[name].words if id(text) in around]
    for (a, box), (b, other) in combinations(shown, 2):
        assert not crossing(box, other), f"{a!r} lies on {b!r}"


@pytest.mark.parametrize("name", PICTURES)
def test_names_along_an_axis_lie_apart(figures, name):
    boxes = {id(text): box for text, box in figures[name].words}
    for axes in figures[name].figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [
                text for tick in axis.get_major_ticks() for text in (tick.label1, tick.label2) if id(text) in boxes
            ]
            for a, b in combinations([text for text in labels if not text.get_rotation()], 2):
                assert not crossing(boxes[id(a)], boxes[id(b)]), f"{a.get_text()!r} lies on {b.get_text()!r}"


@pytest.mark.parametrize("name", PICTURES)
def test_every_panel_has_both_axes_named(figures, name):
    for axes in (panel for panel in figures[name].figure.axes if panel.axison and panel.get_label() != "<colorbar>"):
        for of, shared, axis in (
            ("x", axes.get_shared_x_axes(), axes.xaxis),
            ("y", axes.get_shared_y_axes(), axes.yaxis),
        ):
            labels = [getattr(sibling, f"get_{of}label")() for sibling in shared.get_siblings(axes)]
            named = isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter)  # each tick has a name
            assert named or any(labels), f"{of} axis of {axes.get_title()!r}"


def test_every_module_that_draws_is_among_these(figures):
    root = Path(parlour.training.__path__[0])
    opens = re.compile(r"plots\.picture\(|\bLearningCurve\(")
    drawing = {file.resolve() for file in root.rglob("*.py") if opens.search(file.read_text("utf-8"))}
    assert len(drawing) >= 12
    assert drawing <= {module for figure in figures.values() for module in figure.modules}


@pytest.mark.parametrize("name", ["seat", "cross-play", "trust on one day", "gratr-fig3"])
def test_bytes_follow_from_what_is_drawn_alone(figures, name, tmp_path):
    """No date, no version, and nothing of the machine's own settings."""
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "savefig.dpi": 33}):
        PICTURES[name](tmp_path / "curve.png")
    content = figures[name].file.read_bytes()
    assert (tmp_path / "curve.png").read_bytes() == content
    for chunk in (b"tIME", b"Software", b"Creation"):
        assert chunk not in content


# -- what single pictures show -----------------------------------------------------------------------------------


def test_cells_of_the_cross_play_tell_both_ends_of_their_interval(figures):
    # 19 of 20 games: Wilson's interval is 76.4 to 99.1, no number with one half on either side
    texts = {text.get_text() for text in figures["cross-play"].figure.axes[0].texts}
    assert {"95", "[76, 99]", "5", "[1, 24]"} <= texts
    assert not any("±" in text.get_text() for text, _ in figures["cross-play"].words)


def test_the_curve_of_a_short_run_goes_from_step_0_and_has_the_random_player_beside_it(figures):
    axes = figures["seat"].figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["validation games, best action"].get_xdata().tolist() == [0, 800]
    assert set(lines["random"].get_ydata()) == {0.2}
    assert axes.get_xlim() == pytest.approx((-16, 816))
    assert len(axes.collections[-1].get_paths()) == 1  # the band from step 0 on


def test_lines_of_trust_end_where_a_player_last_lived_and_that_is_marked(figures):
    axes = figures["trust"].figure.axes[4]  # behind the four days
    lines = {line.get_label(): line.get_xdata() for line in axes.lines}
    # days 1 to 6 are moments 0 to 5; player_2 lives on day 2, player_5 on day 3, player_1 at no moment
    assert list(lines["player_2, dies"]) == [0, 1]
    assert list(lines["player_5, dies"]) == [0, 1, 2]
    assert list(lines["player_1, dead before"]) == []
    assert list(lines["player_3"]) == [0, 1, 2, 3, 4, 5]
    marks = sorted(
        float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "X" and len(line.get_xdata())
    )
    assert marks == [1, 2]


def test_a_player_has_one_colour_in_all_pictures(figures):
    def colour(name, label):
        lines = {box.get_label(): box.lines[0] for axes in figures[name].figure.axes for box in axes.containers}
        return lines[label].get_color()

    for name in ("avalon-fig2", "avalon-fig5", "avalon-fig6"):
        assert colour(name, "agent, 95 % interval") == plots.OWN
        assert colour(name, "baseline, 95 % interval") == plots.ORANGE
    assert colour("gratr-fig3", "native RAG, 95 % interval") == plots.PLAYERS["native RAG"]


# -- the figures of the papers -----------------------------------------------------------------------------------


def test_every_figure_of_a_paper_has_a_picture():
    by_themselves = {"grace-3", "grace-4", "grace-5"}
    offered = {name for name, made in reproducing.TABLES.items() if "fig" in name or "(figure" in made.about}
    assert offered == set(drawn.figures.FIGURES) - by_themselves - {"compare"}
    for name, like in drawn.ALIKE.items():
        assert drawn.figures.FIGURES[name] is drawn.figures.FIGURES[like]


def test_a_figure_is_drawn_into_the_folder_and_a_table_is_not(monkeypatch, tmp_path):
    for name, files in (("gratr-fig3", {"gratr-fig3.png"}), ("gratr-2", set())):
        table = reproducing.Reproduction(name, "a title", "offline", tuple(drawn.figure_cells(name)), ())
        monkeypatch.setitem(
            reproducing.TABLES, name, reproducing.PaperTable("", lambda _name, _setting, made=table: made)
        )
        assert reproduce(name, ReproductionSetting(out=tmp_path / name)) == replace(table, picture=ANY)
        assert {file.name for file in (tmp_path / name).glob("*.png")} == files
        assert (tmp_path / name / "cells.csv").exists()
        assert reproduce(name, ReproductionSetting()) == replace(table, picture=ANY)  # no folder, no picture
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert reproduce("gratr-fig3", ReproductionSetting(out=tmp_path / "without")).name == "gratr-fig3"
    assert not list((tmp_path / "without").glob("*.png"))


def test_figures_show_what_their_cells_hold_and_the_paper_beside_it(figures):
    left = figures["gratr-fig3"].figure.axes[0]
    assert left.get_title() == "GRATR v. history window"
    squares = [line for line in left.lines if line.get_marker() == "s" and line.get_fillstyle() == "none"]
    assert [float(line.get_xdata()[0]) for line in squares if len(line.get_xdata())] == [5.4] * 6
    ends = [bars.get_segments()[0][:, 0].tolist() for bars in left.collections]
    assert ends == [pytest.approx([-2, 4])] * 6


def crossing(a, b):
    """Whether two boxes share more than a pixel's edge."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > CROSSING and min(a.y1, b.y1) - max(a.y0, b.y0) > CROSSING
