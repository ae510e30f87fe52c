"""The package: its metadata, citation, workflows and images say the same as each other, and the wheel has every file."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from package_files import FOLDERS, differences, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [match[1] for line in PROJECT["classifiers"] if (match := re.fullmatch(r".* :: Python :: (3\.\d+)", line))]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
yaml = pytest.importorskip("yaml")


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


# -- metadata --------------------------------------------------------------------------------------------------


def test_the_accepted_versions_of_python_are_those_of_the_classifiers():
    """`>=3.11,<3.12` accepts what the classifier `3.11` names, and nothing that was not run."""
    minors = [int(version.partition(".")[2]) for version in PYTHONS]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert PROJECT["requires-python"] == f">=3.{minors[0]},<3.{minors[-1] + 1}"
    script = (ROOT / "scripts" / "_venv.sh").read_text(encoding="utf-8")
    assert f"not (3, {minors[0]}) <= sys.version_info < (3, {minors[-1] + 1})" in script


def test_the_citation_and_the_changelog_name_the_version_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["version"]
    assert (cited["title"], cited["license"]) == (PROJECT["name"], PROJECT["license"])
    assert [author["name"] for author in cited["authors"]] == [author["name"] for author in PROJECT["authors"]]
    # no public address is made up: an owner who has one adds it to the metadata, the citation, and here
    assert "urls" not in PROJECT
    assert not {"url", "repository", "repository-code", "doi"} & set(cited)
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    if released:
        assert released[0] == f"{cited['version']} - {cited['date-released']}"


# -- workflows and images --------------------------------------------------------------------------------------


def test_workflows_for_documentation_tests_and_wheels_may_only_read_and_end_by_themselves():
    assert [path.stem for path in WORKFLOWS] == ["docs", "tests", "wheels"]
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}, path
        assert all(job["timeout-minutes"] <= 120 for job in jobs(path).values()), path
    assert jobs(WORKFLOWS[1])["core"]["strategy"]["matrix"]["python"] == PYTHONS


def test_every_action_is_pinned_to_one_version_and_every_command_is_a_script_of_the_repository():
    steps = [step for path in WORKFLOWS for job in jobs(path).values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", action) for action in used)
    run = [step["run"].split()[0] for step in steps if "run" in step]
    assert run
    for script in run:
        assert (ROOT / script).stat().st_mode & 0o111, script


def test_the_image_is_made_from_files_that_are_there():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert set(FOLDERS) < set(copied)
    assert all((ROOT / name).exists() for name in copied)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied)
    (base,) = (line for line in lines if line.startswith("FROM "))
    assert re.fullmatch(r"FROM python:(3\.\d+)-slim-bookworm", base)[1] in PYTHONS
    extras = re.search(r"^ARG EXTRAS=(.*)$", "\n".join(lines), re.MULTILINE)[1].split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])


def test_the_development_container_installs_by_the_script_of_all_others():
    data = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert re.search(r"python:1-(3\.\d+)-bookworm", data["image"])[1] in PYTHONS
    assert data["postCreateCommand"] == "bash -c '. scripts/_venv.sh dev'"


# -- files -----------------------------------------------------------------------------------------------------


def test_a_file_that_a_wheel_lacks_or_has_beyond_git_is_named(tmp_path):
    wheel = tmp_path / "one.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        for name in ("parlour/envs/core.py", "parlour/envs/core.nbi", "one.dist-info/METADATA"):
            made.writestr(name, "")
    problems = differences(wheel, None, ["envs/core.py", "policies/experts/data/a.npz", "tests/test_a.py"])
    assert problems == [
        "one.whl: parlour/policies/experts/data/a.npz is missing",
        "one.whl: parlour/envs/core.nbi is not in git",
    ]


def test_the_wheel_has_every_file_of_the_four_folders(tmp_path):
    """Built from a copy of what git has, with a compiled kernel lying about as Numba leaves them."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: without git there is nothing to compare with")
    files = [name for name in tracked() if (ROOT / name).is_file()]
    for name in files:
        if name.split("/")[0] in FOLDERS or "/" not in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "envs" / "batch" / "kernel.nbi").write_bytes(b"")
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    command = [sys.executable, "-W", "ignore", "-c", build, str(tmp_path / "dist")]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-2000:]
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert differences(wheel, None, files) == []


def test_the_picture_of_the_readme_is_there_and_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert named
    assert all((ROOT / name).stat().st_size < 150_000 for name in named)
    assert text.index(named[0]) < text.index("\n## ")  # in the first screen
