"""The phrases of the murder mystery in English."""

from __future__ import annotations

import re
from typing import Final

from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.languages.phrases import Phrases
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, RELATION, SIGHTING, WHEREABOUTS


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


ENGLISH: Final = Phrases(
    moderator="Moderator: ",
    comma=", ",
    nobody="nobody",
    seat="{name} (player_{number})",
    you="You are {name} (player_{number}).",
    civilian="You are a civilian: you have killed nobody. You win with those who find the murderers.",
    murderer="You are a murderer: you killed {victims}. You win if you are not found.",
    not_others="You had no part in the other deaths.",
    title="The case: {title}.",
    characters="The characters, in the order of their turns: {names}.",
    victims="The victims: {names}.",
    play="All introduce themselves. Rounds of questions: {rounds}. In each, everybody in turn may ask others about each victim: "
    "up to {targets}, with {questions} question(s) to each. Then all vote in secret for one other character per victim.",
    hearing={
        "all": "Everybody hears all questions and answers.",
        "two": "Only the two who talk hear a question and its answer.",
    },
    truth="Only murderers may lie, about the death of their own victims. Everybody else answers honestly and tells all that "
    "bears on the question.",
    majority={
        "half": "Whoever has most votes, and at least half of them, is found; a tie finds nobody.",
        "plurality": "Whoever has most votes is found; a tie finds nobody.",
    },
    words={
        "places": "Places: {words}.",
        "times": "Times: {words}.",
        "means": "Means: {words}.",
        "motives": "Motives: {words}.",
        "relations": "Relations: {words}.",
        "items": "Things: {words}.",
    },
    briefing="What everybody knows:",
    objectives="What you want:",
    lies="What you may say though it is not so:",
    script="Your own story, which nobody else knows:",
    says="{name} says: {words}",
    asks="{name} asks: {words}",
    taken=" (taken as: {sentence})",
    turns="{name} turns to {other}.",
    stops="{name} asks nobody else.",
    private="Privately, {name}: {sentence}",
    named="I am {name}.",
    round="Round {number} of {rounds}.",
    vote_begins="All vote.",
    turn="{name} may ask about the death of {victim}.",
    wanted=("Whom do you suspect of having killed {victim}?", "Who killed {victim}? Vote."),
    votes="Votes on the death of {victim}: {counts}.",
    votes_of="{name} {number}",
    verdict=(
        "The death of {victim}: {found} is found, and did not kill {victim}.",
        "The death of {victim}: {found} is found, and killed {victim}.",
        "The death of {victim}: {found} is found; no character of this table killed {victim}.",
    ),
    missed_all="The death of {victim}: nobody is found.",
    ask={
        vocabulary.INTRODUCE: "Introduce yourself to the others, in your own words or in these.",
        vocabulary.CHOOSE: "Whom do you ask?",
        vocabulary.ASK: "Ask one of these, or in your own words.",
        vocabulary.TELL: "Answer: tell one of these facts, or all in your own words.",
        vocabulary.ANSWER: "Answer, in your own words or in these.",
        vocabulary.SUSPECT: "Whom do you suspect? Nobody else learns of it.",
        vocabulary.VOTE: "Vote in secret.",
    },
    introduce="I introduce myself.",
    choose="I ask {name}.",
    choose_nobody="I ask nobody else.",
    questions=(
        ("Where were you at the time?", ""),
        ("What was the victim to you?", "What is {name} to you, or to anybody here?"),
        ("Who had a reason to kill the victim?", "Did {name} have a reason to kill the victim?"),
        ("Whom did you see, and what?", "When and where did you see {name}?"),
        ("Who could get at the means?", "What means could {name} get at?"),
        ("What else can you tell us?", ""),
    ),
    answer="I have nothing to say about that.",
    done="That is all I can say about it.",
    suspect="I suspect {name}.",
    vote="I vote for {name}.",
    choosing=re.compile(
        r"\b(?:suspect|suspects|accuse|vote|voting|votes|for|ask|asking|choose|choosing|pick|question|murderer is|killer is|"
        r"answer is|guess is|turn to|talk to|speak to|name)\W+(?:is\W+|that\W+|it\W+is\W+)?$",
        re.IGNORECASE,
    ),
    declines=_words(r"nobody|no one|no-one|none|no more|pass|skip|anyone else is not needed"),
    topics=(
        (WHEREABOUTS, _words(r"where (?:were|was|did) you|your whereabouts|your alibi|an alibi|what were you doing")),
        (
            SIGHTING,
            _words(
                r"see|saw|seen|notice\w*|witness\w*|spot(?:ted)?|observe\w*|hear|heard|meet|met|where (?:was|were|is)"
            ),
        ),
        (
            MOTIVE,
            _words(r"motives?|reasons?|grudges?|benefit\w*|profit\w*|gain\w*|why would|want\w* .{0,40}\bdead|revenge"),
        ),
        (
            RELATION,
            _words(r"relations?|relationships?|related|how (?:well )?(?:do|did) you know|know each other|feel\w*"),
        ),
        (
            MEANS,
            _words(r"means|weapons?|poison\w*|kni(?:fe|ves)|guns?|access|get at|get hold of|lay hands on|murder tool"),
        ),
    ),
)
