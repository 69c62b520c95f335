"""Terminals that lack characters, disks that are full, readers that have gone: a plain answer or a plain error, and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet

SOURCE = str(Path(discreet.__file__).parents[1])
NARROW = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "latin-1"}]
COUNT = "SELECT dept, COUNT(*) AS n FROM visits WHERE dept <> 'ärzte' GROUP BY dept"


def discreet_on(env: dict[str, str], *words: object, **how: Any) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    command = [sys.executable, "-m", "discreet", *map(str, words)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run(command, env={**clean, "PYTHONPATH": SOURCE, "COLUMNS": "160", **env}, timeout=120, check=False, **streams)


@pytest.mark.parametrize("env", NARROW)
def test_a_terminal_that_lacks_characters(env: dict[str, str], project: Path) -> None:
    """It died with "a mistake in discreet"; what it cannot show is spelt, and JSON says the same in any encoding."""
    ran = discreet_on(env, "ask", project, COUNT, "--epsilon", "0.5")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"epsilon = 0.5" in ran.stdout
    ran = discreet_on(env, "budget", project, "--json")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert json.loads(ran.stdout)["history"][0]["asked"] == COUNT


def test_help_on_a_terminal_that_lacks_characters() -> None:
    ran = discreet_on(NARROW[0], "grant", "--help")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"epsilon" in ran.stdout


def test_errors_on_a_terminal_that_lacks_characters(project: Path) -> None:
    ran = discreet_on({"PYTHONIOENCODING": "ascii"}, "ask", project, "SELECT ü FROM visits", "--epsilon", "0.5")
    assert ran.returncode == 3
    assert b"mistake" not in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk(project: Path) -> None:
    with open("/dev/full", "wb") as full:
        for words in (("ask", project, COUNT, "--epsilon", "0.5"), ("--help",), ("--version",)):
            ran = discreet_on({}, *words, stdout=full)
            assert ran.returncode == 1, words
            assert ran.stderr.decode().strip() == (
                "output: the output could not be written: make room, or write it elsewhere, and ask again. "
                "What was paid for is kept, so that is free"
            )
        assert discreet_on({}, "ask", project, "SELECT", stdout=full, stderr=full).returncode == 3
    again = discreet_on({}, "ask", project, COUNT, "--epsilon", "0.5")
    assert again.returncode == 0
    assert json.loads(discreet_on({}, "budget", project, "--json").stdout)["spent"]["epsilon"] == "1/2"


def test_a_reader_that_has_gone(project: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = discreet_on({}, "budget", project, stdout=writer)
    os.close(writer)
    assert ran.returncode == 1
    assert ran.stderr == b""
