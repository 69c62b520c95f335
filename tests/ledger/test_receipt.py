"""Receipts: what agrees is accepted, and every single change is seen."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from session.clinic import clinic

from discreet.errors import Error, Invalid, LedgerError
from discreet.ledger.chain import digest
from discreet.ledger.receipt import verify_receipt
from discreet.session.release import Release
from discreet.session.session import Session

SQL = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"


@pytest.fixture(scope="module")
def paid() -> Iterator[tuple[Session, Release]]:
    with clinic() as db:
        yield db, db.sql(SQL).release(1)


def sealed(receipt: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A receipt with changes and a hash that fits them, as a forger would make it."""
    said = {name: value for name, value in copy.deepcopy(receipt).items() if name != "hash"} | changes
    return said | {"hash": digest(said)}


def paying(release: Release, **changes: Any) -> list[dict[str, Any]]:
    """The payment of a release, with changes."""
    return [release.receipt.payments[0].to_json() | changes]


def test_a_receipt_agrees_with_itself_and_with_its_ledger(paid: tuple[Session, Release]) -> None:
    db, release = paid
    verify_receipt(release.receipt.to_json())
    release.verify(db._ledger)
    assert sealed(release.receipt.to_json()) == release.receipt.to_json()


@pytest.mark.parametrize(
    "name", ["format", "epsilon", "delta", "confidence", "protected", "policy", "version", "question", "adjacency", "kind"]
)
def test_any_change_breaks_the_hash(paid: tuple[Session, Release], name: str) -> None:
    changed = paid[1].receipt.to_json() | {name: "9"}
    with pytest.raises(Invalid, match="changed"):
        verify_receipt(changed)


@pytest.mark.parametrize("name", ["epsilon", "delta", "confidence", "policy", "version", "request"])
def test_a_new_hash_does_not_hide_another_question(paid: tuple[Session, Release], name: str) -> None:
    value = {"other": 1} if name == "request" else "1/3"
    with pytest.raises(Invalid, match="does not match the request"):
        verify_receipt(sealed(paid[1].receipt.to_json(), **{name: value}))


def test_a_loss_above_the_price_is_seen(paid: tuple[Session, Release]) -> None:
    with pytest.raises(Invalid, match="cost more"):
        verify_receipt(sealed(paid[1].receipt.to_json(), payments=paying(paid[1], loss={"kind": "pure", "epsilon": "2"})))


def test_a_loss_that_is_none_is_seen(paid: tuple[Session, Release]) -> None:
    for loss in ({"kind": "free"}, {"kind": "pure", "epsilon": "-1"}, None, 3):
        with pytest.raises(Error):
            verify_receipt(sealed(paid[1].receipt.to_json(), payments=paying(paid[1], loss=loss)))


def test_the_ledger_knows_what_was_paid(paid: tuple[Session, Release]) -> None:
    db, release = paid
    for entry in ({"sequence": 0, "entry": "0" * 64}, {"sequence": 99, "entry": "x"}, {"sequence": "1", "entry": "x"}):
        with pytest.raises(LedgerError, match="no such entry"):
            verify_receipt(sealed(release.receipt.to_json(), payments=paying(release, **entry)), db._ledger)
    cheaper = sealed(release.receipt.to_json(), payments=paying(release, loss={"kind": "pure", "epsilon": "1/100"}))
    verify_receipt(cheaper)
    with pytest.raises(LedgerError, match="another price"):
        verify_receipt(cheaper, db._ledger)


def test_another_ledger_does_not_know_it(paid: tuple[Session, Release]) -> None:
    with clinic() as other:
        other.sql(SQL).release(1)
        with pytest.raises(LedgerError, match="no such entry"):
            verify_receipt(paid[1].receipt.to_json(), other._ledger)


def test_changed_answers_are_seen_against_the_ledger(paid: tuple[Session, Release]) -> None:
    db, release = paid
    with pytest.raises(Invalid, match="changed after it was saved"):
        Release.from_text(release.to_text().replace('"er"', '"ER"'))
    changed = Release((evolve(release.columns[0], values=["ER", "ward", "lab"]), *release.columns[1:]), release.receipt)
    changed.verify()  # alone it cannot be seen, once somebody seals it again
    assert Release.from_text(changed.to_text()).rows == changed.rows
    with pytest.raises(LedgerError, match="other answers"):
        changed.verify(db._ledger)


@pytest.mark.parametrize("receipt", [{}, {"hash": 1}, {"hash": "x", "epsilon": "1/0"}])
def test_what_is_no_receipt_is_reported(receipt: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="not a receipt"):
        verify_receipt(receipt)


def test_an_answer_tells_what_it_costs_several_units_together(paid: tuple[Session, Release]) -> None:
    told = paid[1].explain()
    assert "for 2 units together: ε = 2" in told
    assert "for 10 units together: ε = " in told
    assert "protects" in told
