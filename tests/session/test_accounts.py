"""Sessions that charge each account for what it gets: what one analyst sees is the same whether or not another asked before."""

from __future__ import annotations

import datetime
import itertools
import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars
import pytest
from attrs import evolve

from discreet.errors import BudgetExceeded, Error, LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.receipt import Receipt
from discreet.session.project import open_project
from discreet.session.release import Release
from discreet.session.session import Session

POLICY = """
[budget]
epsilon = 6.0
delta = 1e-6

[budget.analysts]
ada = { epsilon = 3.0, delta = 4e-7 }
bo = { epsilon = 2.0, delta = 4e-7 }

[ledger]
path = "clinic.ledger"

[tables.visits]
source = "visits.parquet"
unit = "person"
contributions = { rows = 2 }
columns.dept.keys = ["er", "ward"]
columns.cost.bounds = [0, 100]
"""
COUNT = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
SUM = "SELECT SUM(age) AS total FROM visits"  # of a column whose range is discovered first


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Path]:
    numbers = itertools.count()
    first = datetime.date(2026, 1, 1)
    people = range(4000)
    table = polars.DataFrame(
        {
            "person": people,
            "dept": ["er" if i % 3 else "ward" for i in people],
            "cost": [i % 90 for i in people],
            "age": [20 + i % 60 for i in people],
            "day": [first + datetime.timedelta(days=i % 20) for i in people],
        }
    )

    def made() -> Path:
        folder = tmp_path / f"world{next(numbers)}"
        folder.mkdir()
        table.write_parquet(folder / "visits.parquet")
        (folder / "discreet.toml").write_text(POLICY)
        return folder

    return made


def opened(folder: Path, analyst: str | None) -> Session:
    return open_project(folder, analyst=analyst, per_account=True)


# ── what bo sees, as text ────────────────────────────────────────────────────────────────────────────────────────────

NOISE = re.compile(r"-?\d[\d,]*(\.\d+)?(e-?\d+)?")


def told(work: Callable[[], Any]) -> str:
    """What a call gives, without its noisy numbers; or its error in full."""
    try:
        found = work()
    except Error as error:
        return f"{type(error).__name__}: {error} {getattr(error, '__notes__', [])}"
    if isinstance(found, str):
        return found
    receipt: Receipt = found.receipt
    plain = receipt.to_json() | {"discovered": "", "notes": "", "hash": ""}
    shown = NOISE.sub("#", repr(found)) if isinstance(found, Release) else found.charged
    return "\n".join([shown, found.charged, repr(receipt), str(plain), str(found.repeated), str(receipt.sequence)])


def account(db: Session) -> str:
    rows = [{name: value for name, value in row.items() if name != "at"} for row in db.history()]
    return f"{db.remaining} {db.spent} {rows} {db!r}"


def what_bo_sees(db: Session) -> list[str]:
    """Plans, prices, answers, accounts and errors, for everything that the others may have asked too."""
    steps: list[Callable[[], Any]] = [
        lambda: str(db.sql(COUNT).plan(0.25).explain()),
        lambda: str(db.sql(COUNT).price({"n": 50})),
        lambda: db.sql(f"{COUNT}  -- in bo's words").release(epsilon=0.25),
        lambda: db.sql(COUNT).release(epsilon=0.25),  # again, free
        lambda: str(db.sql(SUM).plan(0.5).explain()),
        lambda: db.sql(SUM).release(epsilon=0.5),
        lambda: db.sql(SUM).release(epsilon=0.5, confidence=0.9),  # another question, with the same discovery
        lambda: db.sql(COUNT).release(epsilon=0.25).refine(0.125),
        lambda: daily(db).explain(),
        lambda: daily(db).release(until="2026-01-05"),
        lambda: daily(db).explain(),
        lambda: daily(db).release(until="2026-01-08"),
        lambda: db.profile("visits", epsilon=0.25),
        lambda: str(db.sql("SELECT AVG(age) AS m FROM visits").plan(0.125).epsilon),
        lambda: db.sql(COUNT).release(epsilon=1.5),  # too much
        lambda: db.sql(COUNT).release(epsilon=1.5, delta=5e-7),
        lambda: db.sql("SELECT AVG(age) AS a, SUM(cost) AS c FROM visits").release(epsilon=2),
        lambda: db.synthesize("visits", 2, columns=["dept", "cost"]),
    ]
    return [text for step in steps for text in (told(step), account(db))]


def daily(db: Session) -> Any:
    return db.daily("visits", day="day", start="2026-01-01", days=20, epsilon=0.25, active_days=1)


