"""The attacks on tables find what is planted, and nothing at tables as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hardening.attack import Finding
from hardening.attacks import all_attacks
from hardening.games import table_of
from hardening.runner import attempted
from hardening.walks import shown_as_text
from parlour.envs import _template
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.parallel import GameParallelEnv
from parlour.envs.core import Move, ParlourError

pytestmark = pytest.mark.nightly

TABLE_ATTACKS = ("resets", "interleaved", "copies", "illegal", "replaced", "parallel")
TINY = "template_v0"


def findings_of(attack: str, folder: Path, subject: str = TINY, attempts: int = 40) -> list[Finding]:
    """The findings of the first attempts with seed 0."""
    tried = [attempted(all_attacks()[attack], subject, number, 0, folder) for number in range(attempts)]
    assert sum(trial.tries for trial in tried) > attempts / 2
    return [finding for trial in tried for finding in trial.findings]


def test_what_is_shown_is_told_alike_if_and_only_if_it_is_alike():
    """Sets by their elements in order, arrays by their bytes and type, records by all their parts."""
    view = table_of(TINY).raw_env().game.initial()
    assert shown_as_text({"a": {"x", "y"}}) == shown_as_text({"a": {"y", "x"}})
    assert shown_as_text((view, np.zeros(2000))) != shown_as_text((view, np.eye(1, 2000, 1000)[0]))
    assert shown_as_text(np.zeros(2, np.int8)) != shown_as_text(np.zeros(2, bool))
    assert shown_as_text(view) != shown_as_text(view._replace(coin=1))
    assert shown_as_text(view._replace(log=frozenset({"x", "y"}))) == """CoinState(-1, 0, set["'x'", "'y'"])"""


@pytest.mark.slow
@pytest.mark.parametrize("attack", TABLE_ATTACKS)
def test_nothing_is_found_at_tables_as_they_are(attack, tmp_path):
    for subject in (TINY, "avalon_v0 num_players=5 rules=paper", "werewolf_v0 num_players=4 rules=official"):
        assert findings_of(attack, tmp_path, subject, attempts=6) == []


def test_a_reset_that_keeps_the_generator_is_found(monkeypatch, tmp_path):
    reset = GameEnv.reset

    def keeps(self: Any, seed: int | None = None, options: Any = None) -> None:
        reset(self, None if self.state_now is not None else seed, options)

    monkeypatch.setattr(GameEnv, "reset", keeps)
    assert {finding.what for finding in findings_of("resets", tmp_path)} == {"another game after a reset"}


def test_tables_that_share_their_chance_are_found(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    nature = type(_template.GAME.build(_template.GAME.options())).nature
    monkeypatch.setattr(
        type(_template.GAME.build(_template.GAME.options())), "nature", lambda self, s, _: nature(self, s, rng)
    )
    assert {finding.what for finding in findings_of("interleaved", tmp_path)} == {"a game disturbs another"}


@pytest.mark.parametrize("attribute", ["_mask", "_cumulative_rewards"])
def test_a_copy_that_lacks_something_is_found(monkeypatch, tmp_path, attribute):
    kept = GameEnv.__getstate__

    def lacks(self: Any) -> dict[str, Any]:
        lost = {"_mask": np.ones_like(self._mask), "_cumulative_rewards": dict.fromkeys(self.possible_agents, 1.0)}
        return kept(self) | {attribute: lost[attribute]}

    monkeypatch.setattr(GameEnv, "__getstate__", lacks)
    assert "a copy by pickle goes on otherwise" in {finding.what for finding in findings_of("copies", tmp_path)}


PLANTED = """
from parlour.envs._template import CoinSpec, Coin
from parlour.envs.core import Move

class Hashed(Coin):
    def nature(self, s, rng):
        rng.random()
        return Move("toss", (hash("heads") % 2,))

class HashedSpec(CoinSpec):
    id = "hashed_v0"
    def build(self, options):
        return Hashed()

GAME = HashedSpec()
"""


def test_a_game_that_depends_on_hashes_is_found_from_outside_too(monkeypatch, tmp_path):
    """Of processes with three hash seeds, ours and two others, one tosses the coin otherwise three times in four."""
    (tmp_path / "hashed.py").write_text(PLANTED)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "scratch").mkdir()
    assert "hashed:GAME" in all_attacks()["hashes"].subjects(["hashed:GAME"])
    monkeypatch.setattr("hardening.tables.HASHES", tuple(map(str, range(3))))
    findings = findings_of("hashes", tmp_path / "scratch", "hashed:GAME", attempts=1)
    assert {finding.what for finding in findings} == {"another game with other hashes"}


def test_an_illegal_action_that_is_refused_and_yet_changes_something_is_found(monkeypatch, tmp_path):
    step = GameEnv.step

    def changes(self: Any, action: Any) -> None:
        try:
            step(self, action)
        except ParlourError:
            self._cumulative_rewards[self.agent_selection] -= 1.0
            raise

    monkeypatch.setattr(GameEnv, "step", changes)
    assert {finding.what for finding in findings_of("illegal", tmp_path)} == {"what was refused has changed the game"}


def test_a_replacement_that_is_not_counted_is_found(monkeypatch, tmp_path):
    move = GameParallelEnv._move

    def silent(self: Any, view: Any, action: Any) -> Move:
        counted = dict(self.replaced)
        made = move(self, view, action)
        self.replaced = counted
        return made

    monkeypatch.setattr(GameParallelEnv, "_move", silent)
    assert {finding.what for finding in findings_of("replaced", tmp_path)} == {"not counted"}


def test_another_observation_in_the_parallel_form_is_found(monkeypatch, tmp_path):
    observation = GameParallelEnv._observation

    def other(self: Any, seat: int) -> dict[str, Any]:
        seen = observation(self, seat)
        return seen | {"text": seen["text"].replace("you may", "you must")}

    monkeypatch.setattr(GameParallelEnv, "_observation", other)
    assert {finding.what for finding in findings_of("parallel", tmp_path)} == {"decides from another observation"}
