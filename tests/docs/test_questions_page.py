"""docs/howto/questions.md says what is true: its player plays, its question is read back, its command lines exist."""

from __future__ import annotations

import json
import re
import sys
from types import SimpleNamespace

import pytest
from parlour.policies.llm.ask import ASKS
from parlour.policies.llm.server.protocol import parsed
from parlour.training import cli

from tests import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "howto" / "questions.md").read_text("utf-8")
PLAYER, MIRROR = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "cautious.py").write_text(PLAYER, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("cautious", "mirror"):
        sys.modules.pop(name, None)
    for kind in ("cautious.doubt", "mirror.look"):
        ASKS.pop(kind, None)


def test_the_player_of_the_page_plays(module, capsys):
    words = ["play", "avalon_v0", "--players", "5", "--policy", "cautious:Cautious", "--json", "--out", "runs"]
    assert cli.run(words) == 0
    (transcript,) = (module / "runs").glob("*.jsonl")
    calls = [call for line in transcript.read_text("utf-8").splitlines() for call in json.loads(line).get("calls", [])]
    assert {call["ask"] for call in calls} == {"cautious.doubt"}
    assert calls[0]["answer"]["reasons"] == "It comes last."


def test_the_module_of_the_page_is_asked_at_each_analysis(module):
    (module / "mirror.py").write_text(MIRROR, "utf-8")
    words = ["play", "avalon_v0", "--players", "5", "--policy", "mirror:MirrorAgent", "--json", "--out", "runs"]
    assert cli.run(words) == 0
    (transcript,) = (module / "runs").glob("*.jsonl")
    steps = [json.loads(line).get("calls", []) for line in transcript.read_text("utf-8").splitlines()]
    asked = [call["ask"] for calls in steps for call in calls]
    assert asked.count("mirror.look") == asked.count("avalon_agent.analyse") > 20


def test_a_question_of_the_page_is_shown(module, output_of):
    shown = output_of(["show", "question", "cautious.doubt", "--policy", "cautious:Cautious", "--players", "5"])
    assert "# cautious.doubt" in shown
    assert "Choose the option that is easiest to take back." in shown


def test_show_question_names_what_is_wrong_with_a_player(module, error_of):
    assert "policy 'heuristic' is not accepted" in error_of(
        ["show", "question", "cautious.doubt", "--policy", "heuristic"]
    )
    error = error_of(["show", "question", "cautious.doubt", "--policy", "avalon_agent", "--game", "werewolf_v0"])
    assert "question 'cautious.doubt' is not accepted" in error


@pytest.mark.parametrize(
    ("player", "kind", "by_policy"),
    [("cautious:Cautious", "cautious.doubt", True), ("mirror:MirrorAgent", "mirror.look", False)],
)
def test_the_substitute_for_a_model_answers_the_questions_of_the_page(player, kind, by_policy, module, monkeypatch):
    app = pytest.importorskip("parlour.policies.llm.server.app", reason="the extra `serve` is not installed")
    (module / "mirror.py").write_text(MIRROR, "utf-8")
    services = []

    def listening(service, host, port):
        services.append(service)
        return SimpleNamespace(url=f"http://{host}:{port}", run=lambda: None)

    monkeypatch.setattr(app.Service, "listening_at", listening)
    assert cli.run(["serve", "endpoint", "--policy", player]) == 0
    (service,) = services
    assert (service.policy is not None) == by_policy
    if by_policy:
        question = ASKS[kind](text="Nothing yet.", options={"option 10": "I wait.", "option 11": "I speak."})
        message = {"role": "user", "content": question.prompt()}
        body = parsed(json.dumps({"model": "m", "messages": [message]}).encode())
        answer = service.policy.answering(body, lambda: False)
        assert json.loads(answer(0)) == {"reasons": "It comes last.", "choice": "option 11"}
    assert kind in ASKS


def test_the_folder_of_another_wording(tmp_path, output_of):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "avalon_agent.act.md").write_text("Do something.", "utf-8")
    assert "\nDo something.\n" in output_of(["show", "question", "avalon_agent.act", "--prompts", str(tmp_path)])


@pytest.mark.parametrize("page", ["howto/questions.md", "howto/models.md"])
def test_every_option_that_a_page_names_exists(page):
    known = set()
    for words in ("play", "show question", "evaluate", "serve endpoint"):
        known |= {
            name for parameter in cli.command_of(words).params for name in (*parameter.opts, *parameter.secondary_opts)
        }
    assert set(re.findall(r"--[a-z][a-z-]+", (DOCS / page).read_text("utf-8"))) <= known | {"--help", "--json"}
