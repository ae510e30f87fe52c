"""What games talked through at one seat are held against: the AEC environment on the same seeds and words, and the View."""

from __future__ import annotations

from typing import Any

from parlour.envs.adapters.turn import take_turn
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import render
from parlour.wrappers import ConversationSeat
from parlour.wrappers.base import inner_game
from parlour.wrappers.conversation import table
from parlour.wrappers.opponents import seated

TABLES: dict[str, dict[str, Any]] = {
    "template_v0": {},
    "werewolf_v0": {"num_players": 4, "max_days": 2},  # all games of a batch are padded to the longest
    "mediated_qa_v0": {},
}


def first_messages() -> list[str]:
    return [seat_maker(game)().reset(0) for game in TABLES]


def seat_maker(game: str, **asked: Any) -> Any:
    return lambda: ConversationSeat(table(game, **TABLES[game], **asked), seat_of(game))


def seat_of(game: str) -> str:
    """The seat that is talked to; in the template the guesser, as what the other one says is free speech."""
    return "player_1" if game == "template_v0" else str(table(game, **TABLES[game]).possible_agents[0])


def aec_return(
    game: str, seed: int, seat: str, words: tuple[str, ...] | list[str], *, left: bool = False, **asked: Any
) -> float:
    """The sum of a seat's rewards in the AEC environment, where it says these words and the heuristic plays the others."""
    env = table(game, **TABLES[game], **asked)
    base = inner_game(env, "aec_return", full=True)
    players = dict(zip(env.possible_agents, seated("heuristic", base), strict=True))
    env.reset(seed=seed)
    for agent, player in players.items():
        player.reset(base.seat_of[agent], seed)
    total, said = 0.0, iter(words)
    while base.outcome is None:
        if env.agent_selection == seat:
            env.step(next(said, "") if left else next(said))
        else:
            take_turn(env, players[env.agent_selection])
        total += env.rewards[seat]
    assert next(said, None) is None
    return total


def told_what_its_view_holds(
    game: str, seed: int, seat: str, words: tuple[str, ...] | list[str], messages: list[str], **asked: Any
) -> None:
    """A seat of ours that says the same words hears the same messages; together they are its observation."""
    ours = ConversationSeat(table(game, **TABLES[game], **asked), seat)
    expected = [ours.reset(seed), *(ours.say(word) for word in words)]
    assert messages == expected
    base = ours.conversation.game_env
    own = render(base.text, base.view(base.seat_of[seat]))
    headings = headings_of(base.text)
    record = own[own.index(headings.record) + len(headings.record) : own.rindex(headings.choice)].splitlines()
    lines = "".join(messages).splitlines()
    assert [line for line in lines if line in set(record)] == record
