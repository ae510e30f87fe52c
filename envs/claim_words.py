"""The turns of speech by which free words accuse, defend, propose and follow: patterns for `parlour.envs.claims`, as data.

English as it is spoken at tables of hidden roles. Collected from the half of the labelled statements on which the reader
was developed (tests/spoken); each pattern is searched in a short stretch of one sentence, in which a list of seats is `⟨⟩`.
"""

from __future__ import annotations

from typing import Final

EVIL: Final = (
    r"(?:evils?|bad|sp(?:y|ies)|suspicious|suspects?|suspected|risk(?:y|ier)|shak(?:y|iest|ier)|saboteurs?|dirty|tainted|worse"
    r"|worst|implicated|contentious|common (?:denominator|factor|thread|element)|red flag|liabilit\w+|scum|wol(?:f|ves)|traitors?"
    r"|untrustworthy|dangerous|fishy|sketchy|scrutini[sz]ed|too risky|poison\w*|problem)"
)
GOOD: Final = (
    r"(?:good|clean(?:er|est)?|clear(?:ed|s|est)?|trust(?:ed|worthy)|saf(?:e|er|est)|solid|stead(?:y|iest)|strong(?:er|est)?"
    r"|reliable|anchors?|town|loyal|confirmed|proven|innocent|straightforward|transparent|favou?red|least implicated|consistent(?:ly)?"
    r"|no (?:concrete )?evidence against|villagers?|readable|core)"
)
ON_FAILS: Final = (
    r"(?:on|in|been on|part of|present on|only (?:shown up|been) on)\s+(?:(?:both|every|all|the|two|multiple|only|each|of)\s+)*"
    r"(?:\w+,?\s+){0,5}?(?:fail(?:s|ed|ing|ures?)?|double-fail)\b"
)
ALONE: Final = (
    r"(?:putting|having|sending|stacking|stack|pair(?:ing)?|repeat(?:ing)?|re-?run(?:ning)?|re-?us(?:e|ing)|re-?stack\w*"
    r"|auto-?\w+|lock(?:ing|ed)?(?: in)?|over-?\w+|doubl\w+|recreat\w+|mixing|overlap\w*|default\w*|anchoring|assum\w+|treat\w*|jump\w*)"
)
"""What is avoided of a combination says nothing of its members."""

