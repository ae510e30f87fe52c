"""A language of the murder mystery is one file: complete, or refused in one line that names what is wrong."""

from __future__ import annotations

from importlib.resources import files

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.language.language_files import checked, compare
from parlour.envs.murder_mystery.languages.texts import LANGUAGES, Texts, texts
from parlour.policies.agents.murder_mystery.scene import sentences

CHINESE = (files("parlour.envs.murder_mystery.languages") / "data" / "zh.toml").read_text("utf-8")


def test_the_heuristics_have_the_same_sentences_in_all_languages():
    english = sentences("en")
    for other in map(sentences, LANGUAGES):
        assert len(other.predefined) == len(english.predefined)
        for table in ("questions", "about", "unnamed"):
            assert getattr(other, table).keys() == getattr(english, table).keys()


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        ("moved = ", "# ", "prose.moved: Field required"),
        ("why = ", "# ", "prose.questions.why is missing"),
        ("why = ", "whom = 'x'\nwhy = ", "prose.questions.whom is not in en.toml"),
        ('    ["林若安", "若安"],\n', "", "words.names.27.0 is missing"),
        ("declines = '", "declines = '(", "phrases.declines: Input should be a valid regular expression"),
        ("[prose]", "[prose", "xx.toml is not TOML: "),
    ],
)
def test_a_file_that_is_not_complete_is_refused(line, instead, message):
    assert CHINESE.count("\n" + line) == 1
    with pytest.raises(ParlourError) as raised:
        compare(
            checked(CHINESE.replace("\n" + line, "\n" + instead), "xx.toml", Texts), texts("en"), "xx.toml", ("words",)
        )
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_language_without_a_file_is_refused():
    with pytest.raises(ParlourError, match=r"language 'fr' is not accepted; accepted: en, zh"):
        texts("fr")
