"""Texts are cut into segments of a few tokens where sentences end, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.policies.retrieval.memory import count_tokens, segments

MIXED = st.text(alphabet="ab c1.,!?…\n \t。，！“”é谁杀了\U00020000\U0001f642'\"")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n", 0),
        ("谁杀了他", 4),
        ("谁杀了他？", 5),
        ("abcdefgh", 1),
        ("abcdefghi", 2),
        ("1234", 2),
        ("I, too", 3),
    ],
)
def test_tokens_are_counted_as_documented(text, tokens):
    assert count_tokens(text) == tokens


@given(MIXED, st.integers(1, 12))
def test_segments_lose_nothing_and_keep_to_their_size(text, size):
    pieces = segments(text, size)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece and piece == piece.strip() and count_tokens(piece) <= size for piece in pieces)
    assert sum(map(count_tokens, pieces)) == count_tokens(text)


@given(st.lists(st.sampled_from(["He left.", "Why?", "No!", "谁杀了他？", "管家。", "她说：“走吧！”", "A new line\n"])))
def test_segments_are_as_many_whole_sentences_as_fit(sayings):
    pieces = segments(" ".join(sayings), 12)
    assert all(piece.endswith((".", "?", "!", "？", "。", "”", "line")) for piece in pieces)
    starts = (
        [sayings[0], *(next(s for s in sayings if piece.startswith(s.strip())) for piece in pieces[1:])]
        if sayings
        else []
    )
    for piece, following in zip(pieces, starts[1:], strict=False):
        assert count_tokens(piece) + count_tokens(following) > 12


@pytest.mark.parametrize(
    ("text", "size", "pieces"),
    [
        ("One two. Three four. Five", 6, ["One two. Three four.", "Five"]),
        ("他走了。她没有走。后来呢", 9, ["他走了。她没有走。", "后来呢"]),
        ("One two three four, five six seven", 6, ["One two three four,", "five six seven"]),
        ("他来了，她走了，谁也没看见谁", 6, ["他来了，", "她走了，", "谁也没看见谁"]),
        ("one two three four", 3, ["one two three", "four"]),
        ("a notebook1 burned", 2, ["a", "notebook1", "burned"]),
        ("谁杀了bob呢", 3, ["谁杀了", "bob呢"]),
        ("谁也没看见谁。", 6, ["谁也没看见", "谁。"]),
        ("incomprehensibilities", 2, ["incomprehensibil", "ities"]),
        ("It cost 3.5 crowns.", 4, ["It cost", "3.5", "crowns."]),
        ("The Star.He sank it.", 5, ["The Star.", "He sank it."]),
        ('"Go!" he said to her', 5, ['"Go!"', "he said to her"]),
        ("first line\nsecond line", 3, ["first line", "second line"]),
        ("", 5, []),
    ],
)
def test_where_segments_are_cut(text, size, pieces):
    assert segments(text, size) == pieces
