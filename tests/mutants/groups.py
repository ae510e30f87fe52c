"""What is mutated, in four groups, and which tests look for the mutants. Declared here and nowhere else."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

GROUPS: dict[str, tuple[str, ...]] = {
    "rules": (
        "envs/hidden_roles/rules.py",
        "envs/*/rules.py",
        "envs/*/state.py",
        "envs/*/presets.py",
        "envs/*/choices.py",
        "envs/*/options.py",
        "envs/*/tally.py",
    ),
    "views": (
        "envs/language/text.py",
        "envs/common/frames.py",
        "envs/adapters/wording.py",
        "envs/language/headings.py",
        "envs/adapters/turn.py",
        "envs/*/text.py",
        "envs/*/prose.py",
        "envs/*/encode.py",
        "envs/*/seat_encode.py",
        "envs/*/belief.py",
        "envs/*/naming.py",
        "envs/*/vocabulary.py",
        "envs/*/vocabulary/*.py",
    ),
    "statistics": (
        "training/statistics.py",
        "training/play/asked.py",
        "training/measure/decision_tables.py",
        "training/measure/evaluate.py",
        "training/measure/avalon/measures.py",
        "training/papers/avalon_social/measures.py",
        "training/measure/werewolf/scores.py",
        "training/measure/werewolf/measures.py",
        "training/measure/murder_mystery/scores.py",
        "training/measure/murder_mystery/voting.py",
        "training/learn/mediators/quantities.py",
    ),
    "parsers": (
        "envs/language/english.py",
        "envs/replay.py",
        "envs/*/reading.py",
        "envs/mediated_qa/corpora/*.py",
        "envs/murder_mystery/cases/*.py",
        "envs/murder_mystery/wellplay/*.py",
        "policies/llm/reading.py",
        "training/records/json_objects.py",
        "training/records/avalon/*.py",
        "training/records/*.py",
        "training/records/werewolf/published.py",
        "training/measure/werewolf/transcripts.py",
    ),
}

# Tests of what is not mutated here: agents, models, kernels, servers, networks, processes, and the checkout itself.
NOT_ASKED = (
    "tests/hardening/*",
    "tests/integrations/*",
    "tests/models/test_[!d]*.py",
    "tests/mutants/*",
    *(
        f"tests/test_{name}.py"
        for name in (
            "architecture",
            "at_once",
            "avalon_agent",
            "avalon_answers",
            "avalon_baseline",
            "avalon_decide",
            "avalon_notes",
            "batch_*",
            "beginnings",
            "cli_help",
            "concurrent_games",
            "conformance",  # minutes at the larger tables
            "demo",
            "executor",
            "experts",
            "fit",
            "foreign_players",
            "grace_readers",
            "gratr_*",
            "gymnasium",
            "hardening*",
            "tuning*",
            "layers",
            "mediated_qa_learners",
            "mediated_qa_train",
            "murder_mystery_agent*",
            "murder_mystery_asks",
            "murder_mystery_prompts",
            "mutants",
            "newcomers",
            "notes",
            "outside_games",
            "pettingzoo",
            "ppo_seat",
            "questions_page",
            "questum_gain",
            "questum_reading",
            "readme",
            "reproduce_grace",
            "retrieval_memory",
            "schema_fuzz",
            "selfplay*",
            "serve*",
            "train_*",
            "trained_seat",
            "werewolf_agents",
            "werewolf_asks",
        )
    ),
)


def files(root: Path) -> dict[str, list[Path]]:
    """The files of each group, relative to `root`."""
    return {
        group: sorted({path.relative_to(root) for pattern in patterns for path in root.glob(pattern)})
        for group, patterns in GROUPS.items()
    }


def test_files(root: Path) -> list[Path]:
    """Files of tests that look for mutants, doctests of the product included, relative to `root`."""
    written = [path.relative_to(root) for path in sorted(root.glob("tests/**/test_*.py"))]
    asked = [path for path in written if not any(fnmatch(str(path), name) for name in NOT_ASKED)]
    folders = ("envs", "policies", "training", "wrappers")
    shown = [
        path
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
        if ">>> " in path.read_text("utf-8")
    ]
    return [*asked, *(path.relative_to(root) for path in shown)]