def ask_everything(db: Session) -> None:
    db.sql(COUNT).release(epsilon=0.25).refine(0.125)
    db.sql(SUM).release(epsilon=0.5)
    daily(db).release(until="2026-01-07")
    db.profile("visits", epsilon=0.25)


def test_what_one_sees_does_not_depend_on_whether_another_asked(make: Callable[[], Path]) -> None:
    alone, shared = make(), make()
    with opened(shared, "ada") as ada:
        ask_everything(ada)
        ada.sql(COUNT).release(epsilon=1.5)  # what bo cannot afford is there, too
    with opened(alone, "bo") as bo:
        expected = what_bo_sees(bo)
    with opened(shared, "bo") as bo:
        found = what_bo_sees(bo)
        assert bo.spent == opened(alone, "bo").spent
    assert found == expected
    assert not any(re.search(r"\bada\b|\bentry \d", text) for text in found)
    assert sum("BudgetExceeded" in text for text in found) >= 3
    for folder in (alone, shared):
        open_ledger(folder / "clinic.ledger").verify()


def test_the_comparison_tells_worlds_apart_where_stored_answers_are_everybodys(make: Callable[[], Path]) -> None:
    """The same by sessions without accounts: what bo sees gives ada away."""
    alone, shared = make(), make()
    with open_project(shared, analyst="ada") as ada:
        ask_everything(ada)
    with open_project(alone, analyst="bo") as one, open_project(shared, analyst="bo") as other:
        pairs = list(zip(what_bo_sees(one), what_bo_sees(other), strict=True))
    assert sum(a != b for a, b in pairs) > 10


# ── the accounts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_data_set_pays_once_and_each_account_for_itself(make: Callable[[], Path]) -> None:
    folder = make()
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo, opened(folder, "owner") as owner:
        first, second = (db.sql(COUNT).release(epsilon=0.25) for db in (ada, bo))
        assert first.to_text() == second.to_text()
        assert not first.repeated
        assert not second.repeated
        assert bo.sql(COUNT).release(epsilon=0.25).repeated
        assert (ada.spent.epsilon, bo.spent.epsilon, owner.spent.epsilon) == (Fraction(1, 4),) * 3
        for db in (ada, bo, owner):
            db.verify(second)
        assert [row["epsilon"] for row in bo.history()] == [0.25]
        assert [(row["analyst"], row["received"]) for row in owner.history()] == [("ada", False), ("bo", True)]
    with open_project(folder, analyst="owner") as plain:
        assert plain.sql(COUNT).release(epsilon=0.25, delta=0).receipt.sequence != second.receipt.sequence  # names entries


def test_a_saved_release_without_entries_is_verified_and_a_changed_one_is_not(make: Callable[[], Path], tmp_path: Path) -> None:
    folder = make()
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        ada.sql(SUM).release(epsilon=0.5)
        found = bo.sql(SUM).release(epsilon=0.5)
        found.save(tmp_path / "saved.json")
        again = Release.open(tmp_path / "saved.json")
        bo.verify(again)
        other = ada.sql(COUNT).release(epsilon=0.25)
        with pytest.raises(Error):
            Release(again.columns, other.receipt, totals=again.totals).verify(ada._ledger)


def test_made_up_receipts_do_not_find_out_what_was_asked(make: Callable[[], Path]) -> None:
    folder = make()
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        hers, his = ada.sql(SUM).release(epsilon=0.5), bo.sql(COUNT).release(epsilon=0.25)
        unasked = [evolve(paid, question="0" * 64) for paid in hers.receipt.payments]
        for kind in ("question", "conversation"):
            refused = set()
            for payments in (hers.receipt.payments, unasked, [hers.receipt.payments[0]], [unasked[0]]):
                priced = evolve(his.receipt.priced, kind=kind)
                last = evolve(his.receipt.payments[0], question=priced.question, sequence=3, entry="0" * 64)
                made_up = Release(his.columns, evolve(his.receipt, priced=priced, payments=(*payments, last)), totals=his.totals)
                with pytest.raises(LedgerError) as found:
                    bo.verify(made_up)
                refused.add(str(found.value))
            assert len(refused) == 1
        with pytest.raises(LedgerError, match="no such entry"):
            bo.verify(hers)


def test_receipts_of_runs_name_no_entries_and_are_verified(make: Callable[[], Path]) -> None:
    folder = make()
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        ada.sql(COUNT).release(epsilon=0.25)
        watch = bo.watch(0.25, 10, 2)
        watch.ask(bo.table("visits").count())
        watch.ask(bo.table("visits").count())
        assert [paid.sequence for paid in watch.receipt.payments] == [None, None]
        assert re.search(r"entry \d", repr(watch.release())) is None
        watch.verify(bo._ledger)
        bo.verify(watch.release())
        with pytest.raises(Error):
            evolve(watch.receipt, payments=(*watch.receipt.payments, watch.receipt.payments[0])).verify(bo._ledger)


