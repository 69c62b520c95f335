"""The pages on serving: every test that is named exists, every command and file of settings is one."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
from generate import blocks

from discreet.cli.app import COMMANDS
from discreet.server.settings import read_settings

ROOT = Path(__file__).parents[2]
PAGE, CHECKS = ROOT / "docs" / "serving" / "index.md", ROOT / "docs" / "serving" / "security-checks.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", CHECKS.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda part: part.rsplit("/", 1)[-1])
def test_every_test_that_is_named_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_check_has_a_test_and_every_file_of_checks_is_named() -> None:
    rows = [line for line in CHECKS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 25
    assert all("::test_" in row for row in rows)
    files = {f"tests/server/{path.name}" for path in (ROOT / "tests" / "server").glob("test_security_*.py")}
    assert files <= {file for file, _ in NAMED}


def test_commands_and_settings_are_as_they_are_written(tmp_path: Path) -> None:
    known = {command.__name__ for command in COMMANDS}
    for block in blocks.read(PAGE).blocks:
        match block.language:
            case "sh":
                called = [shlex.split(line) for line in block.text.splitlines() if line.strip()]
                assert all(words[1] in known for words in called if words[0] == "discreet")
            case "toml":
                (tmp_path / "serve.toml").write_text(block.text, encoding="utf-8")
                (tmp_path / "oidc.secret").write_text("a client's secret")
                assert read_settings(tmp_path / "serve.toml", {}, {})["policies"]
            case other:
                pytest.fail(f"a block of {other}, which nobody runs")
