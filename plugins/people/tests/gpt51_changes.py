"""Single changes of a record of the form `gpt51`: of every field that the rules bind, and of every field that is a choice."""

from __future__ import annotations

from tests.training.records.bound import GONE, Way

ROLES = ("merlin", "percival", "good", "evil", "assassin", "morgana", "mordred", "oberon")


def bound(game):
    """Changes of single fields that contradict the rules or what the rest of the record tells."""
    names = [player["name"] for player in game["players"]]
    yield from _players(game, names)
    yield from _config(game)
    for number, mission in enumerate(game["missions"]):
        way: Way = ("missions", number)
        yield (*way, "mission_number"), number + 2
        yield from _statements((*way, "discussion"), mission["discussion"], names)
        for turn, proposal in enumerate(mission["proposals"]):
            yield from _proposal((*way, "proposals", turn), mission, proposal, names)
        yield (*way, "proposals"), mission["proposals"][:-1]
        yield (*way, "proposals"), [*mission["proposals"], mission["proposals"][-1]]
        yield from _quest(way, mission, names)
    yield ("missions",), game["missions"][:-1]
    yield ("missions",), [*game["missions"], game["missions"][-1]]
    yield from _end(game, names)


def _players(game, names):
    for k, player in enumerate(game["players"]):
        way = ("players", k)
        yield (*way, "name"), "Zoe"
        yield (*way, "name"), names[k - 1]
        yield (*way, "is_good"), not player["is_good"]
        yield from (((*way, "role"), role) for role in ROLES if role != player["role"])
        known = player["special_knowledge"]
        yield (*way, "special_knowledge"), [*known, next(name for name in names if name not in known)]
        if known:
            yield (*way, "special_knowledge"), known[1:]
        yield from (((*way, key), GONE) for key in player)
    yield ("players",), game["players"][:-1]


def _config(game):
    sizes = game["config"]["mission_team_sizes"]
    for k, size in enumerate(sizes):
        yield ("config", "mission_team_sizes", k), size + 1
        yield ("config", "mission_team_sizes", k), size - 1
    yield ("config", "mission_team_sizes"), sizes[:-1]
    yield ("config", "num_messages_per_player"), 2
    if "num_players" in game["config"]:
        yield ("config", "num_players"), game["config"]["num_players"] + 1


def _statements(way, said, names):
    for k, message in enumerate(said):
        yield (*way, k, "player"), names[names.index(message["player"]) - 1]
        yield (*way, k, "timestamp"), message["timestamp"] + 1
        yield (*way, k, "global_turn_id"), message["global_turn_id"] - 1
        yield (*way, k, "phase"), "discussion" if message["phase"] != "discussion" else "evil_discussion"
        for key in ("player", "content", "timestamp", "global_turn_id", "phase"):
            yield (*way, k, key), GONE
    yield way, said[:-1]
    yield way, [*said, said[-1]]
    yield way, said[::-1]


def _proposal(way, mission, proposal, names):
    last = proposal is mission["proposals"][-1]
    team, votes = proposal["team_members"], proposal["votes"]
    outside = next(name for name in names if name not in team)
    yield (*way, "proposal_id"), proposal["proposal_id"] + 1
    yield from (((*way, "leader"), name) for name in names if name != proposal["leader"])
    yield (*way, "team_members"), team[:-1]
    yield (*way, "team_members"), [*team, outside]
    yield (*way, "team_members"), [*team[:-1], team[0]]
    yield (*way, "team_members"), [*team[:-1], "Zoe"]
    if last:
        yield (*way, "team_members"), [*team[:-1], outside]
    yield (*way, "vote_result"), "rejected" if last else "approved"
    yield from (
        ((*way, key), GONE) for key in ("proposal_id", "leader", "team_members", "reasoning", "votes", "vote_result")
    )
    for k, vote in enumerate(votes):
        yield (*way, "votes", k, "player"), votes[k - 1]["player"]
        yield (*way, "votes", k, "vote"), "abstain"
        yield from (((*way, "votes", k, key), GONE) for key in ("player", "vote", "comment"))
        if decides(votes, vote):
            yield (*way, "votes", k, "vote"), opposite(vote)
    yield (*way, "votes"), votes[:-1] if votes else [{"player": names[0], "vote": "reject", "comment": ""}]


