"""The turns of speech by which free words accuse, defend, propose and follow: patterns for `parlour.envs.language.claims`, as data.

English as it is spoken at tables of hidden roles, collected from the half of the labelled statements on which the reader
was developed (tests/spoken). Each pattern is searched in a short stretch of one sentence; `⟨` stands for a list of seats, `⟨?`
for a list in which some are meant, `⟨,` for a list of several.
"""

from __future__ import annotations

from typing import Final

_EVIL: Final = (
    r"(?:evils?|bad|sp(?:y|ies)|suspicious|suspects?|suspected|risk(?:y|ier)|shak(?:y|iest|ier)|saboteurs?|dirty|tainted|worse"
    r"|worst|implicated|contentious|common (?:denominator|factor|thread|element)|red flag|liabilit\w+|scum|wol(?:f|ves)|traitors?"
    r"|untrustworthy|dangerous|fishy|sketchy|scrutini[sz]ed|uncertainty|problem)"
)
_GOOD: Final = (
    r"(?:good|clean(?:er|est)?|clear(?:ed|s|est)?|trust(?:ed|worthy)?|saf(?:e|er|est)|solid|stead(?:y|iest)|strong(?:er|est)?"
    r"|reliable|anchors?|town|loyal|confirmed|proven|innocent|straightforward|transparent|favou?red|least implicated|consistent(?:ly)?"
    r"|no (?:concrete )?evidence against|no (?:remaining )?path|villagers?|readable|soft-clear|aligned with)"
)
_TEAM: Final = r"(?:core|pair|trio|anchors?|blocs?|block|group|duo|team|clears?|five|base|choice|pick|lineup|option|subset|foundation)"
_BEST: Final = (
    r"(?:proven|cleanest|clean|solid|safest|strongest|(?:\w+-)?proven|most (?:\w+ )?(?:trusted|reliable|consistent)|reliable"
    r"|trusted|guaranteed-good|highest-\w+ (?:good )?)"
)
_ON_FAILS: Final = (
    r"(?:on|in|with|to)\s+(?:(?:both|every|all|the|two|multiple|only|each|of|these)\s+)*(?:\w+,?\s+){0,5}?"
    r"(?:fail(?:s|ed|ing|ures?)?|double-fail)\b"
)

FORWARD: Final = (
    (
        "neutral",
        r"\b(?:rather than|instead of|over|than|versus|vs|between|compar\w+|limit(?:ing)?|(?:mission|quest|m) ?\d(?:'s)?(?: \w+){0,2}(?=[^⟨⟩,;]{0,12}⟨)|(?:on|where|how|about|non-)(?=\s*⟨)"
        r"|first mission with|not both|(?:do|does|would)(?:n't| not) (?:actually |fully |automatically )?clear)(?!\w)",
    ),
    ("instead", r"\b(?:for|with)(?=\s*⟨)"),
    (
        "accuse",
        r"\b(?:bench(?:es|ing)?|exclud\w+|avoid\w*|skip(?:ping)?|remov\w+|drop(?:ping)?|(?:hard-)?dodg\w+|(?:hard-)?freez\w+|without|rotat\w+ off"
        r"|(?:wary|suspicious|cautious) (?:of|about)|(?:nervous|uneasy) about|suspect(?:ing)?|accus\w+|distrust\w*|mistrust\w*"
        r"|implicat(?:es?|ing)|(?:hard-?)?reset off|swap(?:ping)?(?: out)?(?=\s*⟨)|no(?=\s*⟨)|not(?=\s*⟨)|against"
        r"|leav(?:e|es|ing)(?=[^⟨⟩]{0,30}⟨)|bench|(?:than|to|and) (?:\w+ )?(?:bring|drag|dip|re-?add)\w*(?: back| the| into)*"
        r"|re-?adding|(?:don't|do not|doesn't|not) (?:actually |really )?(?:love|want|need|include|take|bring|trust|risk|risk adding)"
        r"|(?:change|difference|variable)\b[^⟨⟩,;]{0,60}\b(?:was|is|were|being)(?: adding)?|fail\w*[^⟨⟩,;]{0,30}\b(?:when|once|by adding))(?!\w)",
    ),
    (
        "among",
        r"\b(?:evils?|sp(?:y|ies)|bad (?:one|card|player)s?|saboteurs?|fails?|dirty|suspects)\b[^⟨⟩,;]{0,40}\b(?:in|among|from|between|within|be)(?!\w)"
        r"|\b(?:someone|fail\w* (?:on|with)|fail sitting on|evils? are|evils? is|spies are|questioning an?)(?=[^⟨⟩,;]{0,12}⟨)",
    ),
    (
        "best",
        rf"\b{_BEST}(?:[\s,-]+(?!evil)\w+){{0,3}}?\s+{_TEAM}\b(?:\s+(?:of|is|are|as|like|for \w+ \w+ is|remains))?|\bclean (?:mission|quest|m) ?\d(?: {_TEAM})?"
        rf"|\b{_TEAM} (?:I|we) trust (?:the )?most(?: \w+){{0,4}} (?:is|are)|\bmost trust",
    ),
    (
        "defend",
        r"\b(?:(?:tentatively |still |fully )?trust(?:s|ing|ed)?|vouch\w* for|(?:(?:mission|quest|m) ?\d (?:was|went|came back|passed) (?:completely )?)?clean with(?: just| only| exactly)*|clean(?=\s*⟨))\b",
    ),
    (
        "propose",
        r"\b(?:prefer\w*|rather|like|fine|okay|ok|comfortable|lean\w*|propos\w+|includ\w+|add(?:s|ing)?|plus|core|stick\w*"
        r"|keep(?:s|ing)?|choos\w+|pick(?:s|ing)?|go(?:ing)? with|want\w*|suggest\w*|anchor\w*|build\w*"
        r"|team|start\w*|includ\w+|tak(?:e|es|ing)|revert\w*|carry\w*|bring(?:s|ing)?|us(?:e|es|ing)"
        r"|trio|lineup|alongside|consider|fifth|fourth|third|run|on board with"
        r"|drawing|opener|favou?r|good with|happy with|support|testing|tests?|see|introduc\w+|converged on|pull in|someone like)\b|\+",
    ),
    (
        "join",
        r"\b(?:pair\w*|put(?:s|ting)?|combin\w+|hav(?:e|ing)|send(?:ing)?|re-?run\w*|re-?us(?:e|ing)\w*|repeat\w*|lock(?:ing)?(?: in)?|mix(?:ing)?)\b",
    ),
    (
        "apart",
        r"\b(?:stack\w*|re-?stack\w*|auto-?\w+|over-?\w+|doubl\w+|recreat\w+|overlap\w*|default\w*|assum\w+|treat\w*)\b",
    ),
)
"""The words before its seats; of two patterns that begin at one place the longer counts, then the first."""

