"""Table 9 and figures 2 to 6, 11 and 12 of Lan et al. 2023 (arXiv 2310.14985): social behaviour, measured in our transcripts.

The agent plays both sides, one after the other, against the baseline agent; the judge is the model that plays, at temperature 0.
Offline, no heuristic speaks of its role or of what the night showed it: cells about that stay empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Final

from parlour.envs.avalon.vocabulary import ASSASSIN, EVIL, GOOD, MERLIN, MORGANA, PERCIVAL, SERVANT
from parlour.policies.llm.decisions import Decisions, by_player
from parlour.training.papers import avalon_social as social
from parlour.training.papers.avalon_social.measures import Sat, valid
from parlour.training.papers.avalon_teams import AGENT, BASELINE, PRACTISED, UNPRACTISED, Club, Variant
from parlour.training.papers.cells import OpponentSetting, Reproduction, TableCell, cell, unprinted
from parlour.training.play.decisions import of_transcript
from parlour.training.statistics import Estimate

_ROLES: Final = (MERLIN, PERCIVAL, SERVANT, MORGANA, ASSASSIN)
_ONLY_A_MODEL: Final = (
    "Only a language model fills {}: heuristics never speak of their role or of what the night showed them."
)
_BY_LINE: Final = "Heuristics accuse or recommend one player a turn, by their line of play: a role that learned the line `discreet` confronts nobody."


def avalon_table_9(name: str, setting: OpponentSetting) -> Reproduction:
    """Valid response rate (Eq. 8) of the agent's replies, by role."""
    given = attrgetter("replies" if setting.model.is_language_model else "responses")
    judged, players = _judged(setting)
    ours = [seat for seat in _seats(judged) if seat.table.players[seat.seat] == AGENT]
    shares = {role: valid([seat for seat in ours if seat.role == role], given) for role in _ROLES}
    shares["average"] = _of_roles(shares.values())
    cells = [cell(name, setting.model.name, role, "VRR", share) for role, share in shares.items()]
    remarks = () if setting.model.is_language_model else ("Heuristics always answer in a form that can be read.",)
    cells = [*unprinted(name, ("LLaMA2", "GPT-3.5")), *cells]
    return _made(name, "Valid responses", setting, cells, {setting.model.name: players[AGENT]}, remarks)


def avalon_figure_2(name: str, setting: OpponentSetting) -> Reproduction:
    """Quest engagement and failure votes of the evil side; the paper prints means of the two roles."""

    def cells(player: str, of: dict[str, Any]) -> Iterator[TableCell]:
        for measure, key in (("QER", "engagement"), ("FVR", "fails")):
            yield from (cell(name, player, role, measure, of[key].get(role)) for role in (MORGANA, ASSASSIN))
            yield cell(name, player, EVIL, measure, _of_side(of[key], (MORGANA, ASSASSIN)))

    return _by_player(name, "The evil side's engagement in quests, and its fails", setting, cells)


def avalon_figure_3(name: str, setting: OpponentSetting) -> Reproduction:
    """Leader approval, self-recommendation and its success."""

    def cells(player: str, of: dict[str, Any]) -> Iterator[TableCell]:
        yield cell(name, player, GOOD, "LAR", _of_side(of["approval"], (MERLIN, PERCIVAL, SERVANT)))
        for measure, key in (
            ("LAR", "approval"),
            ("self-recommendation", "self_recommendation"),
            ("success of self-recommendation", "self_recommendation_success"),
        ):
            yield from (cell(name, player, role, measure, of[key].get(role)) for role in _ROLES)

    return _by_player(name, "Leadership and persuasion", setting, cells)


def avalon_figure_4(name: str, setting: OpponentSetting) -> Reproduction:
    """What each role does with its identity in the first round."""

    def cells(player: str, of: dict[str, Any]) -> Iterator[TableCell]:
        for role in _ROLES:
            for what, measured_share in of["identity"].get(role, {}).items():
                yield cell(name, player, role, what, measured_share if setting.model.is_language_model else None)

    return _by_player(name, "Deception in the first round", setting, cells, _ONLY_A_MODEL.format("this figure"))


