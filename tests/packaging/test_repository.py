"""What surrounds the code: workflow, templates, hooks and citation can be read, and say the same as Makefile and pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import discreet

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GITHUB = ROOT / ".github"
YAML = [*sorted(GITHUB.rglob("*.yml")), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", GITHUB / "pull_request_template.md"]
TARGETS = set(re.findall(r"^([a-z][a-z-]*):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def called(text: str) -> set[str]:
    """The targets of all `make` commands in a text."""
    return set(re.findall(r"(?:^|`|\brun: )make ([a-z][a-z-]*)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def workflow() -> Any:
    return loaded(GITHUB / "workflows" / "test.yml")


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_every_file_can_be_read(path: Path) -> None:
    assert isinstance(loaded(path), dict)


def test_the_workflow_calls_targets_that_exist(workflow: Any) -> None:
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    wanted = {"test", "test-lowest", "test-postgres", "demo", "docs", "dist"}
    assert set().union(*map(called, commands)) == wanted
    assert wanted <= TARGETS


def test_the_workflow_tries_the_pythons_that_are_declared(workflow: Any) -> None:
    told = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == told
    assert PROJECT["requires-python"] == f">={told[0]}"
    used = {
        step["with"]["python-version"]
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "setup-python" in step.get("uses", "")
    }
    assert used - {"${{ matrix.python }}"} <= set(told)


def test_the_workflow_has_the_engines(workflow: Any) -> None:
    jobs = workflow["jobs"]
    assert any("setup-java" in step.get("uses", "") for step in jobs["test"]["steps"])
    assert jobs["postgresql"]["services"]["postgres"]["image"].startswith("postgres:")
    assert "DISCREET_TEST_POSTGRES" in jobs["postgresql"]["env"]
    assert "DISCREET_TEST_POSTGRES" in (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")


def test_every_job_ends_and_may_only_read(workflow: Any) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    assert all({"push", "pull_request"} <= set(workflow[key]) for key in workflow if key in ("on", True))  # YAML 1.1 reads on as True


def test_hooks_are_the_tools_of_make_check() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    hooks = [hook for repo in loaded(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {hook["id"] for hook in hooks} == {"ruff", "ruff-format", "mypy", "architecture"}
    for hook in hooks:
        program, *words = hook["entry"].split()
        assert hook["language"] == "system"
        assert program.startswith(".venv/bin/")
        command = " ".join([program.replace(".venv/bin", "$(BIN)"), *(word for word in words if word != "--force-exclude")])
        assert command in makefile


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[0-9]*.yml")), ids=lambda path: path.stem)
def test_issue_forms(path: Path) -> None:
    form = loaded(path)
    assert {"name", "description", "body"} <= set(form)
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids)) > 0
    assert {part["type"] for part in form["body"]} <= {"markdown", "textarea", "input", "checkboxes", "dropdown"}
    assert all(part["attributes"].get("label") for part in form["body"] if part["type"] != "markdown")


def test_a_privacy_report_is_not_written_in_public() -> None:
    form = loaded(GITHUB / "ISSUE_TEMPLATE" / "3-privacy.yml")
    assert "SECURITY.md" in form["body"][0]["attributes"]["value"]
    assert not [part for part in form["body"] if part["type"] == "textarea"]
    assert "## Reporting" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version() -> None:
    cited = loaded(ROOT / "CITATION.cff")
    assert cited["cff-version"] == "1.2.0"
    assert (cited["title"], str(cited["version"])) == (PROJECT["name"], discreet.__version__)
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == PROJECT["authors"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_and_links_of_pages_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert called(text) <= TARGETS
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_readers_can_tell_a_command_that_is_not_there() -> None:
    assert called("`make tea` and\nmake docs WORKERS=2\nthey make sense") == {"tea", "docs"}
    assert "tea" not in TARGETS
    assert {"check", "test", "demo"} <= TARGETS
