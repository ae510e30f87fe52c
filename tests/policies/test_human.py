"""A person at the terminal: what is shown, how it is wrapped, and what may be typed."""

from __future__ import annotations

import pytest
from parlour.envs.language.seat_names import SeatNames
from parlour.policies import HeuristicPolicy, HumanPolicy
from parlour.training.play.rollout import play, table

NAMES = SeatNames(("Ana", "Ben", "Cleo", "Dan", "Eva"))


class Typed:
    """Types the answers given, and then option 1; keeps what was shown."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.shown = list(answers), list[str]()

    def read(self, prompt: str) -> str:
        self.shown.append(prompt)
        return self.answers.pop(0) if self.answers else "1"

    def text(self) -> str:
        return "\n".join(self.shown)


def played(typed: Typed, columns: int, monkeypatch, game: str = "avalon_v0", **options):
    monkeypatch.setenv("COLUMNS", str(columns))
    env = table(game, **options)
    person = HumanPolicy(typed.read, typed.shown.append, NAMES)
    others = [HeuristicPolicy() for _ in range(env.game_env.game.seats - 1)]
    return play(env, [person, *others], seed=1)


def test_lines_are_wrapped_at_words_to_the_width_of_the_terminal(monkeypatch):
    typed = Typed()
    played(typed, 39, monkeypatch, num_players=5)
    lines = [line for shown in typed.shown for line in shown.split("\n") if "own words" not in line]
    assert max(map(len, lines)) <= 39
    assert "Ana" in typed.text()
    assert "player_" not in typed.text()
    assert {"Moderator:", "Quest", "proposal"} <= set(typed.text().split())


def test_the_same_options_are_listed_once(monkeypatch):
    """What may be said is the same at each proposal; votes, with two options, are listed each time."""
    typed = Typed()
    played(typed, 100, monkeypatch, num_players=5)
    assert typed.text().count("  1  I have nothing to say.") == 1
    assert "options as before" in typed.text()
    assert typed.text().count("  1  I approve the team.") > 1


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("help", "Type the number of an option"),
        ("who", "Your role is "),
        ("record", "leads. Team size"),
        ("options", "  1  "),
    ],
)
def test_words_for_the_terminal_are_no_moves(command, shows, monkeypatch):
    typed = Typed(command)
    episode = played(typed, 100, monkeypatch, num_players=5)
    first = next(at for at, line in enumerate(typed.shown) if line.startswith("Number of an option"))
    second = next(at for at, line in enumerate(typed.shown) if at > first and line.startswith("Number of an option"))
    assert shows in "\n".join(typed.shown[first:second])
    assert sum(episode.faults["player_0"].values()) == 0


def test_names_in_words_are_seats_at_the_table(monkeypatch):
    typed = Typed("I think ben is evil.")
    episode = played(typed, 100, monkeypatch, num_players=5)
    spoken = [event.move for event in episode.last_views[0].events if event.seat == 0 and event.move.words]
    assert spoken[0].kind == "accuse"
    assert spoken[0].args == (1,)
    assert spoken[0].words == "I think player_1 is evil."


def test_a_number_that_is_no_option_is_refused_in_one_line(monkeypatch):
    typed = Typed("999")
    played(typed, 100, monkeypatch, num_players=5)
    assert "'999' is not accepted; accepted: 1.." in typed.text()
