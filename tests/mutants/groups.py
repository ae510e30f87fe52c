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
    "tests/policies/llm/transport/test_[!d]*.py",
    "tests/mutants/*",
    "tests/test_hardening*.py",
    "tests/test_mutants.py",
    "tests/docs/test_batch_page.py",
    "tests/docs/test_newcomers.py",
    "tests/docs/test_questions_page.py",
    "tests/docs/test_readme.py",
    "tests/envs/adapters/test_pettingzoo.py",
    "tests/envs/batch/test_avalon.py",
    "tests/envs/batch/test_avalon_habits.py",
    "tests/envs/batch/test_compiled.py",
    "tests/envs/batch/test_werewolf.py",
    "tests/envs/testing/test_conformance.py",
    "tests/policies/adapters/test_foreign_players.py",
    "tests/policies/agents/avalon/test_agent.py",
    "tests/policies/agents/avalon/test_answers.py",
    "tests/policies/agents/avalon/test_baseline.py",
    "tests/policies/agents/avalon/test_decide.py",
    "tests/policies/agents/avalon/test_notes.py",
    "tests/policies/agents/mediated_qa/test_readers.py",
    "tests/policies/agents/murder_mystery/questum/test_gain.py",
    "tests/policies/agents/murder_mystery/questum/test_reading.py",
    "tests/policies/agents/murder_mystery/test_agents.py",
    "tests/policies/agents/murder_mystery/test_asks.py",
    "tests/policies/agents/murder_mystery/test_leaks.py",
    "tests/policies/agents/murder_mystery/test_prompts.py",
    "tests/policies/agents/werewolf/gratr/test_agent.py",
    "tests/policies/agents/werewolf/gratr/test_equations.py",
    "tests/policies/agents/werewolf/gratr/test_explain.py",
    "tests/policies/agents/werewolf/gratr/test_recorded.py",
    "tests/policies/agents/werewolf/gratr/test_reliability.py",
    "tests/policies/agents/werewolf/gratr/test_retrieval.py",
    "tests/policies/agents/werewolf/test_agents.py",
    "tests/policies/agents/werewolf/test_asks.py",
    "tests/policies/experts/test_experts.py",
    "tests/policies/heuristic/batch/test_avalon.py",
    "tests/policies/heuristic/batch/test_werewolf.py",
    "tests/policies/llm/server/test_clients.py",
    "tests/policies/llm/server/test_serve.py",
    "tests/policies/llm/test_at_once.py",
    "tests/policies/llm/test_fit.py",
    "tests/policies/llm/test_schema_fuzz.py",
    "tests/policies/retrieval/test_memory.py",
    "tests/policies/test_trained.py",
    "tests/training/cli/test_help.py",
    "tests/training/cli/test_own_games.py",
    "tests/training/learn/batch/test_play.py",
    "tests/training/learn/mediators/test_train.py",
    "tests/training/learn/ppo/test_seat.py",
    "tests/training/learn/reliability/test_run.py",
    "tests/training/learn/selfplay/test_beliefs.py",
    "tests/training/learn/selfplay/test_crossplay.py",
    "tests/training/learn/selfplay/test_selfplay.py",
    "tests/training/learn/test_practice.py",
    "tests/training/learn/tuning/test_gratr.py",
    "tests/training/learn/tuning/test_processes.py",
    "tests/training/learn/tuning/test_questum.py",
    "tests/training/learn/tuning/test_tuning.py",
    "tests/training/papers/test_demo.py",
    "tests/training/papers/test_grace.py",
    "tests/training/play/parallel/test_concurrent_games.py",
    "tests/training/play/parallel/test_executor.py",
    "tests/wrappers/test_batch_seat_env.py",
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
