"""`parlour serve`."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import make_policy
from parlour.policies.llm.server.fault_injection import FAULTS, parse_faults
from parlour.training.cli import common

ROOMS: Final = (
    "parlour.policies.agents.avalon",
    "parlour.policies.agents.werewolf.gratr",
    "parlour.policies.agents.murder_mystery",
    "parlour.policies.agents.werewolf",
    "parlour.training.avalon.social",
)
"""The packages whose questions are answered."""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("serve")(serve)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; by default only this machine is answered.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 picks a free one.")] = 8017,
    latency: Annotated[float, typer.Option(help="Seconds that each completion takes, at least.")] = 0.0,
    fault: Annotated[
        str | None,
        typer.Option(
            metavar="KIND=RATE[,KIND=RATE]",
            help=f"What goes wrong, and how often: {', '.join(FAULTS)}; a rate is in 0..1.",
            show_default=False,
        ),
    ] = None,
    retry_after: Annotated[float, typer.Option(help="Seconds that the fault 429 asks to wait.")] = 0.1,
    hang: Annotated[float, typer.Option(help="Seconds of the faults timeout and slow.")] = 30.0,
    no_schema: Annotated[bool, typer.Option("--no-schema", help="Refuse response_format, as some servers do.")] = False,
    key_env: Annotated[
        str | None,
        typer.Option(help="Want the bearer token that this variable of the environment holds.", show_default=False),
    ] = None,
    seed: common.SeedOption = 0,
    policy: Annotated[
        str | None,
        typer.Option(
            help="A player that answers as the model, to what a seat reads: `random`, `chat`, module:attribute, or a "
            "trained seat, whose features are sent along.",
            show_default=False,
        ),
    ] = None,
    game: Annotated[str, typer.Option(help="With --policy: the game a trained seat is for.")] = "avalon_v0",
    players: common.PlayersOption = None,
    rules: common.RulesOption = None,
    option: common.SetOption = None,
) -> None:
    """Answer as an OpenAI-compatible server would, by heuristics, without any model. Needs the extra `serve`.

    The seed deals out the faults; which answer is given follows from the `seed` of each request. With `--policy` one of
    parlour's players answers instead, to the text of a seat or to the question of the player `chat`.

    Example: [bold]parlour serve --port 8017 --fault 429=0.2,cut=0.1[/bold]
    """
    faults = {} if fault is None else parse_faults(fault)
    server = _require_server()
    settings = server.ServerSettings(
        faults=faults,
        latency=latency,
        hang=hang,
        retry_after=retry_after,
        seed=seed,
        refuse=("response_format",) if no_schema else (),
        key=None if key_env is None else _key(key_env),
    )
    served = None
    if policy is not None:
        env = lookup(game).raw_env(**common.options(players, rules, option))
        served = server.ServedPolicy(policy, make_policy(policy, env.spec.id, env.game.config))
    server.load_questions(ROOMS)
    bound = server.BoundServer(server.Service(settings, policy=served), host, port)
    who, asks, model = "Heuristics (no language model) answer", "avalon_agent", "heuristics"
    if policy is not None:
        who, asks, model = f"The policy {policy} answers", "chat", policy
    use = f"parlour play {game} --policy {asks} --model {model} --base-url {bound.base_url}"
    print(f"{who} at {bound.base_url}; try: {use}", flush=True)  # noqa: T201
    try:
        bound.run()
    except KeyboardInterrupt:
        return  # how a server is ended


def _key(name: str) -> str:
    key = os.environ.get(name, "")
    if not key:
        raise ParlourError(f"the environment holds no key in {name!r}; accepted: the name of a variable that is set")
    return key


def _require_server() -> Any:
    """The server's module. Raises `ParlourError` where the extra `serve` is not installed."""
    try:
        from parlour.policies.llm.server import app
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[serve]'") from None
    return app
