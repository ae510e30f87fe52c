"""scripts/mutants: which changes are made, that a sample is its seed's, that a mutant is found or survives, the table."""

from __future__ import annotations

import ast
import gc
import importlib.util
import json

import pytest
from mutants import fresh, reach, report, sample, trials
from mutants.__main__ import tests_of as chosen_tests
from mutants.operators import edits


def changes(source: str) -> list[str]:
    """The module with each of its mutants, one by one."""
    texts = []
    for number in range(len(edits(ast.parse(source)))):
        tree = ast.parse(source)
        edits(tree)[number].apply()
        texts.append(ast.unparse(ast.fix_missing_locations(tree)))
    return texts


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", ["a <= b"]),
        ("a in b", ["a not in b"]),
        ("a == b == c", ["a != b == c", "a == b != c"]),
        ("a and b", ["a or b"]),
        ("not a", ["a"]),
        ("a + 1", ["a - 1", "a + 2"]),
        ("x = 5", ["x = None", "x = 6"]),
        ("x[1:]", ["x[:]", "x[2:]"]),
        ("f(a, b)", ["pass", "f(b, a)", "f(None, b)", "f(a, None)"]),
        ("y = f(k=a)[0]", ["y = None", "y = f()[0]", "y = f(k=a)[1]"]),
        ("y.z = min(*a)", ["y.z = max(*a)"]),
        ("for x in y:\n    break", ["for x in y:\n    continue"]),
        ("if a:\n    b", ["if not a:\n    b"]),
        ("z.y = [x for x in y if x]", ["z.y = [x for x in y if not x]", "z.y = [x for x in y if True]"]),
    ],
)
def test_each_kind_of_change(source, mutants):
    assert changes(source) == mutants


