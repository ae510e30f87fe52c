"""Pictures with matplotlib, of the extra `train`, in one style: what is drawn, who played and how much was counted, in words
that are never cut; keys below the panels, never on the data; one colour for each player.

The colours come from Okabe and Ito, "Color Universal Design" (2008); most people can distinguish them. Marks and lines also carry
all information. A picture is one of `picture`; its bytes follow from what is drawn alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from parlour.envs.common.extras import not_installed
from parlour.envs.core import ParlourError
from parlour.policies.files import replacing

if TYPE_CHECKING:
    from parlour.policies.llm.model import Model

INTERVAL: Final = "95 % interval"
BLUE, VERMILION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
REFERENCE: Final = "0.35"
"""Grey of what others are compared with."""
PAPER: Final = VERMILION
"""What a paper prints: an open square."""
OWN: Final = BLUE
"""What the run trained or measures."""
PLAYERS: Final = {
    "heuristic": REFERENCE,
    "random": "0.6",
    "oracle": BLACK,
    **dict.fromkeys(("learned", "trained", "snapshots", "clone", "learned mediator", "GRATR", "agent"), OWN),
    **dict.fromkeys(("baseline", "history window", "contextual policy", "recorded players"), ORANGE),
    **dict.fromkeys(("native RAG", "best static", "habits"), GREEN),
    "rerank RAG": PURPLE,
}
"""Colour of a player wherever it is drawn; others get `OTHERS`, in their order."""
OTHERS: Final = (ORANGE, GREEN, PURPLE, SKY, VERMILION, BLACK)
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
_STYLE: Final[Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.axisbelow": True,
    "axes.prop_cycle": "cycler('color', ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#000000'])",
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.parse_math": False,
}
_TITLE: Final[dict[str, Any]] = {"fontsize": 12, "fontweight": "bold"}
_CAPTION: Final[dict[str, Any]] = {"fontsize": 8.5, "color": "0.3"}
_EDGE: Final = 0.08
"""Inches between the words of a picture and its edges."""
_LONGEST: Final = 28
"""Characters in a line of a name beside a panel."""


def require() -> None:
    """Raise `ParlourError` where matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise not_installed(error.name, "train") from None


def available() -> bool:
    """Whether matplotlib is installed."""
    try:
        require()
    except ParlourError:
        return False
    return True


# -- a picture ---------------------------------------------------------------------------------------------------


@contextmanager
def picture(
    path: str | Path, width: float, height: float, *, title: str, who: str, n: str, dpi: int = 120
) -> Iterator[Any]:
    """An empty matplotlib figure; what was drawn into it when the block ends is written as a PNG.

    Args:
        path: Path of the file, which is replaced as a whole.
        width: Width of the picture, in inches.
        height: Height of its panels and keys, in inches; title and caption are added to it.
        title: What is shown.
        who: Who played, for the caption.
        n: How much was counted, for the caption, such as `n = 40 games a point`.
        dpi: Pixels in an inch.

    Raises:
        ParlourError: matplotlib is not installed.
    """
    require()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # nothing of the machine's own settings
        mpl.rcParams.update(_STYLE)
        made = Figure(figsize=(width, height), dpi=dpi, layout="constrained")
        FigureCanvasAgg(made)
        yield made
        _lay_out(made, title, f"{who}; {n}" if n else who)
        save(made, path)


def answered_by(model: Model) -> str:
    """Who answered the players' questions, for a caption; never a language model what is none.

    >>> from parlour.policies.llm.model import OfflineModel
    >>> answered_by(OfflineModel())
    'answered by heuristics, no language model'
    """
    return f"answered by {model.name}" if model.is_language_model else "answered by heuristics, no language model"


def save(made: Any, path: str | Path) -> None:
    """Write a figure as a PNG without date or versions; the file is replaced as a whole."""
    with replacing(path) as new:
        made.savefig(new, metadata={"Software": None})


def _lay_out(made: Any, title: str, caption: str) -> None:
    """Put the words around the panels: as much room as they take, in lines as wide as the picture."""
    above, below = _words(made, title, "title", **_TITLE), _words(made, caption, "caption", **_CAPTION)
    top, bottom = _height(above), _height(below)
    keys = sum(legend.get_window_extent().height / made.dpi for legend in made.legends)
    height = made.get_figheight() + top + keys + bottom
    made.set_figheight(height)
    edge = _EDGE / made.get_figwidth()
    above.set(x=edge, y=1 - _EDGE / height, va="top")
    below.set(x=edge, y=_EDGE / height, va="bottom")
    low = (keys + bottom) / height
    made.get_layout_engine().set(rect=(0, low, 1, 1 - low - top / height))
    for legend in made.legends:
        legend.set_in_layout(False)  # the layout would lay it on the names of the axes
        legend.set_bbox_to_anchor((0.5, bottom / height), made.transFigure)
    _arrange(made)
    shifted = [_fit(made, axes) for axes in made.axes]
    if any(shifted):
        _arrange(made)
    made.set_layout_engine(None)  # it is laid out: matplotlib would do so again, and draw everything once more for it


