"""The witness: older copies, cut ends and chains made anew are seen; torn lines and races are not held against anybody."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from ledger.shelves import Files, Schemas, Shelf
from ledger.tampering import TERMS, recompute, spend_some

from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.loss.leaves import Pure


def lines(shelf: Shelf) -> list[str]:
    return (shelf.folder / "w").read_text().splitlines()


def witnessed(shelf: Shelf) -> Ledger:
    return open_ledger(shelf.at("a"), TERMS, shelf.folder / "w")


def test_every_entry_has_its_line(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    ledger = witnessed(shelf)
    assert lines(shelf) == [f"{entry.sequence} {entry.hash}" for entry in ledger.entries()]
    assert ledger.verify().witnessed


def test_an_older_copy_is_seen(shelf: Shelf) -> None:
    ledger, coins, count = witnessed(shelf), random.Random(1), 60 if isinstance(shelf, Files) else 12
    for i in range(count):
        shelf.copy("a", f"old{i}")
        ledger.spend(Pure("1/100"), question=f"{i}")
    ledger.close()
    shelf.copy("a", "newest")
    for i in coins.sample(range(count), count // 2):
        shelf.copy(f"old{i}", "a")
        with pytest.raises(LedgerError, match="older copy"):
            witnessed(shelf)
    shelf.copy("newest", "a")
    assert witnessed(shelf).verify().spends == count


def test_an_older_copy_under_a_running_ledger_is_seen_before_the_next_spend(place: Path) -> None:
    spend_some(place / "a", place / "w", count=2)
    shutil.copy(place / "a", place / "old")
    ledger = witnessed(Files(place))
    ledger.spend(Pure(1), question="q")
    shutil.copy(place / "old", place / "b")
    os.replace(place / "b", place / "a")
    with pytest.raises(LedgerError, match="replaced while it was in use"):
        ledger.spend(Pure(1), question="r")


def test_an_older_dump_put_back_under_a_running_ledger_is_seen_before_the_next_spend(schemas: Schemas) -> None:
    spend_some(schemas.at("a"), schemas.folder / "w", count=2)
    schemas.copy("a", "old")
    ledger = witnessed(schemas)
    ledger.spend(Pure(1), question="q")
    schemas.copy("old", "a")
    with pytest.raises(LedgerError, match="is missing or was changed"):
        ledger.spend(Pure(1), question="r")
    with pytest.raises(LedgerError, match="older copy"):
        witnessed(schemas)


def test_tables_that_were_dropped_do_not_begin_anew(schemas: Schemas) -> None:
    spend_some(schemas.at("a"), schemas.folder / "w")
    with schemas.hand("a") as hand:
        hand.execute(f"DROP SCHEMA {schemas.schema('a')} CASCADE")
    with pytest.raises(LedgerError, match="which is missing"):
        witnessed(schemas)


@pytest.mark.parametrize("keep", [1, 3, 8])
def test_a_chain_made_anew_is_seen(shelf: Shelf, keep: int) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    with shelf.behind_its_back("a") as hand:
        recompute(shelf, hand, keep)
    with pytest.raises(LedgerError, match="recorded another entry"):
        witnessed(shelf)


def test_a_consistently_cut_end_is_seen(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    with shelf.behind_its_back("a") as hand:
        hand.execute("DELETE FROM entries WHERE sequence > 6")
        recompute(shelf, hand, keep=7)
    with pytest.raises(LedgerError, match="it was truncated"):
        witnessed(shelf)
    assert len(lines(shelf)) == 9


def test_a_file_that_was_removed_does_not_begin_anew(place: Path) -> None:
    spend_some(place / "a", place / "w")
    (place / "a").unlink()
    with pytest.raises(LedgerError, match="which is missing"):
        witnessed(Files(place))
    (place / "a").write_bytes(b"")
    with pytest.raises(LedgerError, match="which is missing"):
        witnessed(Files(place))


def test_a_ledger_ahead_of_its_witness_is_fine_and_lines_may_come_out_of_order(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    told = lines(shelf)
    for kept in (told[:5], [told[0], told[4], told[2]], [told[3]], ["", told[1], ""]):
        (shelf.folder / "w").write_text("\n".join(kept) + "\n")
        assert witnessed(shelf).verify().entries == 9


def test_the_newest_line_counts_wherever_it_stands(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w", count=2)
    shelf.copy("a", "old")
    witnessed(shelf).spend(Pure(1), question="q")
    told = lines(shelf)
    (shelf.folder / "w").write_text("\n".join([*told[:3], told[-1], *told[3:-1]]) + "\n")
    shelf.copy("old", "a")
    with pytest.raises(LedgerError, match="older copy"):
        witnessed(shelf)


@pytest.mark.parametrize("torn", ["5", "5 abc", "5 " + "a" * 63])
def test_a_torn_line_is_passed_over_for_good(shelf: Shelf, torn: str) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    with (shelf.folder / "w").open("a") as file:
        file.write(torn)
    ledger = witnessed(shelf)
    entry = ledger.spend(Pure(1), question="q")
    assert lines(shelf)[-2:] == [torn, f"{entry.sequence} {entry.hash}"]
    assert witnessed(shelf).verify().entries == 10


def test_a_line_nobody_wrote_is_not_passed_over(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    with (shelf.folder / "w").open("a") as file:
        file.write("hello\n")
    with pytest.raises(LedgerError, match="no ledger wrote"):
        witnessed(shelf)


def test_a_witness_that_shrinks_or_goes_away_under_a_running_ledger(shelf: Shelf) -> None:
    ledger = witnessed(shelf)
    ledger.spend(Pure(1), question="q")
    ledger.spend(Pure(1), question="r")
    told = (shelf.folder / "w").read_text()
    (shelf.folder / "w").write_text(told[:67])
    with pytest.raises(LedgerError, match="shorter"):
        ledger.spend(Pure(1), question="s")
    (shelf.folder / "w").unlink()
    with pytest.raises(LedgerError, match="witness of the ledger cannot be read"):
        ledger.spend(Pure(1), question="s")
    (shelf.folder / "w").write_text(told)
    assert ledger.spend(Pure(1), question="s").sequence == 3


def test_a_ledger_begun_with_a_witness_needs_it(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    last = lines(shelf)[-1]
    for terms in (TERMS, None):
        with pytest.raises(LedgerError, match="pass the file of the witness"):
            open_ledger(shelf.at("a"), terms)
    (shelf.folder / "w").rename(shelf.folder / "lost")
    with pytest.raises(LedgerError, match="witness of the ledger is missing") as raised:
        witnessed(shelf)
    assert last in str(raised.value)
    (shelf.folder / "w").write_text(last + "\n")  # what the message says, for an owner who knows
    assert witnessed(shelf).verify().entries == 9


def test_a_ledger_begun_without_a_witness_may_be_given_one(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), count=2)
    witnessed(shelf).spend(Pure(1), question="q")
    assert [line.split()[0] for line in lines(shelf)] == ["4", "5"]
    assert open_ledger(shelf.at("a"), TERMS).verify().entries == 6


def test_the_witness_of_another_ledger_is_refused(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), shelf.folder / "w")
    spend_some(shelf.at("b"), shelf.folder / "v")
    with pytest.raises(LedgerError, match="witness of another ledger"):
        open_ledger(shelf.at("a"), TERMS, shelf.folder / "v")


def test_the_witness_s_folder_must_exist(shelf: Shelf) -> None:
    with pytest.raises(LedgerError, match="witness of the ledger cannot be"):
        open_ledger(shelf.at("a"), TERMS, shelf.folder / "no" / "w")
