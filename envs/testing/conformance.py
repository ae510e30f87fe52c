"""Rules, text, numbers, environments and transcripts keep the contract of `parlour.envs.core`; the spec and its card are right."""

from __future__ import annotations

import json
import pickle
import re
import sys
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence
from parlour.envs import replay
from parlour.envs.common import dotted
from parlour.envs.common.extras import not_installed
from parlour.envs.core import NATURE, OVER, TABLE, IllegalMove, Move
from parlour.envs.language.headings import OPTION, headings_of
from parlour.envs.language.text import render
from parlour.envs.registry import EnvModule, build
from parlour.envs.settings import accepted, descriptions
from parlour.envs.spec import GameSpec
from parlour.envs.testing.require import require, require_equal
from parlour.envs.testing.table import ConfiguredGame, follow, random_playout, refused, sampled
from parlour.wrappers import Recorder, SeatEnv

_READ: Final = 120
"""States of a game at which features are made, one after another, by an encoder that has read those before."""
_READ_ALONE: Final = 8
"""At these states, features are made from one View alone as well."""

# -- rules -----------------------------------------------------------------------------------------------------


def catalogue(table: ConfiguredGame) -> None:
    """The catalogue lists each move once, without words."""
    moves = table.game.catalogue
    require_equal(len(set(moves)), len(moves), "different moves of the catalogue")
    require(not any(move.words for move in moves), "a move of the catalogue holds words")


def legal_moves(table: ConfiguredGame) -> None:
    """Whenever a seat is to move there are legal moves, in catalogue order; otherwise there are none."""
    game, number = table.game, {move: k for k, move in enumerate(table.game.catalogue)}
    for state in table.states:
        legal, actor = game.legal(state), game.actor(state)
        require(actor in (*range(game.seats), NATURE, OVER), f"actor is {actor}, no seat, NATURE or OVER")
        require_equal(bool(legal), actor >= 0, f"whether there are legal moves where the actor is {actor}")
        numbers = [number[move] for move in legal]
        require_equal(numbers, sorted(set(numbers)), "legal moves by their number in the catalogue")


def words_in_moves(table: ConfiguredGame) -> None:
    """Every legal move is accepted; words in it change neither who moves next nor what is legal then."""
    game = table.game
    for state, _ in table.decisions:
        for move in game.legal(state):
            silent, spoken = game.apply(state, move), game.apply(state, move._replace(words="as I said"))
            require_equal(
                (game.actor(spoken), game.legal(spoken)),
                (game.actor(silent), game.legal(silent)),
                f"actor and legal moves after {move} with words",
            )


def illegal_moves(table: ConfiguredGame) -> None:
    """Every move that is not legal raises `IllegalMove` with a reason, and leaves the state unchanged."""
    game = table.game
    odd = ((), (-1,), (99,), (0, 0), (1, 0), tuple(range(11)))
    every = game.catalogue[:: max(1, len(game.catalogue) // 20)]
    moves = [
        *game.catalogue,
        Move("nonsense"),
        Move("", ()),
        *(Move(move.kind, args) for move in every for args in odd),
    ]
    for state in [game.initial(), *sampled(table.states), table.playouts[3].states[-1]]:
        before, legal = pickle.dumps(state), set(game.legal(state))
        for move in moves:
            if move not in legal:
                refused(partial(game.apply, state, move), IllegalMove)
        require_equal(state, pickle.loads(before), "the state after moves that are not legal")


def purity(table: ConfiguredGame) -> None:
    """`apply` changes no state and gives equal results for equal arguments; states are hashable."""
    for before, move, after in table.playouts[0].steps:
        stored, key = pickle.dumps(before), hash(before)
        again = table.game.apply(before, move)
        require_equal(
            (again, hash(again), hash(before)),
            (after, hash(after), key),
            f"state and hashes after {move}, applied again",
        )
        require_equal(before, pickle.loads(stored), f"the state that {move} was applied to")


def config(table: ConfiguredGame) -> None:
    """`config` is JSON from which `build` makes the same game again."""
    game = table.game
    again = build(table.spec, json.loads(json.dumps(dict(game.config))))
    require_equal(
        (again.seats, again.catalogue, again.max_moves),
        (game.seats, game.catalogue, game.max_moves),
        "seats, catalogue and max_moves of the game built from its config",
    )
    require(
        random_playout(again, 0, worded=table.worded) == table.playouts[0],
        "the game built from its config plays otherwise",
    )


def ends(table: ConfiguredGame) -> None:
    """A game is over within `max_moves`, and only then has an outcome: a return per seat, a side, a reason of the card."""
    game, spec = table.game, table.spec
    for states, _ in table.playouts:
        require(game.actor(states[-1]) == OVER, f"the game is not over after max_moves = {game.max_moves}")
        require_equal(
            [game.outcome(state) is not None for state in states],
            [game.actor(state) == OVER for state in states],
            "states with an outcome",
        )
        outcome: Any = game.outcome(states[-1])
        require_equal(len(outcome.returns), game.seats, "number of returns")
        require(np.all(np.isfinite(outcome.returns)), f"returns {outcome.returns} are not all finite")
        require(
            f"`{outcome.reason}`" in card_of(spec)["Reasons of the end"],
            f"reason {outcome.reason!r} is not in the card",
        )
        if spec.sides:
            views: list[Any] = [game.view(states[-1], seat) for seat in range(game.seats)]
            require(
                {view.side for view in views} <= set(spec.sides),
                f"a side of {[view.side for view in views]} is none of {spec.sides}",
            )
            require(
                outcome.winner in (*spec.sides, "draw"),
                f"winner {outcome.winner!r} is no side of {spec.sides} and no draw",
            )


# -- the spec --------------------------------------------------------------------------------------------------


def card_of(spec: GameSpec) -> dict[str, str]:
    """The first table of the docstring of the spec's module: row by row."""
    text = sys.modules[type(spec).__module__].__doc__ or ""
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))