def _arrange(made: Any) -> None:
    """Put the panels where their words leave room."""
    if made.axes:
        made.get_layout_engine().execute(made)


def _words(made: Any, text: str, name: str, **how: Any) -> Any:
    """A line of words, or several, as wide as the picture; `name` is the artist's gid."""
    made_of = made.text(0, 0, "", gid=name, in_layout=False, linespacing=1.25, **how)
    made_of.set_text(_wrapped(made_of, text, made.get_figwidth() - 2 * _EDGE))
    return made_of


def _height(words: Any) -> float:
    """In inches, with an edge above and below."""
    figure = words.get_figure()
    return float(words.get_window_extent().height / figure.dpi + 2 * _EDGE) if words.get_text() else _EDGE


def _wrapped(words: Any, text: str, inches: float) -> str:
    """The text in lines of that width at most, measured in the font of `words`; a word that is wider is cut in two."""
    dpi = words.get_figure().dpi
    font, most = words.get_fontproperties().copy(), inches * dpi

    def fits(line: str) -> bool:
        return bool(_width(line, font, dpi) <= most)

    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if line and not fits(f"{line} {word}"):
                lines.append(line)
                line = ""
            line = f"{line} {word}" if line else word
            while not fits(line) and len(line) > 1:
                cut = next((k for k in range(len(line) - 1, 1, -1) if fits(line[:k])), 1)
                lines.append(line[:cut])
                line = line[cut:]
        lines.append(line)
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def _width(line: str, font: Any, dpi: float) -> float:
    """Of a line of words, in pixels; each is measured once, also for the pictures that follow."""
    from matplotlib.backends import backend_agg

    drawn_by: Any = backend_agg.RendererAgg
    return float(drawn_by(1, 1, dpi).get_text_width_height_descent(line, font, False)[0])


def _fit(made: Any, axes: Any) -> bool:
    """Titles and names of axes in lines as long as the panel's sides; its key below the words of its x axis.

    Returns:
        Whether anything has changed its size or place.
    """
    shifted = False
    box = axes.get_window_extent()
    wide, high = max(box.width / made.dpi, 1.2), max(box.height / made.dpi, 1.2)
    for words, inches in ((axes.title, wide), (axes.xaxis.label, wide), (axes.yaxis.label, high)):
        text = _wrapped(words, words.get_text(), inches)
        shifted |= text != words.get_text()
        words.set_text(text)
    legend = axes.get_legend()
    if legend is not None:
        from matplotlib.transforms import ScaledTranslation

        below = axes.xaxis.get_tightbbox()
        drop = 0.0 if below is None else max(0.0, box.y0 - below.y0) / made.dpi
        legend.set_bbox_to_anchor((0.5, 0), axes.transAxes + ScaledTranslation(0, -drop, made.dpi_scale_trans))
        shifted = True
    return shifted


# -- panels ------------------------------------------------------------------------------------------------------


def label(axes: Any, x: str = "", y: str = "", title: str = "", *, grid: str = "both") -> None:
    """Name the axes of a panel and lay a grid below it: of `"both"` axes, of `"x"` or `"y"`, or none for `""`."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title)
    if grid:
        axes.grid(axis=grid, alpha=0.3)


def whole(axis: Any) -> None:
    """Ticks of an axis at whole numbers alone, their thousands set apart."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def key(owner: Any, handles: Sequence[Any] | None = None) -> None:
    """The key of a panel, below it, or that of a figure, at its lower edge: each name once.

    Args:
        owner: A panel's axes, or a figure.
        handles: What it explains; by default all that is named in the panel, or in any panel of the figure.
    """
    made = owner.get_figure() or owner
    panels = made.axes if owner is made else [owner]
    drawn = [axes.get_legend_handles_labels() for axes in panels] if handles is None else []
    named = {name: handle for of_panel in drawn for handle, name in zip(*of_panel, strict=True)}
    named |= {handle.get_label(): handle for handle in handles or ()}
    if not named:
        return
    wide = made.get_figwidth() * (1 if owner is made else owner.get_subplotspec().get_position(made).width)
    where = (
        {"loc": "lower center", "borderaxespad": 0}
        if owner is made
        else {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15)}
    )
    owner.legend(list(named.values()), list(named), ncols=_columns(made, list(named), wide), **where)


def _columns(made: Any, names: Sequence[str], inches: float) -> int:
    """How many names stand side by side in a line."""
    trial = made.text(0, 0, "", fontsize=_STYLE["legend.fontsize"])
    widths = []
    for name in names:
        trial.set_text(name)
        widths.append(trial.get_window_extent().width / made.dpi + 0.65)  # the handle and the gaps
    trial.remove()
    return max(1, min(len(names), int(inches / max(widths))))


