"""The advised talker: the expert plans, the rule of thumb or a model speaks, and its words do not contradict the plan."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.policies import AdvisedPlayer, asks_a_model, make_policy
from parlour.policies.agents import advised
from parlour.policies.agents.advised import MOST, AdvisedTurn, OptionOdds, contradicts
from parlour.policies.llm.ask import BadReply, read_back
from parlour.policies.llm.model import OfflineModel
from parlour.policies.llm.prompt import Templates
from parlour.training.cli.models import seated
from parlour.training.play import asked, rollout
from schema_fuzz import Listener, refused

AVALON: dict[str, Any] = {"num_players": 5, "rules": "paper"}
TABLES = [("avalon_v0", AVALON), ("avalon_v0", {"num_players": 6, "rules": "paper"}), ("werewolf_v0", {})]
ACCUSES, DEFENDS = "I accuse player_3 of being evil.", "I trust that player_3 is good."


def seats_of(name: str, game: str, options: dict[str, Any], model: Any = None) -> tuple[Any, list[Any]]:
    env = rollout.table(game, **options)
    base = env.game_env
    return env, [make_policy(name, game, base.game.config, model) for _ in range(base.game.seats)]


Moves = list[list[tuple[int, str, tuple[int, ...]]]]


def moves(name: str, game: str, options: dict[str, Any], seed: int = 4) -> Moves:
    """Of a game among players of one kind, as each seat saw them."""
    return seen(rollout.play(*seats_of(name, game, options), seed))


def seen(episode: Any) -> Moves:
    return [[(event.seat, event.move.kind, event.move.args) for event in view.events] for view in episode.last_views]


def questions_of(game: str, options: dict[str, Any], name: str = "advised", seed: int = 4) -> list[AdvisedTurn]:
    model = Listener()
    rollout.play(*seats_of(name, game, options, model), seed)
    return model.questions


# -- who decides -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "options"), TABLES)
def test_it_plays_the_expert_s_game_where_nothing_else_than_the_plan_is_followed(game, options):
    assert moves("advised:follow=0", game, options) == moves("expert", game, options)


@pytest.mark.parametrize(("game", "options"), [TABLES[0], TABLES[2]])
def test_it_plays_the_heuristic_s_game_where_nothing_is_too_dear_and_nothing_contradicts(game, options, monkeypatch):
    plain = moves("heuristic", game, options)
    monkeypatch.setattr(advised, "contradicts", lambda *_: False)
    assert moves(f"advised:follow={MOST:g}", game, options) == plain != moves("advised", game, options)


def turn(**changes: Any) -> AdvisedTurn:
    """player_0 may say four things; the plan is to accuse player_3, and the rule of thumb defends player_2."""
    usual = "I trust that player_2 is good."
    given = {
        "common": "", "story": "", "events": [], "asked": "Speak.", "sayings": ["I wait."], "private": [], "who": "",
        "options": [], "posterior": [], "planned": ACCUSES, "deviate_below": 3.0, "against": [DEFENDS], "usual": usual,
        "odds_against": [OptionOdds(times=1, words=ACCUSES), OptionOdds(times=2.5, words=usual), OptionOdds(times=1.2, words=DEFENDS)],
    }  # fmt: skip
    return AdvisedTurn(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "I trust that player_2 is good."),  # 2.5 times less often than the favourite: cheap enough at 3
        ({"deviate_below": 2.5}, "I trust that player_2 is good."),
        ({"deviate_below": 2.4}, ACCUSES),
        ({"usual": "I am Merlin."}, ACCUSES),  # not among the odds: as dear as can be
        ({"usual": "I am Merlin.", "deviate_below": MOST}, "I am Merlin."),
        ({"usual": DEFENDS}, ACCUSES),  # 1.2 times, but the contrary of the plan
        ({"usual": ACCUSES, "deviate_below": 0}, ACCUSES),
    ],
)
def test_the_rule_of_thumb_speaks_where_it_is_cheap_and_does_not_contradict(changes, said):
    assert turn(**changes).heuristic(np.random.default_rng(0)).words == said


@pytest.mark.parametrize(
    ("planned", "against"),
    [
        (Move("accuse", (3,)), [("defend", (3,)), ("recommend", (3,)), ("report", (3, 0))]),
        (Move("defend", (3,)), [("accuse", (3,)), ("report", (3, 1))]),
        (Move("recommend", (1,)), [("accuse", (1,)), ("report", (1, 1))]),
        (Move("report", (2, 1)), [("defend", (2,)), ("recommend", (2,)), ("report", (2, 0))]),
        (Move("claim_role", (1,)), [("claim_role", (0,))]),
        (Move("silent"), []),
        (Move("vote", (1,)), []),  # decisions are not spoken
    ],
)
def test_claims_that_contradict_a_plan(planned, against):
    kinds = ("accuse", "defend", "recommend")
    every = [Move(kind, (j,)) for kind in kinds for j in (1, 2, 3)]
    every += [Move("report", (j, v)) for j in (1, 2, 3) for v in (0, 1)]
    every += [Move("silent"), *(Move(kind, (k,)) for kind in ("claim_role", "vote") for k in (0, 1))]
    assert {(move.kind, move.args) for move in every if contradicts(move, planned)} == set(against)


def test_words_that_contradict_the_plan_are_refused_whoever_speaks():
    def read(words: str) -> str:
        return turn().read(f'{{"thoughts": "", "words": "{words}"}}').words

    for fit in (ACCUSES, "I think player_3 is evil, but let us hear him.", "Good morning.", "I trust player_2."):
        assert read(fit) == fit
    with pytest.raises(BadReply, match="contradicts the plan; accepted: words that are not in `against`"):
        read(DEFENDS)
    with pytest.raises(BadReply, match="the words defend player_3, which contradicts the plan"):
        read("I trust player_3 and player_2.")


# -- what the question tells -----------------------------------------------------------------------------------


class Advised(AdvisedPlayer):
    """Keeps the View of each question that it asks."""

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        if len(info["options"]) > 1:
            self.views.append((info["view"], list(info["options"])))
        return super().act(observation, info)


def asked_at(game: str, options: dict[str, Any]) -> list[tuple[AdvisedTurn, Any, list[str]]]:
    """Questions of a game, with View and options of the seat that asked."""
    model, env = Listener(), rollout.table(game, **options)
    views: list[Any] = []
    table = game, env.game_env.game.config
    players = [Advised(model, table=table) for _ in range(env.game_env.game.seats)]
    for player in players:
        player.views = views
    rollout.play(env, players, 11)
    return [(question, *seen) for question, seen in zip(model.questions, views, strict=True)]


def test_it_tells_what_the_expert_plans_and_what_each_option_costs():
    for question, view, options in asked_at("avalon_v0", AVALON):
        trained = make_policy("expert", "avalon_v0", rollout.table("avalon_v0", **AVALON).game_env.game.config)
        chances = trained.chances(view)
        assert chances.sum() == pytest.approx(1)
        costs = {options[k]: float(f"{chances.max() / chance:.3g}") for k, chance in enumerate(chances)}
        assert {odds.words: odds.times for odds in question.odds_against} == pytest.approx(
            {words: cost for words, cost in costs.items() if cost < MOST}, rel=0.011
        )
        times = [odds.times for odds in question.odds_against]
        assert times == sorted(times)
        assert times[0] == 1
        assert question.planned in options
        assert question.usual in options
        assert question.sentences() == options
        assert read_back(question.prompt()) == question


def of_avalon(view: Any) -> tuple[str, Any, str, Any]:
    belief = AvalonBelief(view.roles, view.seat, view.role, view.knows, None, view.guesser)
    for seat, (kind, args, words), _ in view.events:
        belief.see(seat, kind, args, words)
    return "evil", belief.evil_chance(), "Merlin", belief.merlin_chance()


def of_werewolf(view: Any) -> tuple[str, Any, str, Any]:
    beliefs = SeatBeliefs(view, onlooker=False)
    for event in view.events:
        beliefs.see(event, view)
    return "werewolf", beliefs.own.wolf_chance(), "Seer", beliefs.own.seer_chance()


@pytest.mark.parametrize(
    ("game", "options", "believed"), [("avalon_v0", AVALON, of_avalon), ("werewolf_v0", {}, of_werewolf)]
)
def test_it_tells_what_follows_from_what_the_seat_saw(game, options, believed):
    for question, view, _ in asked_at(game, options)[::8]:
        first, chances, second, others = believed(view)
        assert question.posterior == [
            f"player_{j}: {first} {chances[j]:.2f}, {second} {others[j]:.2f}"
            for j in range(len(chances))
            if j != view.seat
        ]


@pytest.mark.parametrize(("game", "options"), [TABLES[0], TABLES[2]])
def test_whatever_fits_the_schema_is_an_answer(game, options):
    assert refused(questions_of(game, options), np.random.default_rng(5)) == {"advised.take_turn": []}


def test_the_plan_of_a_turn_stays_while_it_is_asked_again():
    """Words of two meanings are asked for again; the expert does not draw a second time for the same turn."""
    numbers = count()

    class Mumbles(Listener):
        def answer(self, question: Any, context: Any) -> Any:
            answered = super().answer(question, context)
            if question.options and next(numbers) % 2 == 0:
                return type(answered)(answered.value.model_copy(update={"words": "Hm."}))
            return answered

    model = Mumbles()
    rollout.play(*seats_of("advised", "avalon_v0", AVALON, model), 2)
    again = [k for k, question in enumerate(model.questions) if "\n" in question.asked]
    assert len(again) > 5
    for k in again:
        before, after = model.questions[k - 1], model.questions[k]
        assert (after.planned, after.usual, after.odds_against) == (before.planned, before.usual, before.odds_against)


# -- its settings ----------------------------------------------------------------------------------------------


def test_the_heuristic_as_the_speaker_asks_no_model():
    assert questions_of("avalon_v0", AVALON, "advised:speaker=heuristic") == []
    assert moves("advised:speaker=heuristic", "avalon_v0", AVALON) == moves("advised", "avalon_v0", AVALON)
    assert asks_a_model("advised:follow=2")
    assert not asks_a_model("advised:speaker=heuristic,follow=2")
    assert seated("advised", OfflineModel()) == "advised @ offline"  # no language model


def test_another_expert_may_plan(tmp_path):
    config = rollout.table("avalon_v0", **AVALON).game_env.game.config
    make_policy("expert", "avalon_v0", config).save(tmp_path / "mine.npz")
    own = f"advised:expert={tmp_path / 'mine.npz'}"
    assert moves(own, "avalon_v0", AVALON) == moves("advised", "avalon_v0", AVALON)
    with pytest.raises(ParlourError, match="cannot play avalon_v0"):
        moves(own, "avalon_v0", {"num_players": 6, "rules": "paper"})


def test_it_is_saved_with_its_table(tmp_path):
    env, (player, *others) = seats_of("advised:follow=7", "avalon_v0", AVALON)
    player.save(tmp_path / "saved.json")
    loaded = AdvisedPlayer.load(tmp_path / "saved.json")
    assert loaded.settings() == player.settings()
    assert seen(rollout.play(env, [loaded, *others], 3)) == seen(rollout.play(env, [player, *others], 3))


@pytest.mark.parametrize(
    ("name", "players", "message"),
    [
        ("advised:follow=-1", 5, "follow '-1' is not accepted; accepted: a number 0..999"),
        ("advised:follow=nan", 5, "follow 'nan' is not accepted; accepted: a number 0..999"),
        ("advised:speaker=me", 5, "speaker 'me' is not accepted; accepted: model, heuristic"),
        ("advised:plan=x", 5, "setting of advised 'plan' is not accepted; accepted: expert, speaker, follow"),
        ("advised", 9, "there is no expert for avalon_v0"),
        ("advised:expert=none.npz", 5, "none.npz"),
    ],
)
def test_what_is_not_accepted_is_told_in_one_line(name, players, message, error_of):
    (line,) = error_of(["play", "avalon_v0", "--players", str(players), "--policy", name]).strip().splitlines()
    assert message in line


def test_it_needs_a_table_and_the_view():
    with pytest.raises(ParlourError, match="plays a table for which it has an expert"):
        AdvisedPlayer().act({"text": ""}, {"options": ["a", "b"], "legal": [0, 1]})


def test_its_prompt_is_shown_as_it_would_be_sent():
    exchange = asked.heard("advised.take_turn", asked.At("avalon_v0", AVALON, 2, 0, 1))
    (_, user) = (message["content"] for message in exchange.messages(Templates()))
    for section in ("posterior", "planned", "odds_against", "deviate_below", "usual"):
        assert f"\n## {section}\n" in user
