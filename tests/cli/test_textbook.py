"""The demonstration of mechanisms alone."""

from __future__ import annotations

import subprocess
import sys


def test_the_textbook_demonstration_runs_and_refuses() -> None:
    command = [sys.executable, "-m", "discreet", "demo", "--textbook"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert run.stderr == ""
    for expected in ("forecast, before paying", "hypertension", "refused: the budget does not admit this", "98.2%", "← charged"):
        assert expected in run.stdout
