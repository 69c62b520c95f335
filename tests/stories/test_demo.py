"""The demonstration and the public names, as a newcomer meets them."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import discreet


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, float]:
    """What the demonstration prints, where it leaves its files, and how long it took."""
    folder, began = tmp_path_factory.mktemp("demo"), time.perf_counter()
    command = [sys.executable, "-m", "discreet", "demo", "--folder", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=None)
    assert run.stderr == ""
    return run.stdout, folder, time.perf_counter() - began


def test_six_questions_with_forecasts_beside_them(shown: tuple[str, Path, float]) -> None:
    text = shown[0]
    assert [f"{number}. " in text for number in range(1, 7)] == [True] * 6
    assert "1,000,000 visits by 100,000 people" in text
    assert re.search(r"general +[\d,]+ ± \d+ +± \d+ +[\d,]+", text)
    assert re.search(r"oncology.* \d+\.\d ± \d\.\d +± \d\.\d +\d+\.\d", text)
    assert re.search(r"median_cost +forecast +exactly", text)
    assert "ear infection" in text


def test_what_few_people_have_stays_hidden(shown: tuple[str, Path, float]) -> None:
    assert "unheard-of disease" not in shown[0]  # four visits: shown with a chance of about 1e-7
    assert "(1 hidden)" in shown[0]


def test_the_budget_falls_and_the_last_question_is_refused(shown: tuple[str, Path, float]) -> None:
    left = [float(found) for found in re.findall(r"ε = ([\d.]+) left", shown[0])]
    assert left == [2.6, 2.2, 2.0, 1.5, 0.5, 0.2]
    assert "the same answer, free." in shown[0]
    assert shown[0].count("✗") == 2
    assert "the budget does not admit this" in shown[0]


def test_the_files_it_leaves_can_be_used(shown: tuple[str, Path, float]) -> None:
    folder = shown[1]
    assert (folder / "mean_cost.png").read_bytes().startswith(b"\x89PNG")
    command = [sys.executable, "-m", "discreet", "verify", str(folder / "visits.json"), "--ledger", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "paid in ledger entry 1" in run.stdout


def test_it_ends_with_three_lines_that_work_on_another_file(shown: tuple[str, Path, float], tmp_path: Path) -> None:
    """As written, with only the file's name and the unit's column replaced."""
    lines = shown[0].rstrip().splitlines()[-3:]
    assert [re.search(r"discreet (\w+) mine\.csv", line)[1] for line in lines] == ["explain", "ask", "init"]  # type: ignore[index]
    (tmp_path / "till 3-b.csv").write_text("customer,sum\n" + "".join(f"c{i % 700},{i % 9}\n" for i in range(5000)))
    if (Path.cwd() / ".venv").exists():  # commands are shown as they are typed where the demonstration ran
        (tmp_path / ".venv").symlink_to(Path.cwd() / ".venv")
    for line, expected in zip(lines, ("customer", "ε = 0.9", "CHECK"), strict=True):
        typed = line.replace("mine.csv", "'till 3-b.csv'").replace("mine", "till 3-b").replace("person_id", "customer")
        run = subprocess.run(typed, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stderr
        assert expected in run.stdout
    assert "[tables" in (tmp_path / "discreet.toml").read_text(encoding="utf-8")


def test_it_is_quick(shown: tuple[str, Path, float]) -> None:
    assert shown[2] < 60


def test_every_public_name_exists_once() -> None:
    assert len(set(discreet.__all__)) == len(discreet.__all__)
    assert all(hasattr(discreet, name) for name in discreet.__all__)
    assert {"connect", "Plan", "Release", "Session"} <= set(discreet.__all__)
    for package in (discreet, discreet.algorithms, discreet.attacks, discreet.loss, discreet.mechanisms):
        assert dir(package) == sorted(package.__all__)
    assert len(discreet.__all__) <= 40
    with pytest.raises(AttributeError, match=r"write discreet\.algorithms\.BLR"):
        discreet.BLR  # noqa: B018


def test_import_loads_no_heavy_library() -> None:
    """What costs start-up time stays out: test oracles, plotting, data frames and the terminal library."""
    code = "import sys, discreet; print([m for m in ('scipy', 'matplotlib', 'pandas', 'polars', 'rich', 'duckdb') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"
