"""`parlour serve endpoint`."""

from __future__ import annotations

import ipaddress
import os
from typing import Annotated

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.envs.settings import COMMON
from parlour.policies import asks_a_model, make_policy
from parlour.policies.llm.server.protocol import MODEL_ID
from parlour.policies.llm.server.settings import FAULTS, ServerSettings, parse_faults
from parlour.training.cli import common
from parlour.training.cli.options import Options
from parlour.training.play import asked
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table


def serve_endpoint(
    settings: Annotated[ServerSettings, Options(exclude=("faults", "refuse", "key"))],
    table: common.GameOptions,
    host: Annotated[str, "Address to listen at; the default answers only this machine."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535), COMMON, "Port to listen at; 0 picks a free one."] = 8017,
    fault: Annotated[
        str | None,
        typer.Option(metavar="KIND=RATE[,KIND=RATE]"),
        COMMON,
        f"Faults and their rates from 0 to 1: {', '.join(FAULTS)}.",
    ] = None,
    no_schema: Annotated[bool, typer.Option("--no-schema"), "Refuse response_format, as some servers do."] = False,
    key_env: Annotated[
        str | None, "Environment variable with the bearer token that is required; None: no token."
    ] = None,
    policy: Annotated[
        str | None,
        COMMON,
        "Player that answers the text of a seat instead of heuristics: `random`, `chat`, `expert`, module:attribute, or a "
        "trained seat; the request must hold its features if it cannot read the prose. If a module:Class asks a model, its "
        "questions are answered by their heuristics.",
    ] = None,
    game: Annotated[str | None, COMMON, "With --policy: its game; None: that of a policy file, else avalon_v0."] = None,
) -> None:
    """Serve an OpenAI-compatible endpoint that answers by heuristics, without any model. Needs the extra `serve`.

    The seed determines the faults; the answers follow from the `seed` of each request. With `--policy` one of parlour's
    players answers instead, to the text of a seat or to the question of the player `chat`. A player of your own that asks a model
    is named there too: the server then knows its questions.

    Example: [bold]parlour serve endpoint --port 8017 --fault 429=0.2,cut=0.1[/bold]
    """
    asked.kinds()  # every question is known from now on
    settings = settings.replace(
        faults={} if fault is None else parse_faults(fault),
        refuse=("response_format",) if no_schema else (),
        key=None if key_env is None else _key(key_env),
    )
    server = import_extra("parlour.policies.llm.server.app", "serve")
    served = None
    game, options = named_table(game, table.chosen, () if policy is None else [policy])
    who, asks, model = "The heuristic (no language model) answers", "avalon_agent", MODEL_ID
    if policy is not None:
        env = lookup(game).raw_env(**options)
        asking, player = asks_a_model(policy), make_policy(policy, env.spec.id, env.game.config)
        who, asks = f"The policy {policy} answers", policy if asking else "chat"
        if asking and player.wants == "view":  # a request holds no view, but its questions
            who = f"The heuristics (no language model) of {policy} and of parlour's players answer"
        else:
            served, model = server.ServedPolicy(policy, player), policy
    bound = server.Service(settings, policy=served).listening_at(host, port)
    base_url = f"{bound.url}/v1"
    tell(f"{who} at {base_url}; try: parlour play {game} --policy {asks} --model {model} --base-url {base_url}")
    if not answers_this_machine_alone(host):
        tell(f"other machines reach {host}, and this server has no limits of its own: put a proxy in front of it")
    try:
        bound.run()
    except KeyboardInterrupt:
        return  # how a server is ended


def answers_this_machine_alone(host: str) -> bool:
    """Whether an address to listen at is one of loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(name: str) -> str:
    key = os.environ.get(name, "")
    if not key:
        raise ParlourError(f"the environment holds no key in {name!r}; accepted: the name of a variable that is set")
    return key