def _attitudes(
    name: str,
    setting: OpponentSetting,
    *,
    title: str = "Teamwork and confrontation",
    shown: tuple[str, ...] = (AGENT,),
    learns: bool = True,
) -> Reproduction:
    """How each role meets each other role."""

    def cells(player: str, of: dict[str, Any]) -> Iterator[TableCell]:
        for role in _ROLES:
            for towards, met in of["attitudes"].get(role, {}).items():
                for attitude in ("teamwork", "confrontation"):
                    yield cell(name, player, f"{role} to {towards}", attitude, met[attitude])

    return _by_player(name, title, setting, cells, _BY_LINE, shown, learns=learns)


def avalon_figure_6(name: str, setting: OpponentSetting) -> Reproduction:
    """What Merlin and Percival share in the first round, and teamwork from round to round."""

    def cells(player: str, of: dict[str, Any]) -> Iterator[TableCell]:
        for role, shared in of["sharing"].items():
            yield cell(name, player, role, "shared in round 1", shared if setting.model.is_language_model else None)
        for role, towards in of["vacillation"].items():
            for other, rounds in towards.items():
                for number, shared in enumerate(rounds, 1):
                    yield cell(name, player, f"{role} to {other}", f"teamwork in round {number}", shared)

    return _by_player(name, "Sharing and vacillation", setting, cells, _ONLY_A_MODEL.format("the rows on sharing"))


def _by_player(
    name: str,
    title: str,
    setting: OpponentSetting,
    cells: Callable[[str, dict[str, Any]], Iterator[TableCell]],
    offline: str = "",
    shown: tuple[str, ...] = (AGENT, BASELINE),
    *,
    learns: bool = True,
) -> Reproduction:
    """A figure; the remark `offline` is made where heuristics play."""
    judged, players = _judged(setting, learns=learns)
    measured = social.measures(judged)["players"]
    all_cells = [entry for player in shown for entry in cells(player, measured[player])]
    remarks = (offline,) if offline and not setting.model.is_language_model else ()
    return _made(name, title, setting, all_cells, {player: players[player] for player in shown}, remarks)


def _seats(judged: social.Judged) -> Iterator[Sat]:
    return (Sat(table, seat) for table in judged.tables for seat in range(len(table.game.roles)))


def _judged(setting: OpponentSetting, *, learns: bool = True) -> tuple[social.Judged, dict[str, Decisions]]:
    """The games of the agent on both sides against the baseline, and whose the decisions of each were."""
    club = Club(setting, learns=learns)
    played = [club.play("full", AGENT, club.agent(Variant("full")), side) for side in (GOOD, EVIL)]
    games = [transcript for row in played for transcript in row.transcripts]
    players = by_player(
        made for game in games for made in zip(game.header["players"].values(), of_transcript(game), strict=True)
    )
    return social.judge(games, setting.model, setting.model.concurrency), players


def _of_side(of: dict[str, Any], roles: tuple[str, ...]) -> Estimate | None:
    return _of_roles(of.get(role) for role in roles)


def _of_roles(rates: Iterable[Estimate | None]) -> Estimate | None:
    """The mean of the roles' rates, as the paper prints a side's value: roles with more cases count no more."""
    return Estimate.mean_of_rates([estimate for estimate in rates if estimate is not None])


def _made(
    name: str,
    title: str,
    setting: OpponentSetting,
    cells: list[TableCell],
    players: Mapping[str, Decisions],
    remarks: tuple[str, ...] = (),
) -> Reproduction:
    ours = (
        f"Ours: {setting.games} held-out deals with the agent on each side against the baseline; "
        f"judged by {setting.model.name if setting.model.is_language_model else 'heuristics'}."
    )
    paper = "The paper shows this as a figure; only numbers from its text or tables are next to ours."
    return Reproduction(name, title, setting.model.name, tuple(cells), (paper, ours, *remarks), players)


_FIGURE_11: Final = partial(_attitudes, title="Teamwork and confrontation, with experience")
_FIGURE_12: Final = partial(_attitudes, title="Teamwork and confrontation, without experience", learns=False)
AVALON_SOCIAL_MADE: Final = {
    "avalon-9": PRACTISED(avalon_table_9),
    "avalon-fig2": PRACTISED(avalon_figure_2),
    "avalon-fig3": PRACTISED(avalon_figure_3),
    "avalon-fig4": PRACTISED(avalon_figure_4),
    "avalon-fig5": PRACTISED(partial(_attitudes, shown=(AGENT, BASELINE))),
    "avalon-fig6": PRACTISED(avalon_figure_6),
    "avalon-fig11": PRACTISED(_FIGURE_11),
    "avalon-fig12": UNPRACTISED(_FIGURE_12),
}
