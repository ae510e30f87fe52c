"""The wording of the murder mystery in English and in Chinese: what is told, how names, questions and facts are read from
free words, what stands in for words that cannot be used, and a whole game in Chinese words.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry, replay
from parlour.envs.core import NATURE, Event, IllegalMove, Move, ParlourError
from parlour.envs.language.text import AmbiguousMove, UnreadableMove
from parlour.envs.murder_mystery.legal_moves import tell
from parlour.envs.murder_mystery.text import MysteryText, beginning, mentions
from parlour.envs.murder_mystery.vocabulary import (
    ANSWER,
    ASK,
    ENOUGH,
    INTRODUCE,
    NOBODY,
    ROUND,
    SAYS,
    SUSPECT,
    TURN,
    VERDICT,
    VOTE,
    VOTES,
    WANTED,
)
from parlour.envs.murder_mystery.vocabulary.facts import (
    MEANS,
    MOTIVE,
    OPEN,
    RELATION,
    SIGHTING,
    WHEREABOUTS,
    CaseVocabulary,
    Fact,
)
from parlour.wrappers import Recorder, TextActions

from tests.envs.murder_mystery.table import ADA, BEN, CASES, CLEO, DOV, EVE, INTRODUCED, ask, choose, introduced, table


def at(game: Any, *moves: Move) -> Any:
    """The view of the seat to move, after the introductions and these moves."""
    s = introduced(game, *moves)
    return game.view(s, s.actor)


def voting(game: Any) -> Any:
    """The view of the first voter."""
    return at(game, *[NOBODY] * (game.seats * game.victims * game.rounds))


def parse(words: str, name: str = "tower_en", *moves: Move) -> Move:
    game = table(name)
    return MysteryText(game).parse(words, at(game, *moves))


# -- what a seat reads of itself -------------------------------------------------------------------------------


def test_the_first_section_has_all_that_is_the_seats_own():
    game = table()
    who = MysteryText(game).who(game.view(game.initial(), BEN))
    character = game.case.characters[BEN]
    for words in ("You are Ben Marsh (player_1).", "You are a murderer: you killed Edgar Marsh.", character.script):
        assert words in who
    for words in (
        *character.objectives,
        "At ten I was in the hall.",
        "Eve Lund had a reason to kill Edgar Marsh: an old insult.",
    ):
        assert f"  {words}\n" in who
    assert "Places: the hall, the library, the garden.\nTimes: nine, ten.\nMeans: the poison, the rope." in who
    assert "at least half" in who


def test_other_tables_and_cases_are_told_by_their_rules():
    game = table("lake_zh", rules="player", hearing="two")
    who = MysteryText(game).who(game.view(game.initial(), 0))
    assert who.startswith("你是白兰（护士）（0号）。\n你是平民")
    assert "得票最多的人被认定为凶手；平票则无人被认定。" in who
    assert "问答只有交谈的两个人能听到。" in who
    assert "尽管并非事实" not in who
    game = table("letter_en")
    who = MysteryText(game).who(game.view(game.initial(), 0))
    assert "  You are the housekeeper. You heard Jun shout at Mora on the stairs.\n  Later you found a letter.\n" in who
    assert "Places" not in who


TOLD = tell(Fact("had", (1, 0)))._replace(words="Ben, of course.")
ALOUD = Move(ASK, (WHEREABOUTS, -1), 'Where "were" you?')
LINES = [
    (0, INTRODUCED, 'Ada Marsh (nurse) says: "I am Ada Marsh (nurse)."', '白兰（护士）说："我是白兰（护士）。"'),
    (1, Move(INTRODUCE, (), "Hi!"), 'Ben Marsh says: "Hi!"', '陈默说："Hi!"'),
    (NATURE, Move(ROUND, (0,)), "Moderator: Round 1 of 3.", "主持人：第1轮，共3轮。"),
    (NATURE, Move(ROUND, (3,)), "Moderator: The vote begins.", "主持人：现在投票。"),
    (NATURE, Move(TURN, (1, 0)), "Moderator: Ben Marsh may ask about the death of Edgar Marsh.", "主持人：轮到陈默询问高远之死。"),
    (1, choose(2), "Ben Marsh turns to Cleo Vance.", "陈默询问戴青。"),
    (1, NOBODY, "Ben Marsh asks nobody else.", "陈默不再询问别人。"),
    (1, ask(MOTIVE, 2), 'Ben Marsh asks: "Did Cleo Vance have a reason to kill the victim?"', '陈默问："戴青有理由杀害死者吗？"'),
    (1, ALOUD, r'Ben Marsh asks: "Where \"were\" you?" (taken as: Where were you at the time?)',
     r'陈默问："Where \"were\" you?"（理解为：案发时你在哪里？）'),
    (2, tell(Fact("at", (2, 1, 0))), 'Cleo Vance says: "At nine I was in the library."', '戴青说："九点，我在书房。"'),
    (2, TOLD, 'Cleo Vance says: "Ben, of course." (taken as: Ben Marsh could get at the poison.)',
     '戴青说："Ben, of course."（理解为：陈默拿得到毒药。）'),
    (2, SAYS, 'Cleo Vance says: "I have nothing to say about that."', '戴青说："对此我没有什么可说的。"'),
    (2, ENOUGH, 'Cleo Vance says: "That is all I can say about it."', '戴青说："我能说的就是这些。"'),
    (NATURE, Move(WANTED, (0, 0)), "Moderator: Whom do you suspect of having killed Edgar Marsh?", "主持人：你怀疑是谁杀了高远？"),
    (NATURE, Move(WANTED, (1, 0)), "Moderator: Who killed Edgar Marsh? Vote.", "主持人：谁杀了高远？请投票。"),
    (1, Move(SUSPECT, (2,)), "Privately, Ben Marsh: I suspect Cleo Vance.", "陈默（私下）：我怀疑戴青。"),
    (1, Move(VOTE, (2,)), "Privately, Ben Marsh: I vote for Cleo Vance.", "陈默（私下）：我投给戴青。"),
    (NATURE, Move(VOTES, (0, 1, 2, 0, 1)),
     "Moderator: Votes on the death of Edgar Marsh: Ada Marsh (nurse) 1, Ben Marsh 2, Dov Stern 1.",
     "主持人：高远之死的票数：白兰（护士）1票、陈默2票、方雨1票。"),
    (NATURE, Move(VERDICT, (0, 1, 1)), "Moderator: The death of Edgar Marsh: Ben Marsh is found guilty, and killed Edgar Marsh.",
     "主持人：高远之死：陈默被认定为凶手，确实杀了高远。"),
    (NATURE, Move(VERDICT, (0, 2, 0)),
     "Moderator: The death of Edgar Marsh: Cleo Vance is found guilty, but did not kill Edgar Marsh.",
     "主持人：高远之死：戴青被认定为凶手，但并没有杀高远。"),
    (NATURE, Move(VERDICT, (0, 2, 2)),
     "Moderator: The death of Edgar Marsh: Cleo Vance is found guilty, but no character here killed Edgar Marsh.",
     "主持人：高远之死：戴青被认定为凶手；在座的角色都没有杀高远。"),
    (NATURE, Move(VERDICT, (0, -1, 0)), "Moderator: The death of Edgar Marsh: nobody is found guilty.",
     "主持人：高远之死：没有人被认定为凶手。"),
]  # fmt: skip


@pytest.mark.parametrize(("seat", "move", "english", "chinese"), LINES, ids=[move.kind for _, move, _, _ in LINES])
def test_each_event_is_one_line_in_either_language(seat, move, english, chinese):
    event = Event(seat, move, None)
    assert MysteryText(table()).line(event) == english + "\n"
    assert MysteryText(table("lake_zh")).line(event) == chinese + "\n"


# -- names -----------------------------------------------------------------------------------------------------


PEOPLE = CaseVocabulary(
    "en",
    (
        "Gale Li Morette",
        "Gale Stone",
        "Rose (the cook)",
        "Bo",
        "Hans Li Morette",
        "盖尔·里莫瑞特",
        "白兰（护士）",
        "Ann-Marie Po",
        "Li Po",
        "Lina Po",
        "Bo Finn",
    ),
    (("the doctor",), (), ("Rosie",), (), ("the old man", "Hans"), ("里莫瑞特先生",), (), (), (), (), ()),
    11,
    *[()] * 6,
)


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("I think Gale Li Morette did it.", [(0,)]),  # in full
        ("Gale Li was there", [(0,)]),  # a unique beginning
        ("Gale was there", [(0, 1)]),  # two begin so
        ("the doctor and the old man", [(0,), (4,)]),  # aliases
        ("Rose (the cook) lied.", [(2,)]),  # a name with parentheses
        ("Rosie lied, and Rosemary did not.", [(2,)]),
        ("Bo and Bob", [(3,)]),  # no name stands within another word; a full name counts before a beginning
        ("Bo Finn and Bo", [(10,), (3,)]),
        ("我怀疑盖尔", [(5,)]),
        ("里莫瑞特先生很可疑", [(5,)]),
        ("白兰（护士）和白兰", [(6,), (6,)]),
        ("Ann-Marie Po, Ann-Marie, Ann", [(7,), (7,), (7,)]),
        ("player_3, Player 2 and player0", [(3,), (2,), (0,)]),
        ("3号和12号", [(3,)]),  # there is no seat 12
        ("player_33 and multiplayer_3", []),
        ("nobody", []),
    ],
)
def test_who_is_named_in_a_text(text, persons):
    assert [mention.persons for mention in mentions(text, PEOPLE)] == persons


@pytest.mark.parametrize(
    ("persons", "aliases", "text", "named"),
    [
        (("Ada Frost", "Bea Frost", "Cal"), (("the twin",), ("the twin",), ()), "The twin accuses Cal", [(0, 1), (2,)]),
        # a single letter or character is no short form of a name
        (("A. Smith", "李·安娜", "Al Moss"), ((), (), ()), "A plan of 李 and Al", [(2,)]),
        (("A. Smith", "李·安娜", "Al Moss"), ((), (), ()), "A. Smith, 李·安娜", [(0,), (1,)]),
    ],
)
def test_an_alias_of_two_persons_may_mean_either_and_a_letter_nobody(persons, aliases, text, named):
    people = CaseVocabulary("en", persons, aliases, 3, *[()] * 6)
    assert [mention.persons for mention in mentions(text, people)] == named


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("Gale St", (1,)),
        ("Ann", (7,)),
        ("gale", (0, 1)),
        ("Li", (8,)),  # a whole word, and not Lina
        ("Bo", (3,)),  # an exact name, and not Bo Finn
        ("Hans", (4,)),  # an alias in full counts before beginnings
        ("  “Rose”. ", (2,)),
        ("白", (6,)),
        ("盖", (5,)),
        ("ale", ()),
        ("", ()),
    ],
)
def test_a_text_that_is_the_beginning_of_a_name(text, persons):
    assert beginning(text, PEOPLE) == persons


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("I ask Eve Lund.", choose(EVE)),
        ("dov", choose(DOV)),
        ("Cl", choose(CLEO)),  # the beginning of one name alone
        ("player_3", choose(DOV)),
        ("I would like to question Eve Lund, who knew Edgar Marsh well.", choose(EVE)),
        ("Not Ben but Dov.", choose(DOV)),
        ("I ask Cleo because Dov has said enough.", choose(CLEO)),
        ("I pass.", NOBODY),
        ("我询问方雨。", choose(3)),
        ("3号", choose(3)),
        ("我想问戴青，因为方雨已经说过了。", choose(2)),
        ("不问了，跳过。", NOBODY),
        ("谁也不问", NOBODY),
    ],
)
def test_whom_words_choose(words, move):
    assert parse(words, "tower_en" if words.isascii() else "lake_zh") == move


@pytest.mark.parametrize(
    ("words", "moves", "error", "part"),
    [
        ("Somebody else, please.", (), UnreadableMove, "names nobody"),
        ("Ben or Dov", (), AmbiguousMove, "Ben Marsh, Dov Stern"),
        ("Ada", (), IllegalMove, "Ada Marsh (nurse)"),  # oneself
        ("Edgar Marsh", (), IllegalMove, "Edgar Marsh"),  # the dead do not answer
        ("Ben Marsh", (choose(BEN), ask(OPEN), SAYS), IllegalMove, "Ben Marsh"),  # who has been asked already
        ("  ", (choose(EVE),), UnreadableMove, "says nothing"),
        ("  ", (choose(EVE), ask(WHEREABOUTS)), UnreadableMove, "says nothing"),
    ],
)
def test_words_that_mean_nothing_in_particular(words, moves, error, part):
    with pytest.raises(error) as raised:
        parse(words, "tower_en", *moves)
    assert part in str(raised.value)
    assert moves or (repr(words) in str(raised.value) and "accepted" in str(raised.value))


@pytest.mark.parametrize(
    ("name", "words", "seat"),
    [
        ("tower_en", "I vote for Cleo Vance.", CLEO),
        ("tower_en", "I suspect Ben Marsh: Eve saw him.", BEN),
        ("tower_en", "The murderer is Dov. Ben was in the hall.", DOV),
        ("tower_en", "I vote for player_2", CLEO),
        ("lake_zh", "我投给陈默。", 1),
        ("lake_zh", "凶手是陈默，方雨看见了他。", 1),
        ("lake_zh", "投1号", 1),
    ],
)
def test_for_whom_words_vote(name, words, seat):
    game = table(name, rounds=1)
    view = voting(game)
    assert MysteryText(game).parse(words, view._replace(seat=EVE if name == "tower_en" else 3)) == Move(VOTE, (seat,))


# -- questions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "topic", "about"),
    [
        ("Where were you at nine?", WHEREABOUTS, -1),
        ("Do you have an alibi?", WHEREABOUTS, -1),
        ("Did you see Cleo Vance that night?", SIGHTING, CLEO),
        ("Where was Dov at ten?", SIGHTING, DOV),
        ("Did you see Ben with Edgar Marsh?", SIGHTING, BEN),  # the victim is named in most questions
        ("Who saw Edgar Marsh last?", SIGHTING, 5),
        ("Who had a motive to kill Edgar Marsh?", MOTIVE, -1),
        ("Did Dov have a grudge against Edgar?", MOTIVE, DOV),
        ("What was your relationship with Edgar Marsh?", RELATION, -1),
        ("How well did you know Fay Lund?", RELATION, 6),
        ("Who had access to the poison?", MEANS, -1),
        ("Could Ben get at a weapon?", MEANS, BEN),
        ("Tell us what happened.", OPEN, -1),
        ("Did you see Ben or Cleo?", SIGHTING, -1),  # of two, neither
        ("案发的时候你在哪里？", WHEREABOUTS, -1),
        ("你有不在场证明吗？", WHEREABOUTS, -1),
        ("你看见过陈默吗？", SIGHTING, 1),
        ("谁有动机杀高远？", MOTIVE, -1),
        ("陈默有杀人的理由吗？", MOTIVE, 1),
        ("你和高远是什么关系？", RELATION, -1),
        ("谁能弄到毒药？", MEANS, -1),
        ("请说说那天晚上的事。", OPEN, -1),
    ],
)
def test_what_a_question_in_free_words_is_about(words, topic, about):
    """Ada asks Eve about Edgar; in Chinese the first asks the last."""
    name, asked = ("tower_en", EVE) if words.isascii() else ("lake_zh", 3)
    assert parse(words, name, choose(asked)) == ask(topic, about, words)


# -- answers ---------------------------------------------------------------------------------------------------


ASKED = (choose(EVE), ask(WHEREABOUTS))
SAW = tell(Fact("saw", (2, 0, 1)))


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("At ten Eve Lund was in the hall.", tell(Fact("at", (EVE, 0, 1)))),  # as the option has it
        ("at ten I was  in the hall.", tell(Fact("at", (EVE, 0, 1)))),  # in the first person
        ("I have nothing to say about that.", SAYS),
        ("At ten I was in the hall. At nine I was in the garden.", None),  # several facts: words that end the answer
        ("At ten I was in the library.", None),  # not so; words cannot be checked
        ("I was in the hall at ten, of course.", None),
        ("十点，我在大厅看见了戴青。", SAW),
        ("十点，有人在大厅看见了戴青。", SAW),
        ("我看见戴青了。", None),
    ],
)
def test_a_fact_word_by_word_is_told_and_all_else_is_a_free_answer(words, move):
    name, asked = ("tower_en", ASKED) if words.isascii() else ("lake_zh", (choose(3), ask(SIGHTING)))
    assert parse(words, name, *asked) == (Move(ANSWER, (), words) if move is None else move)


# -- what stands in --------------------------------------------------------------------------------------------


def default(view: Any, game: Any, words: str = "?") -> Move:
    return MysteryText(game).default(words, view, np.random.default_rng(0))


def test_in_place_of_unusable_words_nobody_is_asked_an_open_question_is_put_and_nothing_is_said():
    """Published code: a question that fails skips the turn."""
    game = table()
    for moves, stands_in in (((), NOBODY), (ASKED[:1], ask(OPEN)), (ASKED, SAYS)):
        assert default(at(game, *moves), game) == stands_in


def test_a_suspicion_that_cannot_be_used_stays_and_is_voted_for():
    """Published code: a list that cannot be read is kept."""
    game = table(rounds=3)
    first = (*[NOBODY] * 10, Move(SUSPECT, (DOV,)), Move(SUSPECT, (EVE,)), *[Move(SUSPECT, (ADA,))] * 8)
    view = at(game, *first, *[NOBODY] * 10)
    assert (view.seat, view.suspects) == (ADA, (DOV, EVE))
    assert default(view, game) == Move(SUSPECT, (DOV,))
    view = at(game, *first, *[NOBODY] * 10, *[Move(SUSPECT, (CLEO,))] * 2, *[Move(SUSPECT, (ADA,))] * 8, *[NOBODY] * 10)
    assert default(view, game) == Move(VOTE, (CLEO,))


def test_a_first_suspicion_that_cannot_be_used_is_one_by_chance():
    game = table(rounds=1)
    view = voting(game)
    drawn = {MysteryText(game).default("?", view, np.random.default_rng(seed)).args[0] for seed in range(50)}
    assert drawn == {BEN, CLEO, DOV, EVE}


def test_words_that_cannot_be_used_are_asked_for_again_and_then_replaced():
    env = TextActions(registry["murder_mystery_v0"].raw_env(case=str(CASES / "lake_zh.json"), info="full"), tries=2)
    env.reset(seed=1)
    for name in ("白兰", "陈默", "戴青", "方雨"):
        env.step(f"大家好，我是{name}。")
    env.step("随便哪个吧")
    assert env.infos["player_0"]["asked_again"] == 1
    assert env.observe("player_0")["text"].endswith('请只说一个名字：陈默、戴青、方雨"\n')
    env.step("还是随便")
    assert env.unwrapped.moves[-1] == NOBODY
    assert env.infos["player_0"]["replaced"] == 1


# -- Chinese from end to end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [str(CASES / "lake_zh.json"), "seed:5:zh:4"], ids=["lake_zh", "generated"])
@pytest.mark.parametrize("hearing", ["all", "two"])
def test_a_whole_game_is_played_in_chinese_words_and_replayed(case, hearing, tmp_path):
    """All moves by their canonical sentences, introductions and some questions and answers in free words."""
    bare = registry["murder_mystery_v0"].raw_env(case=case, rounds=2, targets=2, hearing=hearing, info="full")
    file = tmp_path / "game.jsonl"
    env = Recorder(TextActions(bare, on_bad="raise"), file)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    seen = []
    while bare.outcome is None:
        seen.append([env.observe(agent)["text"] for agent in env.possible_agents])
        options = env.infos[env.agent_selection]["options"]
        free = bare.game.legal(bare.state_now)[0].kind in (INTRODUCE, ASK, ANSWER) and rng.random() < 0.4
        env.step("说实话，那天晚上我记得不太清楚了。" if free else options[int(rng.integers(len(options)))])
    env.close()
    text = file.read_text(encoding="utf-8")
    assert "说实话，那天晚上我记得不太清楚了。" in text
    transcript = replay.Transcript.read(file, folders=[CASES])
    steps = list(replay.reenact(transcript, "text"))
    for step, texts in zip(steps, seen, strict=False):
        assert [step.observations[agent]["text"] for agent in bare.possible_agents] == texts
    assert transcript.outcome == bare.outcome
    assert all(entry.raw for entry in transcript.entries if entry.seat >= 0)


@pytest.mark.parametrize("named", [0, 2])
def test_a_case_beside_the_named_folders_is_not_opened_and_they_are_told(named, tmp_path):
    header = {"parlour": 1, "game": "murder_mystery_v0", "config": dict(table("lake_zh").config)}
    folders = tuple(tmp_path / f"folder{number}" for number in range(named))
    with pytest.raises(ParlourError, match="is not opened; accepted: paths in folders that are named") as raised:
        replay.Transcript(header, (), None, folders=folders).game()
    assert str(raised.value).endswith("(--cases): " + (", ".join(map(str, folders)) or "none was named"))
    assert replay.Transcript(header, (), None, folders=(*folders, CASES)).game().config == header["config"]


def test_numbers_of_seats_in_the_prose_are_those_that_are_understood():
    for name, pattern in (
        ("tower_en", r"([^,:(]+(?:\(nurse\))?) \(player_(\d)\)"),
        ("lake_zh", r"([^、：]+)（(\d)号）"),
    ):
        game = table(name)
        row = MysteryText(game).who(game.view(game.initial(), 0)).split("\n")[3]
        assert [int(number) for _, number in re.findall(pattern, row)] == list(range(game.seats))
