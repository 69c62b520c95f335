"""Asking again, asking almost the same, asking at the limit, and dying in the middle: new noise is paid for, always and once."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import BudgetExceeded
from discreet.ledger import leases
from discreet.session.release import Release
from discreet.session.session import Session

TEXT = "SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost > 10 AND dept <> 'lab' GROUP BY dept"
OPENED = """
import discreet, os, sys
db = discreet.connect({path!r}, unit="id", epsilon={epsilon}, delta=0.001, bounds={{"cost": (0, 500)}},
                      keys={{"dept": ["er", "icu", "lab"]}}, contributions={{"rows": 3}})
text = {text!r}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = {
        "id": [i // 2 for i in range(600)],
        "dept": [["er", "icu", "lab"][i % 3] for i in range(600)],
        "cost": [float(i % 400) for i in range(600)],
    }
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def opened(path: Path, epsilon: Any = 100) -> Session:
    declared: dict[str, Any] = {"bounds": {"cost": (0, 500)}, "keys": {"dept": ["er", "icu", "lab"]}, "contributions": {"rows": 3}}
    return discreet.connect(path, unit="id", epsilon=epsilon, delta=0.001, **declared)


def elsewhere(path: Path, then: str, epsilon: int = 100) -> subprocess.CompletedProcess[str]:
    """Do something in a process of its own."""
    script = OPENED.format(path=str(path), epsilon=epsilon, text=TEXT) + then
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(discreet.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=env, check=False)


def test_a_hundred_times(path: Path) -> None:
    db = opened(path)
    first = db.ask(TEXT, epsilon=1)
    for i in range(100):
        spelled = TEXT.replace(" ", " " * (1 + i % 3)).replace("cost", "COST" if i % 2 else "cost") + (";" if i % 5 else " -- again")
        assert db.ask(spelled, epsilon=1 if i % 2 else "1.0").to_text() == first.to_text()
    for _ in range(3):
        db.close()
        db = opened(path)
        assert db.ask(TEXT, epsilon=1).to_text() == first.to_text()
    assert db.spent.epsilon == 1
    assert [entry["answered"] for entry in db.history()] == [True]
    there = elsewhere(path, "print(db.ask(text, epsilon=1).to_text(), end='')")
    assert there.stdout == first.to_text()


VARIANTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (TEXT, {}, {}),
    (TEXT, {}, {"epsilon": "1.000000001"}),
    (TEXT, {}, {"epsilon": 0.999}),
    (TEXT, {}, {"delta": 0}),
    (TEXT, {}, {"delta": "0.000001"}),
    (TEXT, {}, {"confidence": 0.9}),
    (TEXT, {}, {"confidence": "0.95"}),
    (TEXT, {"other": True}, {}),
    (TEXT, {"contributions": {"rows": 3}}, {}),
    (TEXT, {"contributions": {"rows": 4}}, {}),
    (TEXT, {"contributions": {"groups": 3, "per_group": 1}}, {}),
    (TEXT, {"dialect": "postgres"}, {}),
    (TEXT.replace("10", "10.0"), {}, {}),
    (TEXT.replace("10", "11"), {}, {}),
    (TEXT.replace("10", "10.0000000001"), {}, {}),
    (TEXT.replace("cost > 10 AND dept <> 'lab'", "dept <> 'lab' AND cost > 10"), {}, {}),
    (TEXT.replace("cost > 10", "10 < cost"), {}, {}),
    (TEXT.replace("cost > 10", "NOT cost <= 10"), {}, {}),
    (TEXT.replace("cost > 10", "cost > 10 AND 1 = 1"), {}, {}),
    (TEXT.replace("cost > 10", "cost + 0 > 10"), {}, {}),
    (TEXT.replace("AS n", "AS k"), {}, {}),
    (TEXT.replace("COUNT(*) AS n, AVG(cost) AS m", "AVG(cost) AS m, COUNT(*) AS n"), {}, {}),
    (TEXT.replace("AVG(cost)", "AVG(cost * 1)"), {}, {}),
    (TEXT.replace("COUNT(*)", "COUNT(1)"), {}, {}),
    (TEXT.replace("COUNT(*)", "COUNT(dept)"), {}, {}),
    (TEXT.replace("FROM visits", "FROM (SELECT * FROM visits) v"), {}, {}),
    (TEXT.replace("FROM visits", "FROM visits AS w"), {}, {}),
    (TEXT + " ORDER BY dept", {}, {}),
    (TEXT + " ORDER BY n", {}, {}),
    (TEXT + " LIMIT 3", {}, {}),
    (TEXT + " HAVING COUNT(*) > -1000000", {}, {}),
    ("WITH v AS (SELECT * FROM visits WHERE cost > 10) " + TEXT.replace("FROM visits WHERE cost > 10 AND", "FROM v WHERE"), {}, {}),
]  # fmt: skip


def noise_in(release: Release) -> list[Any]:
    return [(row.get("dept"), row.get("n", row.get("k")), row["m"]) for row in release.rows]


