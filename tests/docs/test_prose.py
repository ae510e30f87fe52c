"""The rules of prose: no banned construction, and short sentences, in pages, help, errors and docstrings (docs/style.md)."""

from __future__ import annotations

import pytest

from tests.docs.banned_words import BANNED, Banned
from tests.docs.prose import Text, findings, measure, module, page, sentences, sources


@pytest.mark.slow
def test_prose_has_no_banned_construction_and_short_sentences() -> None:
    failing = {source.name: source.findings or source.longest for source in sources() if not source.passes}
    assert failing == {}, "scripts/prose SOURCE prints what to write instead"


@pytest.mark.parametrize("banned", BANNED, ids=lambda word: word.instead)
def test_a_banned_construction_is_found_in_the_sentence_that_had_it(banned: Banned) -> None:
    assert banned.pattern.search(banned.example)


@pytest.mark.parametrize(
    "words",
    [
        "If it is killed, rerun the same command: it resumes at the next question.",
        "The moderator tells the Seer a role, which costs no more than the others.",
        "A result differs from the last one by less than 1 %. The mediator recommends; modules act.",
        "Everyone speaks once. They go on the quest. Given a seed, the game is the same, and no one knows the roles.",
    ],
)
def test_plain_english_has_no_finding(words: str) -> None:
    assert list(findings(Text("page", "page.md", 1, words))) == []


def test_sentences_end_at_full_stops_and_not_in_numbers_or_abbreviations() -> None:
    assert sentences("It won 1.5 points. See Lan et al. 2023, e.g. `a.b`. Does it? `x` does.") == [
        "It won 1.5 points.",
        "See Lan et al 2023, e.g `a.b`.",
        "Does it?",
        "`x` does.",
    ]


MARKDOWN = """# Told of a heading

Words stand
in a [paragraph](told.md) with `such a span`.

```python
told = "such a block"
```

- An item of a list

| cell one that | two |
|---|---|
"""


def test_a_page_is_paragraphs_items_and_cells_without_code_and_headings() -> None:
    texts = [(text.line, text.words, text.cell) for text in page("docs/page.md", MARKDOWN)]
    assert texts == [
        (3, "Words stand\nin a paragraph with `code`.", False),
        (10, "An item of a list", False),
        (12, "cell one that", True),
        (12, "two", True),
    ]
    source = measure("docs/page.md", list(page("docs/page.md", MARKDOWN)))
    assert [(finding.line, finding.instead) for finding in source.findings] == [
        (3, "is in, is next to, comes before"),
        (12, "the noun"),
    ]
    assert (source.average, source.table_words, source.passes) == (6.0, 4, False)


def test_long_sentences_alone_fail_a_source() -> None:
    assert not measure("page", [Text("page", "page.md", 1, "word " * 18)]).passes
    assert measure("page", [Text("page", "page.md", 1, "word " * 17)]).passes


def test_only_the_newest_section_of_the_changelog_counts() -> None:
    assert [text.words for text in page("CHANGELOG.md", "# Log\n\n## 2\n\nnew\n\n## 1\n\nold\n")] == ["new"]


def test_the_style_guide_may_quote_what_to_avoid() -> None:
    assert [text.words for text in page("docs/style.md", "| such a run | this run |\n")] == ["this run"]


CODE = '''"""Of a module."""

class Shown:
    """A class."""

    field: int = 1
    """A field."""

    def _hidden(self):
        """A private method."""
        raise ParlourError(f"rate {self.field!r} is not accepted; "
            "accepted: 0 to 1")

def shown():
    """A function."""
    print("printed words")
'''


@pytest.mark.parametrize(("name", "printed"), [("envs/a/b.py", []), ("training/a/b.py", ["printed words"])])
def test_a_module_is_docstrings_of_public_names_and_errors_and_what_training_prints(name, printed) -> None:
    texts = list(module(name, CODE))
    assert {text.source for text in texts} == {name.removesuffix("/b.py")}
    assert [text.words for text in texts] == [
        "Of a module.",
        "A class.",
        "A field.",
        "A function.",
        *printed,
        "rate `code` is not accepted; accepted: 0 to 1",
    ]