def card(table: ConfiguredGame) -> None:
    """The card, a table in the docstring of the spec's module, has the game's name and players, and its options or no row of them."""
    spec, rows = table.spec, card_of(table.spec)
    require_equal(rows["Name"], f"`{spec.id}`", "the card's name")
    low, _, high = rows["Players"].split(",")[0].partition("-")
    require(
        int(low) <= EnvModule(spec).raw_env().game.seats <= int(high or low),
        "the default number of seats is not among the card's players",
    )
    if "Options" in rows:
        require_equal(re.findall(r"`(\w+)`", rows["Options"]), list(spec.options.model_fields), "the card's options")


def spec_options(table: ConfiguredGame) -> None:
    """Every option is described in printable words, the defaults are plain values; other options are refused."""
    spec = table.spec
    for name, text in descriptions(spec.options).items():
        require(bool(text), f"the option {name} is not described")
        words = f"{text} {accepted(spec.options.model_fields[name])}"
        require(words.isprintable(), f"the description of {name} is not printable")
    require_equal(
        spec.options().plain(), spec.options.from_plain(spec.options().plain()).plain(), "the default options"
    )
    require("colour" in refused(partial(table.env, colour="blue")), "the refusal of the option colour does not name it")


def heuristic(table: ConfiguredGame) -> None:
    """The heuristic player, if the spec names one, makes legal moves, and the same ones from the same seed."""
    games: list[list[Move]] = []
    make = dotted.load(table.spec.heuristic, "heuristic") if table.spec.heuristic else None
    while make and len(games) < 2:
        env, players = table.raw_env(), dict[int, Any]()
        env.reset(seed=23)
        while env.outcome is None:
            view = env.view(env.seat)
            if env.seat not in players:
                players[env.seat] = make(view, np.random.default_rng((23, env.seat)))
            env.play(players[env.seat].act(view))
        games.append(env.moves)
    require(games[:1] == games[1:], "the heuristic plays otherwise with the same seed")


# -- text and numbers ------------------------------------------------------------------------------------------


def choice_section(table: ConfiguredGame) -> None:
    """The third section of the prose lists the legal moves, one each; every heading stands once."""
    game, text = table.game, table.text
    headings = headings_of(text)
    for state, _ in table.decisions:
        for seat in range(game.seats):
            prose = render(text, game.view(state, seat))
            require_equal(
                [prose.count(heading) for heading in headings[:3]],
                [1, 1, 1],
                "how often each heading stands in the prose",
            )
            choice = prose[prose.index(headings.choice) + len(headings.choice) :].splitlines()
            if seat != game.actor(state):
                require_equal(
                    choice, [headings.not_your_turn.strip()], f"the third section of seat {seat}, which is not to move"
                )
                continue
            require(
                not choice[0].startswith(OPTION),
                "the third section begins with an option, without a sentence before it",
            )
            require_equal(choice[1:], [OPTION + text.say(move) for move in game.legal(state)], "options in the prose")
            require(len(set(choice)) == len(choice), "two options of the prose are the same")


def canonical_sentences(table: ConfiguredGame) -> None:
    """`parse` reads the sentence of every legal move as that move, in capital letters too."""
    text = table.text
    for _, view in table.decisions:
        for move in view.legal:
            require_equal(text.parse(text.say(move), view), move, f"{text.say(move)!r} read")
            require_equal(text.parse(text.say(move).upper(), view)[:2], move[:2], f"{text.say(move).upper()!r} read")


def default_moves(table: ConfiguredGame) -> None:
    """The default for words that cannot be used is a legal move."""
    rng = np.random.default_rng(0)
    for _, view in table.decisions:
        for words in ("", "?", "player_0, player_1, player_2, player_3, player_4, player_99", "yes and no"):
            require(table.text.default(words, view, rng) in view.legal, f"the default for {words!r} is not legal")


def incremental_prose(table: ConfiguredGame) -> None:
    """The prose that an environment extends from turn to turn equals the prose rendered from the View."""
    env = table.raw_env()
    for played in table.playouts[:2]:
        for _ in follow(env, played.moves):
            for agent in env.possible_agents:
                require_equal(
                    env.observe(agent)["text"],
                    render(env.text, env.game.view(env.state_now, env.seat_of[agent])),
                    f"the prose that {agent} observes",
                )


