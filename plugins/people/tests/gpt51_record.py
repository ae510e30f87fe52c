"""One small record of the form `gpt51`, made here."""

from __future__ import annotations

from functools import cache

NAMES = ("Ann", "Bo", "Cy", "Dee", "Eve")
# Cy and Dee are evil; Ann is Merlin.
ROLES = ("merlin", "good", "assassin", "evil", "good")
KNOWS: tuple[list[str], ...] = (["Cy", "Dee"], [], ["Dee"], ["Cy"], [])
SIZES = (2, 3, 2, 3, 3)
# Of each mission: its proposals as (team, who approves), then who fails. Cy leads first, then Dee, Eve, ...
# Mission 2 comes to the fifth proposal, which is not voted on; good has three successes after mission 4.
MISSIONS: list[tuple[list[tuple[str, str]], str]] = [
    ([("Ann Cy", "Cy Dee"), ("Ann Bo", "Ann Bo Eve")], ""),
    (
        [
            ("Ann Bo Cy", "Cy"),
            ("Bo Cy Dee", "Cy Dee"),
            ("Ann Bo Eve", "Ann Bo"),
            ("Ann Dee Eve", ""),
            ("Bo Cy Eve", ""),
        ],
        "Cy",
    ),
    ([("Ann Bo", "Ann Bo Cy Dee Eve")], ""),
    ([("Ann Bo Eve", "Ann Bo Eve")], ""),
]


@cache
def game_made():
    players = [
        {"name": name, "role": role, "is_good": role not in ("assassin", "evil"), "special_knowledge": known}
        for name, role, known in zip(NAMES, ROLES, KNOWS, strict=True)
    ]
    config = {"model": "a-model", "reasoning_effort": "low", "mission_team_sizes": list(SIZES)}
    config |= {"num_messages_per_player": 1, "num_players": 5}
    missions, leads, turn = [], 2, 0
    for number, (proposals, fails) in enumerate(MISSIONS, 1):
        said = []
        for k, name in enumerate(NAMES):
            content = f"{name} here: Everyone, I trust that Bo is good, Eve's plan too."
            said.append(
                {"player": name, "content": content, "timestamp": k, "global_turn_id": turn, "phase": "discussion"}
            )
            turn += 1
        votings = []
        for k, (team, approve) in enumerate(proposals):
            leader, leads = NAMES[leads % 5], leads + 1
            votes = [
                {
                    "player": name,
                    "vote": "approve" if name in approve.split() else "reject",
                    "comment": f"{leader}, no.",
                }
                for name in NAMES
            ]
            goes = k == len(proposals) - 1
            votings.append(
                {"proposal_id": k, "leader": leader, "team_members": team.split(), "reasoning": f"{team} it is."}
            )
            votings[-1] |= {"votes": [] if k == 4 else votes, "vote_result": "approved" if goes else "rejected"}
        cards = [{"player": name, "action": "fail" if name in fails.split() else "success"} for name in team.split()]
        missions.append({"mission_number": number, "discussion": said, "proposals": votings, "quest_actions": cards})
        missions[-1] |= {"final_team_index": len(votings) - 1, "fail_count": len(fails.split())}
        missions[-1]["mission_result"] = "fail" if fails else "success"
    hunt = {"assassin": "Cy", "guess": "Ann", "reasoning": "Ann led us.", "correct": True, "evil_discussion": []}
    for k, name in enumerate(("Cy", "Dee")):
        said = {"player": name, "content": "Ann is Merlin.", "timestamp": k, "global_turn_id": turn + k}
        hunt["evil_discussion"].append(said | {"phase": "evil_discussion"})
    wrote = [
        {"player_name": name, "role_played": role, "game_result": "won" if role in ("assassin", "evil") else "lost"}
        for name, role in zip(NAMES, ROLES, strict=True)
    ]
    game = {"game_id": "made_1", "config": config, "players": players, "missions": missions, "winner": "evil"}
    return game | {"assassin_phase": hunt, "post_game_reflections": wrote, "source": "made/game_1.json"}