@pytest.mark.parametrize("seed", range(2))
def test_random_questions_of_several_accounts_add_up(make: Callable[[], Path], seed: int) -> None:
    chance, folder = random.Random(seed), make()
    prices = [Fraction(one, 8) for one in (1, 2, 3, 5)]
    asked: set[Fraction] = set()
    seen: dict[str, set[Fraction]] = {"ada": set(), "bo": set()}
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        for _ in range(25):
            name, price = chance.choice(["ada", "bo"]), chance.choice(prices)
            db, mine = {"ada": ada, "bo": bo}[name], seen[name]
            assert db.sql(COUNT).release(epsilon=price, delta=0).repeated == (price in mine)
            mine.add(price)
            asked.add(price)
            assert db.spent.epsilon == sum(mine)
        assert open_ledger(folder / "clinic.ledger").spent.epsilon == sum(asked)


def test_where_the_data_set_is_exhausted_an_account_is_told_its_own_numbers(make: Callable[[], Path]) -> None:
    folder = make()
    (folder / "discreet.toml").write_text(POLICY.replace("ada = { epsilon = 3.0", "ada = { epsilon = 6.0"))
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        ada.sql(COUNT).release(epsilon=5, delta=0)
        assert bo.remaining.epsilon == 2
        with pytest.raises(BudgetExceeded) as refused:
            bo.sql(COUNT).release(epsilon=1.5, delta=0)
        expected = "the budget does not admit this; it still admits one question of ε ≤ 2 and δ ≤ 4e-07. Nothing was charged."
        assert str(refused.value) == expected
        assert refused.value.__suppress_context__
        with pytest.raises(BudgetExceeded, match=r"^the budget does not admit this; it still admits one question of ε ≤ 2"):
            bo.sql(SUM).release(epsilon=1.5)
        assert bo.spent.epsilon == 0


def test_a_published_profile_is_free_and_an_accounts_own_is_not(make: Callable[[], Path]) -> None:
    folder = make()
    with opened(folder, "ada") as ada:
        ada.profile("visits", epsilon=0.5)
        mean = str(ada.sql("SELECT AVG(age) AS m FROM visits").plan(0.25).explain())
        assert "discover" not in mean.lower() or "profile" in mean.lower()
    with opened(folder, "bo") as bo:
        before = str(bo.sql("SELECT AVG(age) AS m FROM visits").plan(0.25).explain())
        assert before != mean  # ada's profile is not his
        assert bo.spent.epsilon == 0
        his = bo.profile("visits", epsilon=0.5)
        assert (his.repeated, bo.spent.epsilon) == (False, Fraction(1, 2))
        assert str(bo.sql("SELECT AVG(age) AS m FROM visits").plan(0.25).explain()) == mean
    with opened(folder, "bo") as bo:
        assert bo.profile("visits", epsilon=0.5).repeated
        assert bo.spent.epsilon == Fraction(1, 2)
    with opened(folder, "owner") as owner:
        assert owner.spent.epsilon == Fraction(1, 2)
        owner.profile("visits", epsilon=1, delta=1e-8)
    with opened(folder, "bo") as bo:
        public = str(bo.sql("SELECT AVG(age) AS m FROM visits").plan(0.25).explain())
        assert public not in (before, mean)
        assert "uses the profile of visits, which cost ε = 1" in public
        assert "entry" not in public  # its number would tell how much others had asked
        assert bo.profile("visits", epsilon=1, delta=1e-8).rows
        assert bo.spent.epsilon == Fraction(1, 2)


def test_nothing_is_shown_before_the_charge(make: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make()
    read: list[str] = []
    with opened(folder, "ada") as ada, opened(folder, "bo") as bo:
        ada.sql(COUNT).release(epsilon=0.25)
        with monkeypatch.context() as patch:
            patch.setattr("discreet.ledger.receiving._charge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            patch.setattr(Release, "from_text", classmethod(lambda _, text, __: read.append(text)))
            with pytest.raises(KeyboardInterrupt):
                bo.sql(COUNT).release(epsilon=0.25)
        assert read == []
        assert (bo.spent.epsilon, bo.history()) == (0, [])
        assert bo.sql(COUNT).release(epsilon=0.25).rows
        assert bo.spent.epsilon == Fraction(1, 4)
