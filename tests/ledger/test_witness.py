"""The witness: older copies, cut ends and chains made anew are seen; torn lines and races are not held against anybody."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from ledger.tampering import TERMS, behind_its_back, recompute, spend_some

from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.loss.leaves import Pure


def lines(place: Path) -> list[str]:
    return (place / "w").read_text().splitlines()


def witnessed(place: Path) -> Ledger:
    return open_ledger(place / "a", TERMS, place / "w")


def test_every_entry_has_its_line(place: Path) -> None:
    spend_some(place / "a", place / "w")
    ledger = witnessed(place)
    assert lines(place) == [f"{entry.sequence} {entry.hash}" for entry in ledger.entries()]
    assert ledger.verify().witnessed


def test_an_older_copy_is_seen(place: Path) -> None:
    ledger, coins = witnessed(place), random.Random(1)
    for i in range(60):
        shutil.copy(place / "a", place / f"old{i}")
        ledger.spend(Pure("1/100"), question=f"{i}")
    ledger.close()
    shutil.copy(place / "a", place / "newest")
    for i in coins.sample(range(60), 30):
        shutil.copy(place / f"old{i}", place / "a")
        with pytest.raises(LedgerError, match="older copy"):
            witnessed(place)
    shutil.copy(place / "newest", place / "a")
    assert witnessed(place).verify().spends == 60


def test_an_older_copy_under_a_running_ledger_is_seen_before_the_next_spend(place: Path) -> None:
    spend_some(place / "a", place / "w", count=2)
    shutil.copy(place / "a", place / "old")
    ledger = witnessed(place)
    ledger.spend(Pure(1), question="q")
    shutil.copy(place / "old", place / "b")
    os.replace(place / "b", place / "a")
    with pytest.raises(LedgerError, match="replaced while it was in use"):
        ledger.spend(Pure(1), question="r")


@pytest.mark.parametrize("keep", [1, 3, 8])
def test_a_chain_made_anew_is_seen(place: Path, keep: int) -> None:
    spend_some(place / "a", place / "w")
    with behind_its_back(place / "a") as connection:
        recompute(connection, keep)
    with pytest.raises(LedgerError, match="saw another entry"):
        witnessed(place)


def test_a_consistently_cut_end_is_seen(place: Path) -> None:
    spend_some(place / "a", place / "w")
    with behind_its_back(place / "a") as connection:
        connection.execute("DELETE FROM entries WHERE sequence > 6")
        recompute(connection, keep=7)
    with pytest.raises(LedgerError, match="its end was cut off"):
        witnessed(place)
    assert len(lines(place)) == 9


def test_a_file_that_was_removed_does_not_begin_anew(place: Path) -> None:
    spend_some(place / "a", place / "w")
    (place / "a").unlink()
    with pytest.raises(LedgerError, match="which is gone"):
        witnessed(place)
    (place / "a").write_bytes(b"")
    with pytest.raises(LedgerError, match="which is gone"):
        witnessed(place)


def test_a_ledger_ahead_of_its_witness_is_fine_and_lines_may_come_out_of_order(place: Path) -> None:
    spend_some(place / "a", place / "w")
    told = lines(place)
    for kept in (told[:5], [told[0], told[4], told[2]], [told[3]], ["", told[1], ""]):
        (place / "w").write_text("\n".join(kept) + "\n")
        assert witnessed(place).verify().entries == 9


def test_the_newest_line_counts_wherever_it_stands(place: Path) -> None:
    spend_some(place / "a", place / "w", count=2)
    shutil.copy(place / "a", place / "old")
    witnessed(place).spend(Pure(1), question="q")
    told = lines(place)
    (place / "w").write_text("\n".join([*told[:3], told[-1], *told[3:-1]]) + "\n")
    shutil.copy(place / "old", place / "a")
    with pytest.raises(LedgerError, match="older copy"):
        witnessed(place)


@pytest.mark.parametrize("torn", ["5", "5 abc", "5 " + "a" * 63])
def test_a_torn_line_is_passed_over_for_good(place: Path, torn: str) -> None:
    spend_some(place / "a", place / "w")
    with (place / "w").open("a") as file:
        file.write(torn)
    ledger = witnessed(place)
    entry = ledger.spend(Pure(1), question="q")
    assert lines(place)[-2:] == [torn, f"{entry.sequence} {entry.hash}"]
    assert witnessed(place).verify().entries == 10


def test_a_line_nobody_wrote_is_not_passed_over(place: Path) -> None:
    spend_some(place / "a", place / "w")
    with (place / "w").open("a") as file:
        file.write("hello\n")
    with pytest.raises(LedgerError, match="no ledger wrote"):
        witnessed(place)


def test_a_witness_that_shrinks_or_goes_away_under_a_running_ledger(place: Path) -> None:
    ledger = witnessed(place)
    ledger.spend(Pure(1), question="q")
    ledger.spend(Pure(1), question="r")
    told = (place / "w").read_text()
    (place / "w").write_text(told[:67])
    with pytest.raises(LedgerError, match="shorter"):
        ledger.spend(Pure(1), question="s")
    (place / "w").unlink()
    with pytest.raises(LedgerError, match="witness cannot be read"):
        ledger.spend(Pure(1), question="s")
    (place / "w").write_text(told)
    assert ledger.spend(Pure(1), question="s").sequence == 3


def test_a_ledger_begun_with_a_witness_needs_it(place: Path) -> None:
    spend_some(place / "a", place / "w")
    last = lines(place)[-1]
    for terms in (TERMS, None):
        with pytest.raises(LedgerError, match="give the witness's file"):
            open_ledger(place / "a", terms)
    (place / "w").rename(place / "lost")
    with pytest.raises(LedgerError, match="witness is gone") as raised:
        witnessed(place)
    assert last in str(raised.value)
    (place / "w").write_text(last + "\n")  # what the message says, for an owner who knows
    assert witnessed(place).verify().entries == 9


def test_a_ledger_begun_without_a_witness_may_be_given_one(place: Path) -> None:
    spend_some(place / "a", count=2)
    witnessed(place).spend(Pure(1), question="q")
    assert [line.split()[0] for line in lines(place)] == ["4", "5"]
    assert open_ledger(place / "a", TERMS).verify().entries == 6


def test_the_witness_of_another_ledger_is_refused(place: Path) -> None:
    spend_some(place / "a", place / "w")
    spend_some(place / "b", place / "v")
    with pytest.raises(LedgerError, match="another ledger's"):
        open_ledger(place / "a", TERMS, place / "v")


def test_the_witness_s_folder_must_exist(place: Path) -> None:
    with pytest.raises(LedgerError, match="witness cannot be"):
        open_ledger(place / "a", TERMS, place / "no" / "w")