KEEPING: Final = r"\b(?:keep\w*|stick\w*|re-?run\w*|re-?us\w+|core|carry\w*|repeat\w*|revert\w*|happy with)\b"
CLEAN_BEFORE: Final = r"\b(?:given|since|because|how|as|after)\b[^.;]{0,40}\b(?:clean|passed|succeeded)\b"
"""Who wants to keep a team since its mission was clean defends it."""

_IS: Final = r"\s*,?\s*(?:(?:both|all|are|is|was|were|look(?:s|ed)?|seems?|feels?|being|as|over as|have|has|'s|'re|must be|could be|might be|goes|played|appears?|make|makes)\s+)+"
_FEW: Final = r"(?:(?!and\b|but\b|so\b|because\b)[\w'-]+[ ,]+){0,7}?"
BACKWARD: Final = (
    (
        "accuse",
        r"\s*(?:both|all|entirely|completely|fully|also|then|herself|himself|should|must|would|to|stays?|sits?|staying|sitting"
        r"|back|set|hard|\s)*\s*\b(?:off|out(?! of)|benched|excluded|on the bench|hard-benched)\b",
    ),
    ("nothing", r"\s+(?:all |both )?(?:equally )?(?:untested|unclear|unknown)\b"),
    (
        "accuse",
        r",? (?:so|which means|meaning) (?:he|she|they) (?:must be|is|are|look\w*)\s+(?:\w+ )?(?:evil|the spy|bad)\b",
    ),
    ("best", r"(?: \w+){0,2} from the (?:clean|untouched|unused) (?:pool|group|side)"),
    ("accuse", r"\s+(?:anywhere near|nowhere near)\b"),
    (
        "accuse",
        rf"{_IS}(?:(?:probably|likely|surely|clearly|definitely|maybe) )?(?:(?:the|our|an?) )?(?:assassin|minion|morgana|mordred)\b",
    ),
    (
        "accuse",
        r"\s+(?:(?:has|have|must have|may have|might have|probably|surely|clearly)\s+)*(?:failed|sabotaged)\s+(?:it|that|(?:the|this|our|that) (?:\w+ )?(?:quest|mission))\b",
    ),
    (
        "propose",
        r"\s+would (?:be|make) (?:an? )?(?:(?:very|really) )?(?:fine|good|great|nice|strong|solid|safe|decent|better|perfect)\s+(?:\w+\s+)?(?:team|trio|pair|lineup|choice|pick|addition)\b",
    ),
    ("defend", rf"{_IS}{_FEW}(?:full|whole|entire|fully|all) good"),
    ("best", rf"(?:{_IS}|\s+the\s+){_FEW}{_BEST}(?:[\s,-]+(?!evil)[\w-]+){{0,3}}?\s+{_TEAM}\b"),
    (
        "propose",
        rf"{_IS}{_FEW}{_GOOD}\s+(?:\w+\s+)?(?:info|balance|start\w*|early|test|team|lineup|mix|option|choice|way|compromise|idea|blend|fit|clean|look)",
    ),
    (
        "defend",
        rf"{_IS}{_FEW}(?:(?:full|whole|entire|fully|all) good|considered reasonable|least implicated|no (?:concrete )?evidence)",
    ),
    ("accuse", rf"(?:{_IS}|\s+){_FEW}{_EVIL}\b"),
    ("accuse", rf"{_IS}{_FEW}{_ON_FAILS}"),
    (
        "accuse",
        r"\s+(?:has |have )?(?:\w+ )?(?:been )?(?:jump\w+|push\w+)\b[^⟨⟩,;]{0,20}\b(?:quick\w*|hard\w*|for|to)\b",
    ),
    ("defend", rf"{_IS}{_FEW}{_GOOD}\b"),
    (
        "defend",
        r"\s*(?:result |team |pair |core )?(?:was|were|went|came back|have|has|had|stayed|succeeded|passed|produced|together)\b[^⟨⟩,;]{0,50}"
        r"\b(?:clean\w*|succe\w+|passed|no fails?|the successful)\b",
    ),
    ("defend", r"\s*(?:succeeded|passed)\b"),
    (
        "propose",
        rf"{_IS}{_FEW}(?:third|fourth|fifth|fine|reasonable|best|great|okay|ok|works?|sense)\b"
        r"|\s+(?:sounds?|works?|makes (?:more )?sense|should (?:go|join|be on)|go(?:es)? on|as (?:the|a) (?:third|fourth|fifth)|(?:feels|seems|looks) (?:\w+ )?(?:like|healthier))\b",
    ),
    ("defer", r"'s? (?:\w+ ){0,2}(?:point|idea|suggestion|preference|read|logic|proposal|view)s?\b"),
    (
        "report",
        r"\)?\s*(?:herself|himself)?\s*(?:(?:explicitly|all|also|both|have|has|had|each)\s+)*(?:suggest|propos|argu|support|converg|asked|floated|voiced|endors|said|want|think|thought|claim|told|accus)\w*",
    ),
)
"""What stands right behind the seats it is about; the first that fits counts."""