def features(table: ConfiguredGame) -> None:
    """Features have the declared size, are float32, and lie in [-1, 1]."""
    encode = table.spec.encoder(table.game).at_table()
    for state in table.playouts[0].states:
        for seat in range(table.game.seats):
            _check_array(encode(table.game.view(state, seat)), encode.size)


def own_features(table: ConfiguredGame) -> None:
    """Each kind except `"table"` has the right size, names, type and range, and one View alone gives the same as all Views in
    turn.
    """
    game, states = table.game, sampled(table.playouts[0].states, _READ)
    encoders = table.spec.encoder(game)
    require_equal(encoders.kinds[0], TABLE, "the first kind of features")
    refused(partial(table.raw_env, features="colours"))
    for kind in encoders.kinds[1:]:
        reading = [encoders.of_seat(kind) for _ in range(game.seats)]
        alone = set(map(id, sampled(states, _READ_ALONE)))
        for state in states:
            for seat, encode in enumerate(reading):
                view = game.view(state, seat)
                array = encode(view)
                _check_array(array, encode.size)
                if id(state) in alone:
                    require(
                        np.array_equal(array, encoders.of_seat(kind)(view)),
                        f"features {kind} of seat {seat} depend on the Views before",
                    )
        require(
            all(len(encode.names) == len(set(encode.names)) == encode.size for encode in reading),
            f"features {kind} have not one name each",
        )


def own_actions(table: ConfiguredGame) -> None:
    """In the frame of a seat each move has one number, and masks and options equal the table's."""
    game, encoders = table.game, table.spec.encoder(table.game)
    order, actions = encoders.frame().order, np.arange(len(game.catalogue))
    require_equal(order.shape, (game.seats, len(actions)), "the shape of the seats' orders")
    require(all(np.array_equal(np.sort(row), actions) for row in order), "a seat's order leaves out a move")
    for kind in encoders.kinds[1:]:
        plain, two = table.raw_env(info="full"), table.raw_env(info="full", features=kind)
        moves = table.playouts[0].moves
        for move, _ in zip(follow(plain, moves), follow(two, moves), strict=True):
            if move is not None:
                own, info, seat = two.infos[two.agent_selection], plain.infos[plain.agent_selection], plain.seat
                require(
                    np.array_equal(own["action_mask"], info["action_mask"][order[seat]]),
                    f"the mask in the frame of seat {seat} is not the table's",
                )
                require_equal(
                    tuple(order[seat, list(own["legal"])]), info["legal"], f"legal moves in the frame of seat {seat}"
                )
                require_equal(own["options"], info["options"], f"options in the frame of seat {seat}")
                require_equal(
                    order[seat, two.number(move)],
                    plain.number(move),
                    f"the number of {move} in the frame of seat {seat}",
                )


# -- environments and transcripts ------------------------------------------------------------------------------


def pettingzoo_tests(table: ConfiguredGame) -> None:
    """PettingZoo's tests of the API, seeds, rendering and parallel play pass, with numbers and with words as actions."""
    try:
        with warnings.catch_warnings():  # it imports one of its games in a deprecated way
            warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
            from pettingzoo import test
    except ModuleNotFoundError as error:
        raise not_installed(error.name, "dev") from None
    test.render_test(table.env)
    for action in ("index", "text"):  # few cycles, because a cycle is a whole round
        env, parallel = partial(table.env, action=action), partial(table.parallel_env, action=action)
        test.api_test(env(), num_cycles=15)
        test.seed_test(env, num_cycles=8)
        test.parallel_api_test(parallel(), num_cycles=12)
        test.parallel_seed_test(parallel, num_cycles=3)


def gymnasium_check_env(table: ConfiguredGame) -> None:
    """Gymnasium's `check_env` passes for a single seat among random players."""
    for observation in ("features", "text"):
        env = table.raw_env(info="full")
        check_env(SeatEnv(env, "random", seat=0, observation=observation), skip_render_check=True)


def replays(table: ConfiguredGame) -> None:
    """The transcript of a game is replayed to the same moves, outcome, and observations of every seat."""
    env = table.raw_env(observation="both")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        seen = [
            {agent: env.observe(agent) for agent in env.possible_agents}
            for _ in follow(Recorder(env, path), table.playouts[0].moves)
        ]
        opened = table.spec.options.from_plain(env.game.config).opens()
        transcript = replay.Transcript.read(path, table.spec, folders=[] if opened is None else [opened])
    steps = list(replay.reenact(transcript, "both"))
    require(
        data_equivalence([dict(step.observations) for step in steps], seen, exact=True),
        "a replay shows a seat other observations",
    )
    require_equal(
        (transcript.outcome, transcript.moves), (env.outcome, tuple(env.moves)), "outcome and moves of the replay"
    )


def _check_array(array: Any, size: int) -> None:
    require_equal(array.shape, (size,), "the shape of features")
    require_equal(array.dtype, np.dtype(np.float32), "the type of features")
    require(np.all(np.abs(array) <= 1), "features lie outside of [-1, 1]")
