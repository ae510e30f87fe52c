"""The phrases of the murder mystery in Chinese. The headings of the three sections stay as they are (`envs/text.py`)."""

from __future__ import annotations

import re
from typing import Final

from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.languages.phrases import Phrases
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, RELATION, SIGHTING, WHEREABOUTS

CHINESE: Final = Phrases(
    moderator="主持人：",
    comma="、",
    nobody="没有人",
    seat="{name}（{number}号）",
    you="你是{name}（{number}号）。",
    civilian="你是平民：你没有杀过人。找出凶手，你就和大家一起获胜。",
    murderer="你是凶手：你杀了{victims}。不被找出来，你就获胜。",
    not_others="其他死者之死与你无关。",
    title="案件：{title}。",
    characters="角色（按行动顺序）：{names}。",
    victims="死者：{names}。",
    play="大家先自我介绍。共{rounds}轮，每轮每人依次就每位死者最多询问{targets}个人，每人{questions}个问题。最后每人就每位死者秘密投票，"
    "投给另一个角色。",
    hearing={"all": "所有问答大家都能听到。", "two": "问答只有交谈的两个人能听到。"},
    truth="只有凶手可以撒谎，而且只能就自己杀害的死者撒谎。其他人必须如实回答，说出与问题有关的一切。",
    majority={
        "half": "得票最多并且至少占半数的人被认定为凶手；平票则无人被认定。",
        "plurality": "得票最多的人被认定为凶手；平票则无人被认定。",
    },
    words={
        "places": "地点：{words}。",
        "times": "时间：{words}。",
        "means": "手段：{words}。",
        "motives": "动机：{words}。",
        "relations": "关系：{words}。",
        "items": "物品：{words}。",
    },
    briefing="大家都知道的事：",
    objectives="你的目标：",
    lies="你可以这样说，尽管并非事实：",
    script="你自己的剧本，别人都不知道：",
    says="{name}说：{words}",
    asks="{name}问：{words}",
    taken="（理解为：{sentence}）",
    turns="{name}询问{other}。",
    stops="{name}不再询问别人。",
    private="{name}（私下）：{sentence}",
    named="我是{name}。",
    round="第{number}轮，共{rounds}轮。",
    vote_begins="现在投票。",
    turn="轮到{name}询问{victim}之死。",
    wanted=("你怀疑是谁杀了{victim}？", "谁杀了{victim}？请投票。"),
    votes="{victim}之死的票数：{counts}。",
    votes_of="{name}{number}票",
    verdict=(
        "{victim}之死：{found}被认定为凶手，但并没有杀{victim}。",
        "{victim}之死：{found}被认定为凶手，确实杀了{victim}。",
        "{victim}之死：{found}被认定为凶手；在座的角色都没有杀{victim}。",
    ),
    missed_all="{victim}之死：没有人被认定为凶手。",
    ask={
        vocabulary.INTRODUCE: "请向大家介绍自己，可以用自己的话，也可以用下面这句。",
        vocabulary.CHOOSE: "你要询问谁？",
        vocabulary.ASK: "请提问：选下面一句，或用自己的话。",
        vocabulary.TELL: "请回答：说出下面一件事，或用自己的话全部说完。",
        vocabulary.ANSWER: "请回答，可以用自己的话，也可以用下面的话。",
        vocabulary.SUSPECT: "你怀疑谁？别人不会知道。",
        vocabulary.VOTE: "请秘密投票。",
    },
    introduce="我来介绍自己。",
    choose="我询问{name}。",
    choose_nobody="我不再询问别人。",
    questions=(
        ("案发时你在哪里？", ""),
        ("你和死者是什么关系？", "{name}和你、和在座的人是什么关系？"),
        ("谁有理由杀害死者？", "{name}有理由杀害死者吗？"),
        ("你看见了谁，看见了什么？", "你什么时候、在哪里见过{name}？"),
        ("谁能弄到作案的手段？", "{name}能弄到什么作案的手段？"),
        ("你还能告诉我们什么？", ""),
    ),
    answer="对此我没有什么可说的。",
    done="我能说的就是这些。",
    suspect="我怀疑{name}。",
    vote="我投给{name}。",
    choosing=re.compile(
        r"(?:怀疑(?:的是|是)?|投(?:票)?给|投|询问|想问|问|选择?|指认|凶手(?:就|应该|可能)?是|答案是|认为是)[\s：:“\"]*$"
    ),
    declines=re.compile(r"不再询问|不询问|不问|没有人|谁也不|跳过|放弃|无人"),
    topics=(
        (WHEREABOUTS, re.compile(r"你.{0,12}在(?:哪|什么地方|做什么|干什么)|不在场|你的行踪|你.{0,8}去了哪")),
        (SIGHTING, re.compile(r"看见|看到|见过|见到|遇到|碰到|碰见|目击|注意到|听到|听见|在哪")),
        (MOTIVE, re.compile(r"动机|理由|为什么要|仇|恩怨|过节|好处|利益")),
        (RELATION, re.compile(r"关系|认识|感情|熟悉|怎么看")),
        (MEANS, re.compile(r"凶器|手段|毒|武器|刀|枪|弄到|拿到|接触|得手|钥匙")),
    ),
)