def test_new_noise_is_never_free(path: Path) -> None:
    """Each variant of a question gives numbers that were shown before, or is charged in full: there is nothing to average for nothing."""
    db = opened(path)
    shown: set[Any] = set()
    charged = 0
    for text, how, price in VARIANTS:
        before = db.spent.epsilon or Fraction(0)
        release = db.sql(text, **how).release(**{"epsilon": 1, **price})
        paid = (db.spent.epsilon or Fraction(0)) - before
        numbers = set(noise_in(release))
        assert paid == (0 if release.repeated else release.receipt.epsilon), text
        assert numbers <= shown or paid > 0, text
        shown, charged = shown | numbers, charged + (paid > 0)
    assert 15 < charged < len(VARIANTS)  # some of them are the same question
    again = db.spent.epsilon
    for text, how, price in VARIANTS:
        assert db.sql(text, **how).release(**{"epsilon": 1, **price}).repeated
    assert db.spent.epsilon == again


@pytest.mark.parametrize("parts", [3, 7])
def test_refused_just_beyond_the_limit(path: Path, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    db = opened(path, 1)
    asked = [f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}" for i in range(parts)]
    first = [db.sql(text).release(Fraction(1, parts), 0) for text in asked]
    assert 1 - Fraction(parts, 10**40) <= db.spent.epsilon <= 1  # prices are multiples of 1e-40
    assert db.remaining.epsilon == 1 - db.spent.epsilon
    entries = len(db._ledger.entries())
    monkeypatch.setattr(db._engine, "batches", lambda *_: pytest.fail("data was read"))
    for epsilon in (Fraction(1, 10**5), Fraction(1, parts), 1, 10**6):
        with pytest.raises(BudgetExceeded):
            db.sql("SELECT COUNT(*) AS n FROM visits WHERE cost > 99").release(epsilon, 0)
    with pytest.raises(BudgetExceeded):
        db.sql(asked[0]).release(Fraction(1, parts) + Fraction(1, 10**20), 0)
    assert len(db._ledger.entries()) == entries
    assert [db.sql(text).release(Fraction(1, parts), 0).to_text() for text in asked] == [release.to_text() for release in first]


def test_refusals_say_the_same_whatever_the_data(path: Path, tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    few = tmp_path / "few" / "visits.parquet"
    pq.write_table(pq.read_table(path).slice(0, 1), few)
    messages = []
    for place in (path, few):
        db = opened(place, 1)
        db.ask(TEXT, epsilon=0.7)
        with pytest.raises(BudgetExceeded) as caught:
            db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        messages.append((str(caught.value), db.remaining, db.spent))
    assert messages[0] == messages[1]


_ENGINE = "from discreet.engines.duckdb.engine import DuckDB\nrun = DuckDB.batches\n"
DEATHS = {
    "before the first row": _ENGINE + "DuckDB.batches = lambda self, *asked: os._exit(9)\n",
    "after the first row": _ENGINE + "DuckDB.batches = lambda self, *asked: (next(run(self, *asked)), os._exit(9))\n",
    "in a mechanism": "from discreet.mechanisms.laplace import Laplace\nLaplace.sample = lambda self, answer, bits: os._exit(9)\n",
    "before the answer is stored": "from discreet.ledger.ledger import Ledger\nLedger.store = lambda self, *rest: os._exit(9)\n",
}  # fmt: skip


@pytest.mark.parametrize("when", DEATHS)
def test_dying_in_the_middle_keeps_the_debit(path: Path, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A payment is for one draw, and nobody knows how far it came: asked again, the question is paid for again."""
    monkeypatch.setattr(leases, "LASTS", 0.1)  # whose lease ends later than that is not waited for (tests/ledger/test_leases.py)
    died = elsewhere(path, DEATHS[when] + "print(db.sql(text).release(1, 0))")
    assert (died.returncode, died.stdout) == (9, "")
    db = opened(path)
    assert db.spent.epsilon == 1
    assert [entry["answered"] for entry in db.history()] == [False]
    answer = db.sql(TEXT).release(1, 0)
    assert db.spent.epsilon == 2
    assert db.sql(TEXT).release(1, 0).to_text() == answer.to_text()
    assert db.spent.epsilon == 2
    assert [entry["answered"] for entry in db.history()] == [False, True]


def test_dying_once_the_answer_is_stored(path: Path) -> None:
    """It may have been seen, so it is the answer for ever."""
    then = (
        "from discreet.ledger.ledger import Ledger\nstore = Ledger.store\n"
        "def stored(self, paid, body, holder=None):\n    store(self, paid, body, holder)\n"
        "    print(body['release'], end='', flush=True)\n    os._exit(9)\n"
        "Ledger.store = stored\ndb.sql(text).release(1, 0)\n"
    )
    died = elsewhere(path, then)
    assert died.returncode == 9
    assert opened(path).sql(TEXT).release(1, 0).to_text() == died.stdout
    assert opened(path).spent.epsilon == 1


def test_an_interrupt_keeps_the_debit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = opened(path)

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(db._engine, "batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        db.ask(TEXT, epsilon=1)
    assert db.spent.epsilon == 1
    assert opened(path).spent.epsilon == 1


def test_several_processes_ask_at_once(path: Path) -> None:
    """They pay once, and all show the same."""
    opened(path).close()
    script = (
        OPENED.format(path=str(path), epsilon=100, text=TEXT) + "sys.stdin.readline()\nprint(db.ask(text, epsilon=1).to_text(), end='')"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(discreet.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        for _ in range(3)
    ]
    for one in asking:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    said = [one.communicate(timeout=120) for one in asking]
    assert [error for _, error in said] == [""] * 3
    assert len({text for text, _ in said}) == 1
    assert said[0][0]
    assert opened(path).spent.epsilon == 1
