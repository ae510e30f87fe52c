"""`parlour play`. What plays the games is imported when they are played, so that `--help` starts at once."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from parlour.envs.common.terminal import tell, tell_text
from parlour.envs.core import GameText, ParlourError, check_one_of
from parlour.envs.language.seat_names import NO_NAMES, SeatNames
from parlour.envs.settings import COMMON
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, games_at_once, prompts_setting, seated
from parlour.training.cli.people import PeopleOptions

if TYPE_CHECKING:
    from parlour.training.play import rollout


def play(
    table: common.GameOptions,
    model: ModelOption,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    persons: PeopleOptions,
    game: common.AnyGameArgument = None,
    policy: Annotated[
        list[str] | None,
        COMMON,
        "A player for all seats; or a player for each seat, in order; or player_0=NAME for single seats; None: heuristic.",
    ] = None,
    games: Annotated[int, typer.Option(min=1), COMMON, "Number of games, on consecutive seeds."] = 1,
    on_bad: Annotated[
        str, "Handling of text that cannot be used: ask_again, default, random, raise or forfeit."
    ] = "ask_again",
    talk: common.TalkOption = None,
    out: common.TranscriptsOption = None,
    resume: common.ResumeOption = False,
    json: Annotated[bool, typer.Option("--json"), COMMON, "Print JSON instead of the games."] = False,
) -> None:
    """Play games and print their public record.

    Example: [bold]parlour play avalon_v0 --policy heuristic --policy player_0=human --out runs/mine[/bold]
    """
    from parlour.policies import HumanPolicy
    from parlour.policies.llm.decisions import Decisions
    from parlour.policies.voice.spoken import CLAIMS, WORDS, checked_talk, make_player, talk_setting
    from parlour.training.measure.decision_tables import decision_parts
    from parlour.training.play import rollout
    from parlour.training.play.named_table import named_table
    from parlour.training.play.parallel.concurrent_games import Job
    from parlour.training.play.runner import GameRunner, no_forecast
    from parlour.training.play.stored_games import games_folder
    from parlour.training.play.terminal_person import TerminalPerson
    from parlour.training.report import display
    from parlour.training.report.report import Report
    from parlour.training.runs.progress import no_progress

    game, options = named_table(game, table.chosen, players_named(policy or []))
    env = rollout.table(game, on_bad=on_bad, **options)
    base = env.game_env
    sitting = seat_names(policy or ["heuristic"], base.possible_agents)
    game = base.spec.id
    people = HumanPolicy.name in sitting
    shown = persons.seat_names(base) if people or persons.names is not None else NO_NAMES
    seed, seed_line = persons.first_seed(out, base) if people else (persons.seed or 0, "")
    talk = checked_talk(talk, WORDS if people else CLAIMS)
    makers: dict[str, Any] = {
        name: partial(make_player, name, base.spec, base.game.config, model, talk) for name in sitting
    }
    makers |= {HumanPolicy.name: partial(TerminalPerson, base, names=shown)} if people else {}
    players_of = tuple((seated(player, model), makers[player]) for player in sitting)
    files = [None if out is None else out / f"{game}-{number}.jsonl" for number in range(1, games + 1)]
    jobs = [Job(seed + number, players_of, file, tuple(shown.names)) for number, file in enumerate(files)]
    seats = dict(zip(base.possible_agents, (player for player, _ in players_of), strict=True))
    made = dict.fromkeys(seats, Decisions())
    results: dict[int, dict[str, Any]] = {}

    def keep(number: int, played: rollout.Episode | rollout.Unfinished) -> None:
        for agent, decisions in zip(seats, played.decisions, strict=True):
            made[agent] += decisions
        results[number] = _result(played, seats)

    def show(number: int, episode: rollout.Episode) -> None:
        if not json:
            show_game(base.text, episode, shown, heading=games > 1)
        keep(number, episode)

    def skip(number: int, given_up: rollout.Unfinished) -> None:
        if not json:
            tell(f"--- seed {given_up.seed}: not finished after {given_up.moves} moves ({given_up.why})")
        keep(number, given_up)

    workers = 1 if people else games_at_once(sitting, model)
    settings = {"players": seats, "seed": seed, "on_bad": on_bad, "on_failure": failures.on_failure}
    settings |= talk_setting(talk) | prompts_setting(model)
    watched = nullcontext(no_progress) if people else display.progress_line(redraw=False, model=model)
    forecast = no_forecast if people else common.tell_forecast
    storage = games_folder(out, base, "play", settings, resume=resume)
    if people and not json:
        tell(seed_line)
    if game == "murder_mystery_v0":
        from parlour.training.measure.murder_mystery.methods import by_score

        mystery: Any = base.game
        common.note(by_score({player: player for player in sitting}, [mystery.case])[1])
    with storage, ray.pool(model) as pool, watched as progress:
        runner = GameRunner(workers, pool, progress, failures, resume=resume, forecast=forecast)
        runner.play_each(env, jobs, show, skip=skip)
    whose = decision_parts({f"{agent}: {player}": made[agent] for agent, player in seats.items()})
    written = [f"transcript{'s' * (games > 1)}: {files[0] if games == 1 else out}"] if out is not None else []
    Report("", parts=(*whose, *written), values=[results[number] for number in sorted(results)]).print(as_json=json)


def seat_names(given: list[str], agents: list[str]) -> list[str]:
    """Which policy sits where. Raises `ParlourError` for a seat that the table does not have.

    >>> seat_names(["heuristic", "player_1=human"], ["player_0", "player_1"])
    ['heuristic', 'human']
    >>> seat_names(["avalon_agent:without=plan"], ["player_0"])
    ['avalon_agent:without=plan']
    """
    seated_by_name = [entry for entry in given if _names_a_seat(entry)]
    plain = [entry for entry in given if entry not in seated_by_name]
    named = dict(entry.split("=", 1) for entry in seated_by_name)
    for agent in named:
        check_one_of("seat", agent, agents)
    if len(plain) not in (0, 1, len(agents)):
        raise ParlourError(f"{len(plain)} policies; accepted: one for all seats, or one for each of {len(agents)}")
    seats = plain if len(plain) == len(agents) else (plain or ["heuristic"]) * len(agents)
    return [named.get(agent, seats[number]) for number, agent in enumerate(agents)]


def players_named(given: list[str]) -> list[str]:
    """The policies that are named, without the seats before them.

    >>> players_named(["heuristic", "player_1=runs/seat/policy.npz"])
    ['heuristic', 'runs/seat/policy.npz']
    """
    return [entry.split("=", 1)[1] if _names_a_seat(entry) else entry for entry in given]


def _names_a_seat(policy: str) -> bool:
    return "=" in policy and ":" not in policy.partition("=")[0]


def _result(played: rollout.Episode | rollout.Unfinished, seats: dict[str, str]) -> dict[str, Any]:
    decisions = zip(seats.items(), played.decisions, strict=True)
    players = {"players": {agent: {"player": player, **made.as_json()} for (agent, player), made in decisions}}
    from parlour.training.play.rollout import Unfinished

    if isinstance(played, Unfinished):
        return {"seed": played.seed, "unfinished": played.why, "moves": played.moves, **players}
    outcome = played.outcome
    faults = {agent: dict(counts) for agent, counts in played.faults.items()}
    result = {"winner": outcome.winner, "reason": outcome.reason, "returns": list(outcome.returns)}
    return {"seed": played.seed, **result, "moves": played.moves, "faults": faults, **players}


def show_game(text: GameText[Any], episode: rollout.Episode, names: SeatNames, *, heading: bool) -> None:
    """Print the public record of a game that is over, who was who, and the end."""
    from parlour.envs.language.text import end_of, was

    if heading:
        tell(f"--- seed {episode.seed}")
    for event in episode.last_views[0].events:
        if event.to is None:
            tell_text(names.shown(text.line(event).rstrip("\n")))
    for view in episode.last_views:
        line = was(text, view)
        if line:
            tell(names.shown(line))
    tell(names.shown(end_of(text, episode.outcome)))
