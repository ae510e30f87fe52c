"""What a reply thinks aloud, and what it says.

Models mark their thoughts in many ways. `MARKERS` is the table of them: how a thought opens and how it closes. Marks of these shapes with
another word for thinking count as well: `<pondering>`, `[SCRATCHPAD]`, `<|begin_of_analysis|>`.

A mark within an object is a player's words and changes nothing. A thought that is not closed reaches the end of the reply. An end
without a beginning has the reply before it for its thought, because some chat templates open the thought in the prompt.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

Spans = Sequence[tuple[int, int]]
"""Where objects begin and end in a text, in order."""


class Marker(NamedTuple):
    """How thoughts are marked. `{word}` in `closes` stands for the text of the group `word` in `opens`."""

    opens: str
    closes: str
    """A pattern of the end of the thought."""
    lone: str = ""
    """A pattern of ends that count without a beginning; empty where they mean other things as well."""
    doubtful: bool = False
    """Whether the opening may be a heading or a stage direction: it counts if it is closed, or the reply was cut."""


_WORDS: Final = (
    r"(?:(?:inner|internal|hidden|private|my|deep)[ _-])?"
    r"(?:think(?:ing|s)?|thoughts?|reason(?:ing|s)?|reflect(?:ion|ions|ing)?|analysis|analy[sz](?:e|ing)|scratch[ _-]?pad"
    r"|deliberat(?:e|ion|ing)|ponder(?:ing)?|ruminat(?:e|ion|ing)|contemplat(?:e|ion|ing)|introspect(?:ion)?|monologue|musings?"
    r"|brainstorm(?:ing)?|planning|drafts?|cot|chain[ _-]of[ _-]thoughts?|思考|思索|推理|反思|分析|思维链|内心独白)"
    r"(?:[ _-](?:process|block|steps?|trace|mode))?"
)
"""Words for thinking."""
_TAG: Final = rf"(?:[a-z]\w{{0,20}}:)?{_WORDS}"
_ATTRIBUTES: Final = r"""(?:\s+[\w:-]{1,40}\s*=\s*(?:"[^"<>]{0,200}"|'[^'<>]{0,200}'|[^\s"'<>]{1,200})){0,8}\s*"""
_END_TOKEN: Final = r"<[|｜]?(?:/|(?:end|stop)(?:[_▁]of)?[_▁])"
_TURN: Final = r"<\|(?:end|im_end|eot_id|start|im_start|return|call)\|>"

MARKERS: Final[tuple[Marker, ...]] = (
    # <think>, <think time="3">, <seed:think>: DeepSeek, Qwen, GLM, Seed-OSS, and whoever is prompted for it
    Marker(rf"<(?P<word>{_TAG}){_ATTRIBUTES}>", r"</{word}\s*>", rf"</{_TAG}\s*>"),
    # [THINK]: Magistral
    Marker(rf"\[(?P<word>(?=(?-i:[A-Z _-]+)\]){_WORDS})\]", r"\[/{word}\]", rf"\[/{_WORDS}\]"),
    Marker(rf"[\[【⟨⟦《〈«](?P<word>{_WORDS})[\]】⟩⟧》〉»]", r"[\[【⟨⟦《〈«]/{word}[\]】⟩⟧》〉»]", doubtful=True),
    # ◁think▷: Kimi
    Marker(r"◁(?P<word>\w{1,40})▷", r"◁/{word}▷", r"◁/\w{1,40}▷"),
    # <|START_THINKING|>: Command A; <|begin_of_thought|>: Sky-T1
    Marker(
        rf"<[|｜]?(?:start|begin)(?:[_▁]of)?[_▁](?P<word>{_WORDS})[|｜]?>|<[|｜](?P<bare>{_WORDS})[|｜]>",
        rf"{_END_TOKEN}{{word}}[|｜]?>|{_TURN}",
        rf"{_END_TOKEN}{_WORDS}[|｜]?>",
    ),
    # <|channel|>analysis<|message|>: gpt-oss; no channel but the final one holds the answer
    Marker(
        r"<\|channel\|>\s*(?!final\b)\w[^\n]{0,120}?(?:<\|message\|>|\Z)",
        r"<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)",
    ),
    Marker(
        r"(?-i:\A\s*analysis(?=[A-Z]))", r"(?-i:assistant\s?final)"
    ),  # the same where the server leaves the tokens out
    # <|channel>thought: Gemma 4
    Marker(r"<\|channel>\s*(?!final\b)\w{1,40}", r"<channel\|>|(?=<\|channel>)", r"<channel\|>"),
    Marker(r"<unused94>", r"<unused95>", r"<unused95>"),  # MedGemma
    Marker(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>", r"<\|inner_suffix\|>"),  # Apertus
    Marker(r"\A\s*here(?: is|'s) my thought process:", r"here(?: is|'s) my response:", doubtful=True),  # Granite 3.2
)


def _numbered(pattern: str, number: int) -> str:
    """A pattern for a place among others: its groups have names of their own."""
    return rf"(?P<marker{number}>{pattern.replace('(?P<word>', f'(?P<word{number}>').replace('(?P<bare>', f'(?P<bare{number}>')})"


_OPENS: Final = re.compile("|".join(_numbered(marker.opens, k) for k, marker in enumerate(MARKERS)), re.IGNORECASE)
_LONE: Final = re.compile("|".join(marker.lone for marker in MARKERS if marker.lone), re.IGNORECASE)
_ANY_OPENING: Final = re.compile(
    rf"\s*(?:<(?P<tag>[^\W\d][\w:.-]{{0,40}}){_ATTRIBUTES}>|\[(?P<bracket>[^\W\d][\w -]{{0,40}})\]|<[|｜](?P<token>\w{{1,40}})[|｜]>)"
)
"""A mark with whatever word, at the beginning of a reply."""
_OTHERS: Final = re.compile(
    r"(?:(?:start|begin)(?:_of)?_)?(?:final|answer|response|reply|result|solution|output|json|tool|function|code|message|box|turn|text"
    r"|header|im_start|assistant|user|system|model|(?:start|bos|s|inst)$|vote|choice|action|speech|say|player)",
    re.IGNORECASE,
)
"""Words with which a reply marks its answer, a turn or a player."""


class Parts(NamedTuple):
    """The parts of a reply."""

    thought: str
    said: str
    is_open: bool
    """Whether the last thought is not closed."""


class _Thought(NamedTuple):
    """Where a thought is marked, and where it is closed; None if it is not."""

    mark: re.Match[str]
    close: re.Match[str] | None


def parts_of(reply: str, objects_in: Callable[[str], Spans], *, cut: bool = False) -> Parts:
    """What a reply thinks aloud, and what it says.

    Args:
        reply: Its text.
        objects_in: Finds the objects of a text, in which no mark counts.
        cut: Whether the reply used up its room.
    """
    thoughts, said, place, is_open = [], [], 0, False
    for thought in _thoughts(reply, objects_in, cut=cut):
        said.append(reply[place : thought.mark.start()])
        is_open = thought.close is None
        end, place = thought.close.span() if thought.close else (len(reply), len(reply))
        thoughts.append(reply[thought.mark.end() : end].strip())
    rest = "".join([*said, reply[place:]])
    end_alone = _lone_end(rest, objects_in)
    if end_alone:
        thoughts.insert(0, rest[: end_alone.start()].strip())
        rest = rest[end_alone.end() :]
    elif cut and not thoughts and _begins_with_an_unknown_mark(reply):
        thoughts, rest, is_open = [rest.strip()], "", True
    return Parts("\n".join(thoughts), rest.strip(), is_open)


def _thoughts(reply: str, objects_in: Callable[[str], Spans], *, cut: bool) -> Iterator[_Thought]:
    """The marked thoughts, in order; the last one may be open."""
    spans: Spans | None = None
    place, never_closed = 0, set[str]()
    while mark := _OPENS.search(reply, place):
        spans = objects_in(reply) if spans is None else spans
        around = _around(mark, spans)
        if around is not None and around[0] >= place:
            place = around[1]
            continue
        marker, word = _meaning(mark)
        close = None if word in never_closed else _close(marker, word).search(reply, mark.end())
        if close is None and marker.doubtful and not cut:
            never_closed.add(word)
            place = mark.end()
            continue
        yield _Thought(mark, close)
        if close is None:
            return
        place = close.end()


def _meaning(mark: re.Match[str]) -> tuple[Marker, str]:
    """What opens a thought, and its word for thinking."""
    groups = mark.groupdict()
    number = next(k for k in range(len(MARKERS)) if groups[f"marker{k}"] is not None)
    return MARKERS[number], groups.get(f"word{number}") or groups.get(f"bare{number}") or ""


def _close(marker: Marker, word: str) -> re.Pattern[str]:
    return re.compile(marker.closes.replace("{word}", re.escape(word)), re.IGNORECASE)


def _around(mark: re.Match[str], spans: Spans) -> tuple[int, int] | None:
    """The object that a mark lies in."""
    number = bisect(spans, (mark.start(), 0)) - 1
    return spans[number] if number >= 0 and mark.start() < spans[number][1] else None


def _lone_end(words: str, objects_in: Callable[[str], Spans]) -> re.Match[str] | None:
    """The last end of a thought that is not marked at its beginning."""
    ends = list(_LONE.finditer(words))
    spans = objects_in(words) if ends else ()
    return next((end for end in reversed(ends) if _around(end, spans) is None), None)


def _begins_with_an_unknown_mark(reply: str) -> bool:
    """Whether a reply begins with a mark of a shape that thoughts have, nothing closes it, and its word is none for an answer."""
    mark = _ANY_OPENING.match(reply)
    if mark is None or mark.lastgroup is None or _OTHERS.match(mark[mark.lastgroup]):
        return False
    word = re.sub(r"^(?:start|begin)(?:_of)?_", "", mark[mark.lastgroup], flags=re.IGNORECASE)
    return re.compile(rf"[/_▁]{re.escape(word)}\s*[>\]|｜]", re.IGNORECASE).search(reply, mark.end()) is None
