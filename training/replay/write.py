"""Replay pages as files: one of a transcript, and an index of a folder of transcripts with a page for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay as transcripts
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, accept
from parlour.envs.replay import Transcript
from parlour.policies.files import atomic_write
from parlour.training.replay.build import names_in, replay_of
from parlour.training.replay.model import Replay
from parlour.training.replay.viewer import index, viewer
from parlour.training.runs.progress import Stage, StageProgress, no_progress

INDEX_FORMAT: Final = 1
INDEX: Final = "index.html"
REPLAYS: Final = "replays"
"""The folder in that of the transcripts into which their pages go."""
_HEADER: Final = b'"parlour"'
_NAMED: Final = ("lines", "who", "choices", "tables", "documents", "beliefs")
"""Parts of the data whose texts people read with names."""
_FIRST: Final = 65_536
"""Bytes in which the first line of a transcript names its format."""


@dataclass(frozen=True)
class WrittenIndex:
    """What was written for a folder."""

    page: Path
    """The index."""
    pages: tuple[Path, ...]
    """Pages of the games, in the order of the index."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Transcript -> why it has no page."""


def replay_html(transcript: Transcript, file: str = "") -> str:
    """The page of a transcript. Raises `ParlourError` as `replay_of` does."""
    return replay_page(transcript, replay_of(transcript, file))


def replay_page(transcript: Transcript, replay: Replay, first: Mapping[str, str] | None = None) -> str:
    """The page of a transcript's data; players have the names of its header in all texts, except in prompts and answers.

    Args:
        transcript: The game.
        replay: Its data.
        first: For a page that somebody sees first: it plays by itself, and links to these pages, address -> what they are.
    """
    data, names = plain(replay, sparse=True), names_in(transcript.header)
    for key in _NAMED:
        data |= {key: names.shown_in(data[key])} if key in data else {}
    for step in data["steps"]:
        step |= {key: names.shown_in(step[key]) for key in ("said", "words") if key in step}
    data["header"] |= {key: names.shown_in(data["header"][key]) for key in ("ended", "turned") if key in data["header"]}
    if first is not None:
        data["header"] |= {"plays": True, "links": [*first.items()]}
    return viewer(data).render()


def write_replay(file: str | Path, out: str | Path | None = None, folders: Iterable[str | Path] = ()) -> Path:
    """Write the page of a transcript.

    Args:
        file: The transcript.
        out: The page; None: beside the transcript, under its name with the ending `.html`.
        folders: Paths that its config may name, as in `parlour.envs.replay.Transcript.read`.

    Returns:
        The page.

    Raises:
        ParlourError: The file is no transcript, its game is not known or cannot be built, or the page cannot be written.
    """
    path = Path(file)
    page = path.with_suffix(".html") if out is None else Path(out)
    if page.resolve() == path.resolve():
        raise accept("out", str(page), "another file than the transcript")
    atomic_write(page, replay_html(transcripts.Transcript.read(path, folders=folders), path.name))
    return page


def write_index(
    folder: str | Path,
    out: str | Path | None = None,
    folders: Iterable[str | Path] = (),
    progress: StageProgress = no_progress,
) -> WrittenIndex:
    """Write a page for each transcript in a folder and the folders in it, and an index of them.

    Files `*.jsonl` that are no transcripts of parlour are passed over. The index lists a transcript without a page, with the
    reason.

    Args:
        folder: The folder.
        out: Into which folder; None: `replays` in the folder.
        folders: Paths that configs may name, as in `parlour.envs.replay.Transcript.read`.
        progress: Called with the number of pages written.

    Raises:
        ParlourError: The folder holds no transcript, or a page cannot be written.
    """
    source, target = Path(folder), Path(folder) / REPLAYS if out is None else Path(out)
    paths = _transcripts(source)
    may_open = tuple(folders)
    rows, pages, left_out = [], [], {}
    for path in Stage("Writing pages", len(paths), "pages").counted(paths, progress):
        name = path.relative_to(source).as_posix()
        try:
            transcript = transcripts.Transcript.read(path, folders=may_open)
            replay = replay_of(transcript, path.name)
        except ParlourError as error:
            left_out[name] = str(error)
            rows.append({"file": name, "ended": f"No page: {error}"})
            continue
        page = target / _page_name(name)
        atomic_write(page, replay_page(transcript, replay))
        pages.append(page)
        rows.append(_row(replay, name, page.relative_to(target).as_posix()))
    atomic_write(target / INDEX, index({"parlour_index": INDEX_FORMAT, "games": rows}).render())
    return WrittenIndex(target / INDEX, tuple(pages), left_out)


def _transcripts(folder: Path) -> list[Path]:
    """The transcripts in a folder and in those in it, by name. Raises `ParlourError` if there is none."""
    paths = [path for path in sorted(folder.rglob("*.jsonl")) if path.is_file() and _is_transcript(path)]
    if not paths:
        raise ParlourError(
            f"folder {str(folder)!r} holds no transcript; accepted: a folder with *.jsonl files of games"
        )
    return paths


def _is_transcript(path: Path) -> bool:
    """Whether the first line may be the header of a transcript; what else is wrong with the file is told of it."""
    try:
        with path.open("rb") as file:
            return _HEADER in file.readline(_FIRST)
    except OSError:
        return True


def _page_name(name: str) -> str:
    """Where the page of a transcript goes: `a/b.jsonl` to `a/b.html`; none takes the place of the index."""
    page = f"{name.removesuffix('.jsonl')}.html"
    return f"{name}.html" if page == INDEX else page


def _row(replay: Replay, file: str, page: str) -> dict[str, Any]:
    """A game as a line of the index; what is not known is left out."""
    header = replay.header
    fields = {
        "page": page,
        "file": file,
        "game": header.game,
        "title": header.title,
        "seed": header.seed,
        "winner": header.winner,
        "reason": header.reason,
        "ended": header.ended,
        "finished": header.finished,
        "steps": len(replay.steps),
        "seats": len(header.seats),
        "players": [seat.player for seat in header.seats],
        "roles": [seat.role for seat in header.seats],
        "sides": [seat.side for seat in header.seats],
        "returns": [seat.returned for seat in header.seats],
        "decisions_own": _own_share(replay),
        "notes": list(header.notes),
    }
    return {key: value for key, value in fields.items() if value not in (None, "", [])}


def _own_share(replay: Replay) -> float | None:
    """Which share of all decisions were the players' own; None where nothing was decided."""
    counted = [seat.decisions for seat in replay.header.seats if seat.decisions.get("decisions")]
    made = sum(decisions["decisions"] for decisions in counted)
    return sum(decisions.get("own", 0) for decisions in counted) / made if made else None