FORWARD: Final = (
    ("hypothetical", r"\bif\b|\bunless\b|\bwhether\b|\bassuming\b"),
    (
        "neutral",
        r"\b(?:rather than|instead of|over|than|versus|vs\.?|between|compar\w+|(?:on|for|after|from) mission \d|replace)\b",
    ),
    (
        "accuse",
        r"\b(?:bench(?:es|ing)?|exclud\w+|avoid\w*|skip(?:ping)?|remov\w+|drop(?:ping)?|dodg\w+|freez\w+|without|rotat\w+ off"
        r"|(?:wary|suspicious|cautious) (?:of|about)|nervous about|uneasy about|suspect(?:ing)?|accus\w+|distrust\w*|mistrust\w*"
        r"|implicat(?:es?|ing)|hard-?reset off|reset off|excludes|swap(?:ping)?(?: out)?(?=\s*⟨)|no(?=\s*⟨)|against"
        r"|less keen on|leav(?:e|es|ing)(?=\s*⟨)|bench)\b",
    ),
    (
        "accuse",
        r"\b(?:than|to) (?:\w+ )?(?:bring(?:ing)?|drag(?:ging)?|dip\w*|re-?add\w*)(?: back)?\b|\bdipping back into|\bre-adding",
    ),
    (
        "among",
        r"\b(?:evils?|sp(?:y|ies)|bad (?:one|card|player)s?|saboteurs?|fails?|dirty|suspects)\b[^⟨⟩,;]{0,40}\b(?:in|among|from|between|within)\b"
        r"|\b(?:someone|one) (?:between|in|of)(?=\s*⟨\?)",
    ),
    (
        "defend",
        r"\b(?:trust(?:s|ing|ed)?|vouch\w* for|(?:proven|clean|cleanest|solid|safest|strongest|trusted|double-proven|reliable|best)"
        r"(?:[\s,-]+\w+){0,2}?\s+(?:core|pair|trio|anchors?|block|group|duo|team|bloc|clears?|five|base|choice|pick)\b"
        r"(?:\s+(?:of|is|are|as|for \w+ \w+ is|remains|like))?)",
    ),
    (
        "propose",
        r"\b(?:prefer\w*|rather|like|fine|okay|ok|comfortable|lean\w*|propos\w+|includ\w+|add(?:s|ing)?|plus|core|stick\w*|re-?run\w*"
        r"|keep(?:s|ing)?|choos\w+|pick(?:s|ing)?|go with|going with|want\w*|suggest\w*|pair\w*|anchor\w*|build\w*|put(?:s|ting)?"
        r"|team of|team|start\w*|combin\w+|tak(?:e|es|ing)|reus\w+|repeat\w*|revert\w*|carry\w*|bring(?:s|ing)?|us(?:e|es|ing)"
        r"|swap(?:ping)? (?:in|me for)|for(?=\s*⟨)|mix|trio|lineup|alongside|consider|fifth|fourth|third|trust|run|lock(?:ing)? in|on board with"
        r"|drawing|mostly|opener|favou?r|good with|happy with|support|testing|test|have|see|volunteer)\b|\+",
    ),
)
"""What stands before the seats it is about, the more telling first where two begin at one place."""
_IS: Final = r"\s*,?\s*(?:\(\w+\)\s*)?(?:both |all |are |is |was |were |look(?:s|ed)? |seems? |feels? |being |as |have |has |'s |'re |must be |could be |might be )+"
_FEW: Final = r"(?:(?!and\b|but\b|so\b)[\w'-]+[ ,]+){0,6}?"
BACKWARD: Final = (
    (
        "accuse",
        r"\s*(?:\(\w+\)\s*)?(?:both|all|entirely|completely|fully|also|then|herself|himself|should|must|would|to|stays?|sits?|staying|sitting"
        r"|back|set|block|\s)*\s*\b(?:off|out|benched|excluded)\b",
    ),
    (
        "propose",
        rf"{_IS}{_FEW}{GOOD}\s+(?:\w+\s+)?(?:info|balance|start\w*|team|lineup|mix|option|choice|way|compromise|idea|blend|fit)",
    ),
    ("accuse", rf"{_IS}{_FEW}{EVIL}\b"),
    ("accuse", rf"{_IS}{_FEW}{ON_FAILS}"),
    ("defend", rf"{_IS}{_FEW}{GOOD}\b"),
    (
        "defend",
        r"\s*(?:result |team |pair |core )?(?:was|were|went|came back|have|has|had|stayed|succeeded|passed|produced)\b[^⟨⟩,;]{0,40}\b(?:clean\w*|succe\w+|passed|no fails?)\b",
    ),
    ("defend", r"\s*(?:succeeded|passed)\b"),
    (
        "propose",
        rf"{_IS}{_FEW}(?:fine|reasonable|best|great|okay|ok|works?)\b|\s+(?:sounds?|works?|makes sense|should (?:go|join|be on)|go(?:es)? on|as (?:the|a) (?:third|fourth|fifth))",
    ),
    ("defer", r"'s? (?:\w+ )?(?:point|idea|suggestion|preference|read|logic|proposal|view)s?\b"),
    (
        "defer",
        r"\)?\s*(?:herself|himself)?\s*(?:(?:explicitly|all|also|both|have|has|had)\s+)*(?:suggest|propos|argu|support|converg|prefer|asked|floated|voiced|endors|said that)\w*",
    ),
)
"""What stands right behind the seats it is about; the first that fits counts."""

BREAK: Final = r"[;:]|\b(?:but|while|whereas|since|because|although|though|so|given|who|which|when|after|where|as|however)\b|,\s+(?:and\s+)?(?:I|we|let's)\b"
"""Where another clause begins, in which nothing of the one before governs."""

SELF: Final = (
    (
        "defend",
        r"\bI(?:'m| am| know I(?:'m| am)| know that I(?:'m| am))\s+(?:\w+\s+)?(?:good|loyal|innocent|clean)\b(?!\s+(?:with|to|keeping|at))|\bI know (?:my own alignment|I passed)|\bguarantees? (?:at least )?one good",
    ),
    (
        "propose",
        r"\bI(?:'m| am)? (?:\w+ ){0,3}?(?:volunteer\w*)|\bI(?:'m| am| can)\s+(?:\w+ ){0,3}?(?:be(?:ing)? the (?:third|fourth|fifth)|taking (?:a|the) (?:spot|shot)|staying on|going|go\b)",
    ),
)
"""What speakers say of themselves."""

OF_THE_TABLE: Final = (
    r"\b(?:consensus|majority|most (?:people|players|of (?:the|us))|almost everyone|everyone|multiple (?:people|players)|several (?:people|players)"
    r"|(?:the )?table's|table support|the (?:whole )?table has|with the camp)\b"
)
"""Whoever follows no one in particular."""

SAME_TEAM: Final = r"\b(?:re-?run\w*|stick\w* with|repeat\w*|keep\w*|building around|same)\b[^,;⟨⟩]{0,20}\b(?:mission \d|m\d|last|same|previous|exact) (?:\w+ )?(?:team|trio|four|lineup|group|core)\b"

VOTE: Final = r"\bI(?:'ll|'d| will| would|'m going to)\s+(?:\w+\s+){0,2}?(?P<vote>approve|reject|vote (?:yes|no)|support|back|downvote)\b"

RESULT: Final = r"\b(?:fails?|passes|succeeds?|comes back|goes clean|is evil)\b"
"""Of a supposed result nothing follows now."""
