"""The sentence forms of facts in English and in Chinese, for saying and for reading. See `facts.py`.

In a form `{a}` is the person who acts, `{b}` the person it is about, `{p}` a place, `{t}` a time, `{m}` the means,
`{y}` a motive, `{r}` a relation, `{i}` a thing; `[am|is]` is the first word when the speaker acts, else the second.
The first form of each kind is the canonical sentence. The last form of `saw` says that the two met.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Forms(NamedTuple):
    """How one language says facts."""

    subject: str
    """The speaker as who acts."""
    object: str
    """The speaker as the person it is about."""
    stop: str
    """The full stop."""
    start: re.Pattern[str]
    """The places where a clause may begin; matches nothing but the place."""
    end: str
    """Pattern of what stands after a clause."""
    sentence_end: re.Pattern[str]
    doubt: re.Pattern[str]
    """Words before a clause that make it no statement of the speaker."""
    question: re.Pattern[str]
    """What makes a sentence a question, in its rest."""
    sentences: dict[str, tuple[str, ...]]
    """Kind -> its forms."""
    feels: dict[int, tuple[str, ...]]
    """Feeling -> its forms."""
    seen: tuple[str, ...]
    """`saw` without a teller."""
    mine: tuple[str, ...]
    """`relation` to the speaker."""

    def loosen(self, pattern: str) -> str:
        """A literal part of a form, as a pattern that forgives blanks and the small words of place."""
        loose = re.sub(r"(?:\\ )+", r"\\s+", pattern)
        loose = re.sub(r"(?<=s\+)in(?=\\s)", "(?:in|at|inside)", loose)
        return re.sub("[，：]", "[，：:,]?", loose)

    def first_person(self, clause: str, groups: dict[str, str | None]) -> bool:
        """Whether a matched clause is in the first person."""
        own = {self.subject.casefold(), self.object.casefold()}
        if any(groups.get(slot) is not None and str(groups[slot]).casefold() in own for slot in "ab"):
            return True
        return re.search(r"\b(?:I|me|my)\b|我", clause, re.IGNORECASE if self.subject == "I" else 0) is not None


_EN: Final = Forms(
    subject="I",
    object="me",
    stop=".",
    start=re.compile(
        r"(?<!\bDr\. )(?<!\bMr\. )(?<!\bMs\. )(?<!\bMrs\. )(?<!\bSt\. )(?:^|(?<=[\n\"“‘(])|(?<=[.!?…:;,—–\-\"”’)] )|(?<=\bthat )|(?<=\band )|(?<=\bbut )|(?<=\bthen )|(?<=\bbecause )|(?<=\bso ))",
        re.IGNORECASE,
    ),
    end=r"(?=\s*(?:[.,;:!?…—–\"”'’)\n]|$)|\s+(?:and|but|when|while|because|so|that|which|who|with|before|after|as)\b)",
    sentence_end=re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)[.!?…](?=[\s\"”)]|$)|\n"),
    doubt=re.compile(
        r"\b(?:not|never|no|nobody|n't|if|whether|false|lie|lies|lying|deny|denies|denied|untrue|wrong|suppose|imagine|"
        r"(?:did|do|does|was|were|is|are|could|can) (?:you|he|she|they))\b|n't\b|n’t\b"
        r"|(?<!\bI )(?<!\bcan )(?<!\bmust )(?<!\bto )(?<!\bme )\b(?:said|says|say|claims|claimed|claim|told|tells|pretends|swears|insists|heard)\b",
        re.IGNORECASE,
    ),
    question=re.compile(r"\?"),
    sentences={
        "at": (
            "At {t} {a} was in {p}.",
            "{a} was in {p} at {t}.",
            "{a} could be found in {p} at {t}.",
            "At {t}, {a} was in {p}.",
        ),
        "saw": (
            "At {t} I saw {b} in {p}.",
            "I saw {b} in {p} at {t}.",
            "I noticed {b} in {p} at {t}.",
            "At {t} I noticed {b} in {p}.",
            "I met {b} in {p} at {t}.",
        ),
        "relation": ("{a} [am|is] {r} of {b}.", "{a} [have|has] long been {r} of {b}."),
        "motive": (
            "{a} had a reason to kill {b}: {y}.",
            "{a} had a motive to kill {b}: {y}.",
            "{a} had every reason to wish {b} dead: {y}.",
        ),
        "had": ("{a} could get at {m}.", "{a} had access to {m}.", "{a} could lay hands on {m}."),
        "died": (
            "{a} died in {p}.",
            "{a} died at {t}.",
            "{a} was killed with {m}.",
            "{a} died in {p} at {t}.",
            "{a} died in {p}, killed with {m}.",
            "{a} died at {t}, killed with {m}.",
            "{a} died in {p} at {t}, killed with {m}.",
            "{a} was killed in {p}.",
            "{a} was killed at {t}.",
        ),
        "took": ("{a} took {i}.", "It was {a} who took {i}."),
        "lacked": ("{a} could not get at {m}.", "{a} had no access to {m}.", "{a} could never lay hands on {m}."),
        "peace": ("{a} had made peace with {b}.", "{a} had no quarrel with {b} any more."),
    },
    feels={
        -1: ("{a} hate[|s] {b}.", "{a} cannot stand {b}."),
        0: ("{a} do[|es] not care for {b}.", "{a} [am|is] indifferent to {b}."),
        1: ("{a} [am|is] fond of {b}.", "{a} like[|s] {b}."),
    },
    seen=("{b} was seen in {p} at {t}.", "At {t} {b} was seen in {p}."),
    mine=("{a} is my {r}.",),
)

_ZH: Final = Forms(
    subject="我",
    object="我",
    stop="。",
    start=re.compile(
        r"(?:(?<=其实)|(?<=不过)|(?<=但是)|(?<=所以)|(?<=而且)|(?<=因为)|(?<![^\s。，；：！？、“”‘’「」（）(),.;:!?—…]))"
    ),
    end=r"(?=\s*(?:[。，；：！？、”’」）(),.;:!?—…\n]|$))",
    sentence_end=re.compile(r"[。！？!?…\n]"),
    doubt=re.compile(
        r"不是|并非|没有|从未|从来没|如果|假如|要是|是否|撒谎|说谎|谎话|听说|声称|(?<!我)(?<!来)(?<!老实)(?<!实话)(?<!可以)说|(?<!我)(?<!我可以)告诉"
    ),
    question=re.compile(r"[?？]|吗|呢"),
    sentences={
        "at": ("{t}，{a}在{p}。", "{a}{t}在{p}。", "{t}的时候，{a}人在{p}。"),
        "saw": (
            "{t}，我在{p}看见了{b}。",
            "我{t}在{p}看见了{b}。",
            "{t}，我看见{b}在{p}。",
            "{t}，我在{p}碰见了{b}。",
        ),
        "relation": ("{a}是{b}的{r}。", "{a}一直是{b}的{r}。"),
        "motive": ("{a}有理由杀{b}：{y}。", "{a}有杀{b}的动机：{y}。", "{a}对{b}起杀心，是因为{y}。"),
        "had": ("{a}拿得到{m}。", "{a}能接触到{m}。", "{a}弄得到{m}。"),
        "died": (
            "{a}死在{p}。",
            "{a}死于{t}。",
            "{a}是被{m}害死的。",
            "{a}{t}死在{p}。",
            "{a}死在{p}，是被{m}害死的。",
            "{a}死于{t}，是被{m}害死的。",
            "{a}{t}死在{p}，是被{m}害死的。",
            "{a}是在{p}遇害的。",
            "{a}是在{t}遇害的。",
        ),
        "took": ("{a}拿走了{i}。", "拿走{i}的人是{a}。"),
        "lacked": ("{a}拿不到{m}。", "{a}接触不到{m}。", "{a}弄不到{m}。"),
        "peace": ("{a}已经和{b}和好了。", "{a}和{b}早已没有过节。"),
    },
    feels={
        -1: ("{a}恨{b}。", "{a}讨厌{b}。"),
        0: ("{a}对{b}没有好恶。", "{a}对{b}不冷不热。"),
        1: ("{a}喜欢{b}。", "{a}很看重{b}。"),
    },
    seen=("{t}，有人在{p}看见了{b}。",),
    mine=("{a}是我的{r}。",),
)

FORMS: Final = {"en": _EN, "zh": _ZH}
"""Language -> how it says facts."""
