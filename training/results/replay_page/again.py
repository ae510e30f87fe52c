"""Players run once more on the recorded Views, for what they believed: those whose questions heuristics answered.

The same player with the same seed asks the same questions and gets the same answers, so it has the same beliefs. A seat whose
moves differ from the record is left out. A transcript may come from anybody: who sits there is looked up among a few players
by name, and nothing is imported or opened for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from parlour.envs.aec import GameEnv
from parlour.envs.core import NATURE, GameText, Move, ParlourError, View
from parlour.envs.english import name
from parlour.envs.entries import TextAction
from parlour.envs.text import clean
from parlour.envs.turn import faced
from parlour.policies import OfflineModel, Policy, make_policy
from parlour.policies.llm.model import OFFLINE
from parlour.training.results.replay_page.played import PlayedGame
from parlour.wrappers.text_actions import TextActions


class FollowedTurn(NamedTuple):
    """A turn of a player that is followed."""

    step: int
    seat: int
    player: Policy
    """As it is after its turn."""


def follow(played: PlayedGame, names: Collection[str], look: Callable[[FollowedTurn], None]) -> frozenset[int]:
    """Rerun the players with one of these `names` whose questions the heuristics answered.

    Args:
        played: The game.
        names: Of players, without their settings.
        look: Is shown each turn of these players.

    Returns:
        The seats whose moves all match the record; the page leaves out the others.
    """
    seated = _seated(played, names)
    if not seated:
        return frozenset()
    seed = played.transcript.header["seed"]
    env = TextActions(GameEnv(played.transcript.spec, played.game, info="full"))
    made = [entry.move for entry in played.entries if entry.seat == NATURE and entry.move is not None]
    env.reset(seed=seed, options={"nature": made})
    for seat, player in seated.items():
        player.reset(seat, seed)
    for step, entry in enumerate(played.entries):
        known = seated.get(entry.seat)
        if known is not None and _plays(env, known, entry.seat, entry.move, played.text):
            look(FollowedTurn(step, entry.seat, known))
        elif known is not None:
            del seated[entry.seat]
        if entry.seat != NATURE and entry.move is not None:
            env.step(TextAction(entry.move, entry.raw))
    return frozenset(seated)


def _seated(played: PlayedGame, names: Collection[str]) -> dict[int, Policy]:
    """The players that can be followed, by seat."""
    header, game = played.transcript.header, played.game
    players, models = header.get("players"), header.get("models")
    if type(header.get("seed")) is not int or not isinstance(players, dict) or not isinstance(models, dict):
        return {}
    seated = {}
    for seat in range(game.seats):
        named = players.get(name(seat))
        if (
            not isinstance(named, str)
            or named.partition(":")[0] not in names
            or models.get(name(seat)) != {"model": OFFLINE}
        ):
            continue
        try:
            seated[seat] = make_policy(named, played.transcript.spec.id, game.config, OfflineModel())
        except ParlourError:
            continue  # settings that it does not have, as of another version
    return seated


def _plays(env: TextActions, player: Policy, seat: int, move: Move | None, text: GameText[Any]) -> bool:
    """Whether the player does what is recorded."""
    action = player.act(*faced(env, player))
    if move is None:
        return False
    if not isinstance(action, str):
        return bool(env.game_env.catalogue_of(seat)[int(action)] == Move(move.kind, move.args))
    view: View = env.game_env.view(seat)
    try:
        return bool(text.parse(clean(action), view) == move)
    except ParlourError:
        return False
