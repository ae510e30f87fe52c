"""What stated beliefs and claims are worth in recorded games of Avalon: log loss, the effect of a claim."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonHabits
from parlour.training.cli import run
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.measure.avalon.persuasion import claim_effects
from parlour.training.measure.avalon.stated import LEAST, loss


def test_log_loss_is_the_mean_of_minus_log_of_what_was_given_to_the_truth():
    """A wrong certainty costs no more than minus log of the least probability."""
    assert loss((0.7, 0.3), (True, False)) == pytest.approx(0.3567, abs=1e-4)
    assert loss((0.0, 1.0), (True, False)) == pytest.approx(-np.log(LEAST))


def test_the_first_claim_of_a_game_has_the_effect_of_leaving_it_out(tmp_path):
    """Before it nothing was said, so that a listener knows what the night showed, and with the claim one piece of evidence more."""
    assert run(["play", "avalon_v0", "-n", "6", "--games", "4", "--out", str(tmp_path)]) == 0
    for path in tmp_path.glob("*.jsonl"):
        game = AnalysedGame.read(path)
        first = next(event for event in game.log if event.move.kind in ("accuse", "defend", "recommend"))
        listeners = [seat for seat in range(game.seats) if seat not in game.evil and seat != first.seat]
        towards = []
        for seat in listeners:
            losses = []
            for said in ((), (first,)):
                belief = game.opening_belief(seat, AvalonHabits())
                for event in said:
                    belief.see(event.seat, *event.move)
                chances = np.delete(belief.evil_chance(), seat)
                losses.append(loss(chances, [other in game.evil for other in range(game.seats) if other != seat]))
            towards.append(losses[0] - losses[1])
        effect = next(claim_effects(game))
        assert effect.evil == (first.seat in game.evil)
        assert effect.effects == pytest.approx([-gain if effect.evil else gain for gain in towards])
