"""Every block of code of every page runs: here, or in the page's own test. Cells of notebooks run here and when the site is built.

The command's own parser reads each command line of a page, with its values; nothing is executed. Other blocks are data, or
programs from elsewhere.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from parlour.training.cli import COMMANDS, command_of

from tests import ROOT

DOCS = ROOT / "docs"
MADE = {"_build", "generated"}
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    if not MADE & set(path.relative_to(ROOT).parts)
}
RUN_BY = {
    **dict.fromkeys(
        ("README.md", "docs/reference/environments.md", "docs/howto/endpoints.md"),
        "docs/test_readme.py",
    ),
    "docs/howto/batch.md": "docs/test_batch_page.py",
    **dict.fromkeys(
        ("docs/integrations/pytorch.md", "docs/integrations/sb3.md"), "policies/adapters/test_trained_on.py"
    ),
    "docs/howto/mediators.md": "docs/test_mediators_page.py",
    "docs/howto/make_plugin.md": "training/cli/test_new.py",
    "docs/howto/contextual_mediators.md": "training/learn/mediators/test_sees.py",
    "docs/howto/questions.md": "docs/test_questions_page.py",
    "docs/howto/retrievers.md": "envs/mediated_qa/test_retrievers.py",
    "docs/integrations/ray.md": "integrations/test_ray.py",
    **{
        f"docs/integrations/{library}.md": f"integrations/test_{library}.py"
        for library in (
            "hf",
            "inspect",
            "mcp",
            "openenv",
            "openspiel",
            "rllib",
            "supersuit",
            "textarena",
            "trl",
            "verifiers",
        )
    },
}
"""Page -> the test that runs its blocks of Python."""
DATA = {"json", "text", "console"}
FENCED = re.compile(r"^```(\{?[a-z-]+\}?)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIRECTIVES = {"{toctree}", "{include}", "{literalinclude}"}


def blocks(kind: str) -> list[tuple[str, str]]:
    """Page and text of the fenced blocks of a kind."""
    return [(page, text) for page, whole in PAGES.items() for form, _, text in FENCED.findall(whole) if form == kind]


def commands() -> list[tuple[str, str]]:
    """Page and words of each command line of `parlour`, with lines joined that a backslash continues."""
    joined = {page: whole.replace("\\\n", " ") for page, whole in PAGES.items()}
    return [
        (page, words)
        for page, whole in joined.items()
        for words in re.findall(r"^    parlour (.*)$", whole, re.MULTILINE)
    ]


def test_every_block_says_what_it_is():
    kinds = {(page, kind) for page, whole in PAGES.items() for kind, _, _ in FENCED.findall(whole)}
    assert {(page, kind) for page, kind in kinds if kind not in DATA | DIRECTIVES | {"python", "{code-cell}"}} == set()
    opened = {page: len(re.findall(r"^```", whole, re.MULTILINE)) for page, whole in PAGES.items()}
    assert opened == {page: 2 * len(FENCED.findall(whole)) for page, whole in PAGES.items()}


@pytest.mark.parametrize("page", sorted(RUN_BY))
def test_the_test_that_runs_a_page_reads_its_blocks(page):
    source = (ROOT / "tests" / RUN_BY[page]).read_text("utf-8")
    if not re.search(rf'(page_code|run_page|blocks_of)\("{Path(page).stem}"', source):  # of `integrations.pages`
        assert Path(page).name in source
        assert "```python" in source
    assert "```python" in PAGES[page]


@pytest.mark.parametrize("page", sorted({page for page, _ in blocks("python")} - set(RUN_BY)))
def test_the_blocks_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch, capsys):
    prepared(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for _, text in [block for block in blocks("python") if block[0] == page]:
        exec(compile(text, page, "exec"), names)
    if page == "docs/howto/corpora.md":
        assert capsys.readouterr().out.endswith("Telby\n")


def prepared(page: str, folder: Path) -> None:
    """The files that a page's code takes for given: those of docs/howto/corpora.md are its own example."""
    if page == "docs/howto/corpora.md":
        questions, documents = (text for at, text in blocks("json") if at == page)
        (folder / "questions.jsonl").write_text(questions, "utf-8")
        (folder / "notes").mkdir()
        (folder / "notes" / "documents.jsonl").write_text(documents, "utf-8")


@pytest.mark.parametrize(("page", "text"), blocks("json"))
def test_what_is_shown_as_json_is_json(page, text):
    try:
        json.loads(text)
    except json.JSONDecodeError:
        assert [json.loads(line) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(("page", "words"), commands())
def test_each_command_line_is_read_by_its_command(page, words):
    plain = re.split(r"\s[>|&]\s|\s#\s|\s\.\.\.", re.sub(r"\$[A-Z]+", "", words.replace("$AZURE", "URL")))[0]
    path = max((command for command in COMMANDS if f"{plain} ".startswith(f"{command} ")), key=len, default=None)
    assert path is not None, words
    left = shlex.split(plain)[len(path.split()) :]
    assert command_of(path).make_context(path, left, resilient_parsing=False).args == []


def test_a_command_line_that_does_not_exist_is_noticed():
    with pytest.raises(Exception, match="no-such"):
        test_each_command_line_is_read_by_its_command("page", "play avalon_v0 --no-such 5")


def test_every_tutorial_is_in_the_navigation_and_runs_as_a_notebook_or_in_this_file():
    for path in sorted((DOCS / "tutorials").glob("*.md")):
        text = path.read_text("utf-8")
        notebook = text.startswith("---\nfile_format: mystnb\n") and "```{code-cell} python" in text
        assert notebook or "```python" in text, path.name
        assert f"tutorials/{path.stem}\n" in PAGES["docs/index.md"]


SMALLER = {"range(25)": "range(1)", "range(120)": "range(4)", "episodes=400": "episodes=4", "range(1000)": "range(10)"}
"""What a cell says -> what it says here: fewer games."""


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({page for page, _ in blocks("{code-cell}")}))
def test_the_cells_of_a_notebook_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    names: dict[str, object] = {"__name__": "__main__"}
    for _, text in [block for block in blocks("{code-cell}") if block[0] == page]:
        text = re.sub(r"\A(:.*\n)+", "", text)
        for much, less in SMALLER.items():
            text = text.replace(much, less)
        exec(compile(text, page, "exec"), names)
