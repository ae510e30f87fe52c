"""What calls cost, who is charged, and where a run ends: prices, meter and budget."""

from __future__ import annotations

import json
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.transport.budget import Budget, Price, Prices
from parlour.policies.llm.transport.meter import Label, Meter, Taken, Underway
from parlour.policies.llm.transport.request import (
    UNKNOWN_USAGE,
    BudgetSpent,
    ChatMessage,
    Completion,
    ModelUnavailable,
    Request,
    Usage,
)

REQUEST = Request("m", (ChatMessage("user", "u" * 100),), 0.3, 50, seat="player_1", ask="a.b")
REPLY = Completion(("t",), Usage(1000, 100), ("stop",), retries=2, seconds=0.5)
PRICES = Prices({"m": Price(2.0, 10.0)})
COST = 0.003
"""Dollars of REPLY at PRICES: 1000 x 2 / 10^6 + 100 x 10 / 10^6."""


class Source:
    """Gives a reply, perhaps after a while, and counts."""

    def __init__(self, reply: Completion = REPLY, seconds: float = 0.0) -> None:
        self.reply, self.seconds, self.asked, self.lock = reply, seconds, 0, threading.Lock()

    def complete(self, request: Request) -> Completion:
        with self.lock:
            self.asked += 1
        time.sleep(self.seconds)
        return self.reply


class Broken:
    def complete(self, request: Request) -> Completion:
        error = ModelUnavailable("no answer")
        error.retries = 6
        raise error


# -- prices ----------------------------------------------------------------------------------------------------------


def test_costs():
    assert PRICES.cost("m", REPLY.usage) == pytest.approx(COST)
    assert PRICES.cost("other", REPLY.usage) is None
    assert PRICES.cost("m", UNKNOWN_USAGE) is None
    free = PRICES.with_price("local", 0, 0)
    assert free.cost("local", REPLY.usage) == free.cost("local", UNKNOWN_USAGE) == 0
    assert free.cost("m", REPLY.usage) == pytest.approx(COST)
    assert PRICES.price("local") is None, "the table itself is not changed"


def test_a_file_of_prices_goes_over_the_built_in_ones(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"models": {"gpt-4o": [9, 8], "mine": [1, 2.5]}}))
    prices = Prices.load(path)
    assert (prices.price("gpt-4o"), prices.price("mine")) == ((9.0, 8.0), (1.0, 2.5))
    assert prices.price("gpt-4o-mini") == Prices.load().price("gpt-4o-mini")


BAD_FILES = [
    "",
    "[]",
    "{}",
    '{"models": {"m": 1}}',
    '{"models": {"m": [1]}}',
    '{"models": {"m": [1, -1]}}',
    '{"models": {"m": [1, "2"]}}',
    '{"models": {"m": [NaN, 1]}}',
    '{"models": []}',
]


@pytest.mark.parametrize("text", BAD_FILES)
def test_files_that_hold_no_prices(tmp_path, text):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(ParlourError, match=r"p\.json' holds no prices .*accepted: JSON") as caught:
        Prices.load(path)
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(ParlourError, match="holds no prices"):
        Prices.load(tmp_path / "missing.json")


# -- meter -----------------------------------------------------------------------------------------------------------


def test_the_meter_charges_seats_and_questions():
    meter = Meter(Source(), PRICES)
    for seat, ask, times in (("player_1", "a.b", 2), ("player_2", "a.b", 1), ("player_2", "c.d", 3)):
        for _ in range(times):
            assert meter.complete(replace(REQUEST, seat=seat, ask=ask)) == REPLY
    assert {seat: count.requests for seat, count in meter.taken.by_seat.items()} == {"player_1": 2, "player_2": 4}
    total = meter.taken.total
    assert (total.requests, total.prompt, total.completion, total.retries) == (6, 6000, 600, 12)
    assert total.dollars == pytest.approx(6 * COST)
    assert total.seconds == pytest.approx(3.0)


def test_an_unknown_price_stays_unknown():
    meter = Meter(Source(), PRICES)
    meter.complete(REQUEST)
    meter.complete(replace(REQUEST, model="other", seat="player_2"))
    assert meter.taken.total.dollars is None
    assert meter.taken.by_seat["player_1"].dollars == pytest.approx(COST)
    assert meter.taken.by_seat["player_2"].dollars is None
    assert meter.taken.total.as_json()["dollars"] is None


def test_calls_without_a_reply_are_counted_apart():
    meter = Meter(Broken(), PRICES)
    with pytest.raises(ModelUnavailable):
        meter.complete(REQUEST)
    assert meter.taken.total == Decisions(failed=1, retries=6)


# -- budget ----------------------------------------------------------------------------------------------------------


def test_dollars_end_a_run():
    source = Source()
    budget = Budget(source, ModelConfig(model="m", max_dollars=2.5 * COST), PRICES)
    for _ in range(3):
        budget.complete(REQUEST)
    with pytest.raises(BudgetSpent, match=r"^0\.0090 dollars spent, limit 0\.0075$"):
        budget.complete(REQUEST)
    assert source.asked == budget.calls == 3
    assert budget.dollars == pytest.approx(3 * COST)


def test_calls_end_a_run_exactly_even_with_many_threads():
    source = Source(seconds=0.002)
    budget = Budget(source, ModelConfig(model="unknown", max_calls=50), PRICES)

    def call(_: int) -> bool:
        try:
            budget.complete(replace(REQUEST, model="unknown"))
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(call, range(200))) == 50
    with pytest.raises(BudgetSpent, match=r"^50 calls spent, limit 50$"):
        budget.complete(replace(REQUEST, model="unknown"))
    assert source.asked == 50