def decides(votes, vote):
    """Whether more than half approve with this vote or without it, and not both."""
    approvals = sum(vote["vote"] == "approve" for vote in votes)
    after = approvals + (1 if vote["vote"] == "reject" else -1)
    return (2 * approvals > len(votes)) != (2 * after > len(votes))


def opposite(vote):
    return "approve" if vote["vote"] == "reject" else "reject"


def _quest(way, mission, names):
    cards = mission["quest_actions"]
    team = [card["player"] for card in cards]
    for k, card in enumerate(cards):
        yield (*way, "quest_actions", k, "player"), next(name for name in names if name not in team)
        yield (*way, "quest_actions", k, "player"), team[k - 1]
        yield (*way, "quest_actions", k, "action"), "fail" if card["action"] == "success" else "success"
        yield from (((*way, "quest_actions", k, key), GONE) for key in ("player", "action"))
    yield (*way, "quest_actions"), cards[:-1]
    yield (*way, "final_team_index"), mission["final_team_index"] + 1
    yield (*way, "final_team_index"), mission["final_team_index"] - 1
    yield (*way, "mission_result"), "fail" if mission["mission_result"] == "success" else "success"
    yield (*way, "fail_count"), mission["fail_count"] + 1
    yield (*way, "fail_count"), bool(mission["fail_count"])
    wanted = (
        "mission_number",
        "discussion",
        "proposals",
        "final_team_index",
        "quest_actions",
        "mission_result",
        "fail_count",
    )
    yield from (((*way, key), GONE) for key in wanted)


def _end(game, names):
    yield ("winner",), "good" if game["winner"] == "evil" else "evil"
    yield ("winner",), None
    yield ("winner",), GONE
    hunt = game.get("assassin_phase")
    if hunt:
        yield from _hunt(game, hunt, names)
    else:
        phase = {"assassin": names[0], "guess": names[1], "evil_discussion": [], "reasoning": "", "correct": False}
        yield ("assassin_phase",), phase
    for k, reflection in enumerate(game.get("post_game_reflections") or []):
        way = ("post_game_reflections", k)
        yield (*way, "role_played"), ROLES[ROLES.index(reflection["role_played"]) - 1]
        yield (*way, "game_result"), "won" if reflection["game_result"] == "lost" else "lost"
        yield (*way, "player_name"), "Zoe"
        yield from (((*way, key), GONE) for key in ("player_name", "role_played", "game_result"))


def _hunt(game, hunt, names):
    way = ("assassin_phase",)
    merlin = next(player["name"] for player in game["players"] if player["role"] == "merlin")
    yield way, None
    yield way, GONE
    yield from (((*way, "assassin"), name) for name in names if name != hunt["assassin"])
    yield from _statements((*way, "evil_discussion"), hunt["evil_discussion"], names)
    yield (*way, "guess"), hunt["assassin"]
    yield (*way, "correct"), not hunt["correct"]
    if hunt["correct"]:
        yield from (((*way, "guess"), name) for name in names if name != hunt["guess"])
    else:
        yield (*way, "guess"), merlin
    yield from (((*way, key), GONE) for key in ("assassin", "evil_discussion", "guess", "reasoning", "correct"))


def choices(game):
    """Changes of single fields that make another game that may be played, or other words."""
    names = [player["name"] for player in game["players"]]
    for number, mission in enumerate(game["missions"]):
        way = ("missions", number)
        for k, _ in enumerate(mission["discussion"]):
            yield (*way, "discussion", k, "content"), "Something else."
        for turn, proposal in enumerate(mission["proposals"]):
            yield (*way, "proposals", turn, "reasoning"), "Something else."
            team = proposal["team_members"]
            if proposal is not mission["proposals"][-1]:
                outside = next(name for name in names if name not in team)
                yield (*way, "proposals", turn, "team_members"), [outside, *team[1:]]
            for k, vote in enumerate(proposal["votes"]):
                yield (*way, "proposals", turn, "votes", k, "comment"), "Something else."
                if not decides(proposal["votes"], vote):
                    yield (*way, "proposals", turn, "votes", k, "vote"), opposite(vote)
            yield (*way, "proposals", turn, "votes"), proposal["votes"][::-1]  # the order is not that of the seats
    yield ("config", "num_players"), None
    yield ("players", 0, "special_knowledge"), game["players"][0]["special_knowledge"][::-1]