def numbers(axes: Any, columns: Sequence[str], rows: Sequence[str], **how: Any) -> None:
    """Name the columns and rows of a map of numbers."""
    axes.set_xticks(range(len(columns)), [broken(column) for column in columns], **how)
    axes.set_yticks(range(len(rows)), [broken(row) for row in rows])
    axes.spines[:].set_visible(True)


def number(axes: Any, column: float, row: float, text: str, *, dark: bool, **how: Any) -> None:
    """Write into a cell of a map: white where the cell is dark."""
    axes.text(column, row, text, ha="center", va="center", color="white" if dark else "black", **how)


def percent(axes: Any, column: float, row: float, rate: float, low: float, high: float) -> None:
    """Write a share into a cell of a map from 0 to 1, in percent, over both ends of its interval."""
    dark = abs(rate - 0.5) > 0.3
    number(axes, column, row - 0.12, f"{100 * rate:.0f}", dark=dark, fontsize=9.5)
    number(axes, column, row + 0.25, f"[{100 * low:.0f}, {100 * high:.0f}]", dark=dark, fontsize=6.5)


def broken(name: str) -> str:
    """A name in lines of `_LONGEST` characters, broken behind a sign where there is one.

    >>> broken("gratr:gamma=0.02,rho=0.9,depth=3").splitlines()
    ['gratr:gamma=0.02,rho=0.9,', 'depth=3']
    """
    lines = []
    for part in name.split("\n"):
        while len(part) > _LONGEST:
            signs = [part.rfind(sign, 0, _LONGEST) for sign in " :,;=/+_"]
            cut = max(signs) + 1 if max(signs) > _LONGEST // 3 else _LONGEST
            lines.append(part[:cut].rstrip())
            part = part[cut:]
        lines.append(part)
    return "\n".join(lines)


def colours(names: Sequence[str]) -> dict[str, str]:
    """The colour of each player: its own in every picture, or the next of `OTHERS` that none of these has.

    >>> colours(["heuristic", "mine", "baseline", "theirs"])
    {'heuristic': '0.35', 'mine': '#009E73', 'baseline': '#E69F00', 'theirs': '#CC79A7'}
    """
    taken = {PLAYERS[name] for name in names if name in PLAYERS}
    rest = cycle([colour for colour in OTHERS if colour not in taken])
    return {name: PLAYERS[name] if name in PLAYERS else next(rest) for name in dict.fromkeys(names)}


# -- points and curves -------------------------------------------------------------------------------------------

Estimated = tuple[float, float | None, float | None]
"""A number, and both ends of its interval where it has one."""


def points(
    axes: Any, at: Sequence[float], estimateds: Sequence[Estimated], *, across: bool = False, **how: Any
) -> None:
    """Marks with intervals, each as long below as above as it is; `across` lays them along the x axis, at heights `at`."""
    below = [0.0 if low is None else max(0.0, value - low) for value, low, _ in estimateds]
    above = [0.0 if high is None else max(0.0, high - value) for value, _, high in estimateds]
    values = [value for value, _, _ in estimateds]
    drawn = {"fmt": "o", "markersize": 5, "capsize": 2.5, "elinewidth": 1.4} | how
    if across:
        axes.errorbar(values, at, xerr=[below, above], **drawn)
    else:
        axes.errorbar(at, values, yerr=[below, above], **drawn)


def level(axes: Any, name: str, estimated: Estimated, style: str = "--") -> None:
    """A player that does not change, as a level line over the band of its interval."""
    value, low, high = estimated
    colour = colours([name])[name]
    axes.axhline(value, color=colour, linestyle=style, linewidth=1.3, label=name)
    if low is not None and high is not None:
        axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve, with its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A line through points, over the band of their intervals."""

    label: str
    points: Sequence[CurvePoint]
    style: str = "-"
    marker: str = ""
    interval: str = INTERVAL
    """What the legend calls the band; empty: nothing."""


def draw(axes: Any, curve: Curve, **how: Any) -> None:
    """Draw a curve into a panel; points without an interval leave a gap in the band, a single point gets a bar."""
    at = [point.x for point in curve.points]
    (line,) = axes.plot(at, [p.y for p in curve.points], curve.style, marker=curve.marker, label=curve.label, **how)
    band = [(p.x, p.low, p.high) for p in curve.points if p.low is not None]
    named = {"label": curve.interval} if curve.interval else {}
    if len(band) == 1:
        axes.vlines(*zip(*band, strict=True), color=line.get_color(), linewidth=1.4, **named)
    elif band:
        axes.fill_between(*zip(*band, strict=True), color=line.get_color(), alpha=0.2, linewidth=0, **named)


def range_of(numbers: Sequence[int]) -> str:
    """How many, where cells differ: `40`, or `12 to 40`.

    >>> range_of([12, 40, 12]), range_of([40, 40])
    ('12 to 40', '40')
    """
    distinct = sorted(set(numbers))
    if not distinct:
        return "0"
    return f"{distinct[0]:,}" if len(distinct) == 1 else f"{distinct[0]:,} to {distinct[-1]:,}"