def test_seconds_end_a_run_and_start_with_the_first_call():
    budget = Budget(Source(seconds=0.05), ModelConfig(model="m", max_seconds=0.2), PRICES)
    time.sleep(0.25)
    for _ in range(3):
        budget.complete(REQUEST)
    time.sleep(0.1)
    with pytest.raises(BudgetSpent, match=r"seconds spent, limit 0\.2$"):
        budget.complete(REQUEST)


def test_replies_without_a_count_of_tokens_are_charged_with_the_most():
    budget = Budget(
        Source(replace(REPLY, usage=Usage(0, 0), dropped=("usage",))), ModelConfig(model="m", max_dollars=1), PRICES
    )
    budget.complete(replace(REQUEST, n=3))
    assert budget.dollars == pytest.approx((108 * 2 + 3 * 50 * 10) / 1e6)


def test_of_counts_that_are_partly_known_only_the_others_are_charged_with_the_most():
    for usage, charged in ((Usage(5, None), 5 * 2 + 50 * 10), (Usage(None, 7, None), 108 * 2 + 7 * 10)):
        budget = Budget(
            Source(replace(REPLY, usage=usage, dropped=("usage",))), ModelConfig(model="m", max_dollars=1), PRICES
        )
        budget.complete(REQUEST)
        assert budget.dollars == pytest.approx(charged / 1e6)


def test_unknown_tokens_and_dollars_are_none_in_sums_and_never_zero():
    meter = Meter(Source(replace(REPLY, dropped=("usage",))), PRICES)
    meter.complete(REQUEST)
    total = meter.taken.total.as_json()
    assert [total[name] for name in ("prompt", "completion", "cached", "dollars")] == [None] * 4
    assert (total["requests"], meter.taken.total.tokens) == (1, None)
    assert PRICES.with_price("m", 3, 0).cost("m", Usage(5, None)) == pytest.approx(15e-6)


def test_limits_that_are_not_accepted():
    with pytest.raises(
        ParlourError, match=r"max_dollars 1, but the price of 'other' is unknown; accepted: --price 0.15,0.6 "
    ) as caught:
        Budget(Source(), ModelConfig(model="other", max_dollars=1), PRICES)
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(ParlourError, match="the price of 'other' is unknown"):
        Budget(Source(), ModelConfig(model="m", max_dollars=1), PRICES).complete(replace(REQUEST, model="other"))
    for limit in ("max_dollars", "max_calls", "max_seconds"):
        for value in (0, -1, float("nan")):
            with pytest.raises(ParlourError, match=f"{limit} .* is not accepted"):
                ModelConfig(model="m", **{limit: value})


def test_a_copy_of_a_budget_goes_on_from_what_was_spent():
    budget = Budget(Broken(), ModelConfig(model="m", max_calls=2, max_seconds=100), PRICES)
    with pytest.raises(ModelUnavailable):
        budget.complete(REQUEST)
    copy = pickle.loads(pickle.dumps(budget))
    with pytest.raises(ModelUnavailable):
        copy.complete(REQUEST)
    with pytest.raises(BudgetSpent):
        copy.complete(REQUEST)
    assert (budget.calls, copy.calls) == (1, 2)


# -- calls under way -------------------------------------------------------------------------------------------------


def test_what_is_under_way_is_said_in_words():
    underway, label = Underway(), Label("player_3", "chat.take_turn")
    assert underway.words(0.0) == ""
    underway.begin(1, label, 10.0)
    assert underway.words(45.4) == "0 questions answered · waiting 35 s for player_3 (chat.take_turn)"
    underway.begin(2, Label("player_0", "belief.state"), 40.0)
    assert underway.words(50.0).endswith("waiting 40 s for player_3 (chat.take_turn) and 1 more")
    underway.end(1, 100, 50.0)
    underway.answered = 1
    assert underway.words(50.0) == "1 question answered · 2.5 tokens/s · waiting 10 s for player_0 (belief.state)"
    underway.end(2, 60, 50.0)
    underway.answered = 1234
    assert underway.words(9999.0) == "1,234 questions answered · 4.0 tokens/s"  # nobody has waited since
    underway.begin(3, Label("", ""), 9999.0)
    assert underway.words(9999.0).endswith("waiting 0 s for a reply")


def test_a_meter_counts_what_is_under_way_and_a_copy_begins_anew():
    entered, leave = threading.Event(), threading.Event()

    class Blocked:
        def complete(self, request: Request) -> Completion:
            entered.set()
            assert leave.wait(20)
            return replace(REPLY, cached=True)

    meter = Meter(Blocked(), PRICES)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(meter.complete, REQUEST)
        assert entered.wait(20)
        assert meter.underway() == "0 questions answered · waiting 0 s for player_1 (a.b)"
        assert meter.__getstate__()["_underway"].words(0.0) == ""
        leave.set()
        call.result()
    assert meter.underway() == ""
    meter.add(Taken({Label("player_1", "a.b"): Decisions(first=2, heuristic={"invalid": 1})}))
    assert meter.underway() == "3 questions answered"  # tokens of a cache say nothing of the speed


def test_a_reply_that_was_asked_for_ahead_is_used_once_and_counts_then():
    source = Source()
    meter = Meter(source, PRICES)
    meter.ask_ahead(REQUEST)
    assert meter.taken.total.requests == 0
    meter.complete(replace(REQUEST, sample=1))
    assert (source.asked, meter.complete(REQUEST), source.asked) == (2, REPLY, 2)
    meter.complete(REQUEST)
    assert (source.asked, meter.taken.total.requests) == (3, 3)


def test_a_call_that_fails_is_no_longer_awaited():
    meter = Meter(Broken(), PRICES)
    for ask in (meter.complete, meter.ask_ahead):
        with pytest.raises(ModelUnavailable):
            ask(REQUEST)
    assert meter.underway() == ""