AGREEING: Final = r"\b(?:agree(?:s|ing)? with|I'm with|I am with|(?:preferences|suggested|supported|voiced|endorsed|floated)\b[^⟨⟩]{0,60}\bby|people \(?including|players \(?including|players \(|\(by)\s*$"

BREAK: Final = (
    r"[;:]|\b(?:but|while|whereas|since|because|although|though|so|given|who|which|when|after|where|as|however|whom|until)\b"
    r"|,\s+(?:and\s+)?(?:I|we|let's)\b|\bthat\b|(?=\bI\b(?! \())"
)
"""Where another clause begins, in which nothing of the one before governs."""

TURN: Final = r"[;:—]|\b(?:but|while|whereas|so|however)\b|\bI\b|,\s*(?:and\s+)?(?:we|let's)\b"
"""Where the speaker continues for itself after quoting others."""

CONDITION: Final = r"\b(?:even )?(?:if|unless|assuming)\b[^,;—]*?(?:,|;|—|$|(?=\b(?:I'd|I'll|I would|I still|I want|I think|let's|then)\b))"
RESULT: Final = r"\b(?:fails?|passes|succeeds?|comes back|goes|passed|were|was|is|are)\b[^,;]{0,40}\b(?:fails?|clean|evil|wrong|spy|success)\b|\b(?:fails?|passes|succeeds)\b"
"""A supposed result claims nothing now."""

SELF: Final = (
    (
        "defend",
        r"\bI(?:'m| am| know I(?:'m| am)| know that I(?:'m| am))\s+(?:logically |definitely |actually )?(?:good|loyal|innocent|clean|confirmed good)\b(?!\s+(?:with|to|keeping|at))"
        r"|\bI know (?:my own alignment|I passed)|\bguarantees? (?:at least )?one good",
    ),
    (
        "propose",
        r"\bI(?:'m| am| can|'d like to|'d actually like to)?\s+(?:\w+ ){0,3}?volunteer\w*"
        r"|\bI(?:'m| am| can)\s+(?:\w+ ){0,3}?(?:be(?:ing)? the (?:third|fourth|fifth)|taking (?:a|the) (?:spot|shot)|staying on|going|go)\b",
    ),
)
"""What speakers say about themselves."""

OF_THE_TABLE: Final = (
    r"\b(?:consensus|majority|most (?:people|players|of the table)|almost everyone|with everyone|as everyone|everyone (?:agrees|requested)"
    r"|(?:multiple|several|many) (?:people|players)\b[^.;]{0,40}\b(?:converg|suggest|want|support|endors|explicit|lean|have)\w*"
    r"|table support|the (?:whole )?table (?:has|leaned|is)|with the camp)\b"
)
"""Whoever follows no one in particular."""

SAME_TEAM: Final = (
    r"\b(?:re-?run\w*|stick\w* with|repeat\w*|keep\w*|building around|same)\b[^,;⟨⟩]{0,20}\b(?:mission \d|m\d|last|same|previous|exact)"
    r" (?:\w+ )?(?:team|trio|four|lineup|group|core)\b"
)
VOTE: Final = r"\bI(?:'ll|'d| will| would|'m going to)\s+(?:\w+\s+){0,2}?(?P<vote>approve|reject|vote (?:yes|no|for|against)|downvote)\b"