@pytest.mark.parametrize(
    "source",
    [
        '"""Says what it is."""',
        "x: int",
        "def f(a: 'B') -> 'C':\n    pass",
        "@dataclass(frozen=True)\nclass A:\n    pass",
        "if TYPE_CHECKING:\n    x = 3",
        "raise ParlourError(f'seat {seat + 1} is not accepted')",
        "x.y = 'words with blanks'",
        "x.y = f'seat {1 + 1}'",
        "Side = Literal['good', 'evil']",
        "__all__ = ['a']",
    ],
)
def test_what_tests_cannot_hold_is_left_alone(source):
    assert changes(source) == []


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A product of one file, a group of its own."""
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "seats.py").write_text("LEAST = 5\n\n\ndef enough(n):\n    return n >= LEAST\n")
    monkeypatch.setattr(sample.groups, "GROUPS", {"rules": ("envs/*.py",)})
    monkeypatch.setattr(trials, "ROOT", tmp_path)
    return tmp_path


def test_a_sample_is_its_seeds_alone_and_without_repeats(tree):
    assert sample.draw(tree, 0, 3) == sample.draw(tree, 0, 3)
    assert len(set(sample.draw(tree, 0, 100))) == 4  # 5 -> None, 5 -> 6; return None, >= -> >
    assert len({tuple(sample.draw(tree, seed, 1)) for seed in range(30)}) == 4


def test_a_change_says_where_it_is_and_when_it_works(tree):
    made = [sample.change(tree, mutant) for mutant in sample.draw(tree, 0, 4)]
    assert [(c.kind, c.line, c.place, c.deferred) for c in made] == [
        ("assignment", 1, "envs/seats.py:", False),
        ("constant", 1, "envs/seats.py:", False),
        ("return", 5, "envs/seats.py:enough", True),
        ("comparison", 5, "envs/seats.py:enough", True),
    ]
    assert made[3].difference == "- return n >= LEAST\n+ return n > LEAST"
    assert made[3].source == "LEAST = 5\n\ndef enough(n):\n    return n > LEAST\n"


@pytest.mark.parametrize("frozen", [False, True], ids=["", "kept from the garbage collector, as conftest does"])
def test_a_mutant_is_put_in_where_the_function_stands(tree, frozen):
    spec = importlib.util.spec_from_file_location("seats", tree / "envs" / "seats.py")
    seats = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(seats)
    enough = seats.enough
    if frozen:
        gc.freeze()
    assert trials.put_in(sample.Mutant("rules", "envs/seats.py", 3)) == 1
    assert (enough(5), enough(6)) == (False, True)
    gc.freeze()  # `put_in` let go of what conftest froze


def test_tests_written_for_a_function_come_before_those_that_pass_through_it(tree):
    comparison = sample.change(tree, sample.Mutant("rules", "envs/seats.py", 3))
    constant = sample.change(tree, sample.Mutant("rules", "envs/seats.py", 1))
    seconds = {"a::broad": 0.1, "a::own": 2.0, "a::long": 60.0, "a::kept": 0.2, "b::beside": 0.3, "c::other": 0.1}
    breadth = {"a::broad": 50, "a::own": 1, "a::long": 9, "a::kept": 0, "b::beside": 3, "c::other": 1}
    entered = {
        "envs/seats.py:enough": ["a::broad", "a::own", "a::long"],
        "envs/seats.py:few": ["b::beside"],
        "envs/x.py:f": ["c::other"],
    }
    seen = reach.Map(seconds, breadth, entered)

    def tests(changed, budget):
        return chosen_tests(changed, "envs/seats.py", seen, budget)

    # the long one does not fit; one that goes by what another test of its file has made looks, too
    assert tests(comparison, 10.0) == (["a::broad", "a::own"], ["a::kept", "b::beside"])
    assert tests(comparison, 2.0) == (["a::broad"], ["a::kept", "b::beside"])  # 2.0 s are more than half of 2.0 s
    assert tests(comparison, 0.05) == (["a::broad"], [])  # one at least
    assert tests(constant, 10.0) == ([], ["a::broad", "b::beside", "a::own"])  # at import: the file


def test_a_file_that_holds_a_mutant_is_put_back_after_a_run_that_was_killed(tree):
    file = tree / "envs" / "seats.py"
    before = file.read_text()
    tree.with_name(f"{tree.name}.kept.json").write_text(json.dumps(["envs/seats.py", before]))
    file.write_text("LEAST = 6\n")
    fresh.restore(tree)
    assert file.read_text() == before
    fresh.restore(tree)  # there is nothing more to put back
    assert file.read_text() == before


def test_hanging_counts_as_killed_and_survivors_are_shown(tmp_path):
    row = {"group": "rules", "kind": "return", "line": 5, "tests": 2, "difference": "- a\n+ b"}
    ends = ["killed"] * 7 + ["timeout", "survived", "survived"]
    rows = [{**row, "name": f"envs/seats.py#{i}", "end": end} for i, end in enumerate(ends)]
    shown = report.text(json.loads(json.dumps(rows)))
    assert "rules              10        7        1        2    80.0 %" in shown
    assert shown.endswith("envs/seats.py#9 line 5, return, 2 tests\n- a\n+ b")


def test_tests_are_mapped_again_when_their_file_changes(tmp_path):
    rows = [
        {"test": "test_a.py::one", "seconds": 0.5, "file": "test_a.py", "stamp": "old", "places": ["f", "g"]},
        {"test": "test_b.py::two", "seconds": 0.25, "file": "test_b.py", "stamp": "same", "places": ["g"]},
        {"done": "test_a.py", "stamp": "old"},
        {"done": "test_b.py", "stamp": "same"},
    ]
    kept = tmp_path / "reach.jsonl"
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stamps = {"test_a.py": "new", "test_b.py": "same"}
    assert stamps.items() - reach.done(kept) == {("test_a.py", "new")}
    seen = reach.read(kept, stamps)
    assert (seen.seconds, seen.breadth, seen.tests) == (
        {"test_b.py::two": 0.25},
        {"test_b.py::two": 1},
        {"g": ["test_b.py::two"]},
    )
