"""A ledger that was edited, cut, shuffled or damaged is not trusted."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger.shelves import Files, Schemas, Shelf, Tamper
from ledger.tampering import TERMS, recompute, spend_some

from discreet.errors import LedgerError, PolicyError
from discreet.ledger import chain
from discreet.ledger.history import History
from discreet.ledger.ledger import open_ledger
from discreet.ledger.storage import State
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.leaves import Pure

OTHER = "CASE substr({0}, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr({0}, 2)"  # another first digit

EDITS: dict[str, Tamper] = {
    "a spend made cheaper": lambda c: c.execute("""UPDATE entries SET body = replace(body, '"1"', '"0"') WHERE sequence = 3"""),
    "a release changed": lambda c: c.execute("UPDATE entries SET body = replace(body, '100', '101') WHERE sequence = 2"),
    "a question renamed": lambda c: c.execute("""UPDATE entries SET body = replace(body, '"question":"1"', '"question":"9"')"""),
    "a key changed": lambda c: c.execute("""UPDATE entries SET body = replace(body, 'k1', 'k9')"""),
    "the budget raised": lambda c: c.execute("""UPDATE entries SET body = replace(body, '"10"', '"99"') WHERE sequence = 0"""),
    "a kind changed": lambda c: c.execute(
        "UPDATE entries SET kind = 'release'" + (", question = 'q'" if c.mark == "%s" else "") + " WHERE sequence = 7"
    ),
    "a time changed": lambda c: c.execute("UPDATE entries SET at = replace(at, '20', '19') WHERE sequence = 5"),
    "a hash changed": lambda c: c.execute(f"UPDATE entries SET hash = {OTHER.format('hash')} WHERE sequence = 4"),
    "a link changed": lambda c: c.execute(f"UPDATE entries SET previous = {OTHER.format('previous')} WHERE sequence = 4"),
    "the first entry dropped": lambda c: c.execute("DELETE FROM entries WHERE sequence = 0"),
    "one dropped in the middle": lambda c: c.execute("DELETE FROM entries WHERE sequence = 4"),
    "one dropped and the rest moved up": lambda c: (
        c.execute("DELETE FROM entries WHERE sequence = 4"),
        c.execute("UPDATE entries SET sequence = sequence - 1 WHERE sequence > 4"),
    ),
    "the last one dropped": lambda c: c.execute("DELETE FROM entries WHERE sequence = 8"),
    "all dropped": lambda c: c.execute("DELETE FROM entries"),
    "two swapped": lambda c: (
        c.execute("UPDATE entries SET sequence = 99 WHERE sequence = 3"),
        c.execute("UPDATE entries SET sequence = 3 WHERE sequence = 5"),
        c.execute("UPDATE entries SET sequence = 5 WHERE sequence = 99"),
    ),
    "the filter emptied": lambda c: c.execute("""UPDATE state SET filter = replace(filter, '"basic":["4","0"]', '"basic":["0","0"]')"""),
    "the state set back": lambda c: c.execute("UPDATE state SET sequence = 6, head = (SELECT hash FROM entries WHERE sequence = 6)"),
    "the state dropped": lambda c: c.execute("DELETE FROM state"),
}


CASES = [(kind, edit) for kind in (Files, Schemas) for edit in [*EDITS, *kind.special]]
ON_OPENING = {"a wall taken down", "a table put in", "another application", "another version"}  # what a file's new connections look at


def shelf_of(kind: type[Shelf], place: Path, request: pytest.FixtureRequest) -> Shelf:
    return Files(place) if kind is Files else Schemas(place, request.getfixturevalue("postgres"))


@pytest.mark.parametrize(("kind", "edit"), CASES, ids=lambda case: case if isinstance(case, str) else case.__name__)
@pytest.mark.parametrize("live", [False, True])
def test_edits_are_seen(place: Path, request: pytest.FixtureRequest, kind: type[Shelf], edit: str, live: bool) -> None:
    shelf = shelf_of(kind, place, request)
    spend_some(shelf.at("a"))
    ledger = open_ledger(shelf.at("a"), TERMS)
    with shelf.behind_its_back("a") as hand:
        (EDITS | shelf.special)[edit](hand)
    with pytest.raises(LedgerError):
        ledger.verify() if live and (kind is Schemas or edit not in ON_OPENING) else open_ledger(shelf.at("a"), TERMS)


@pytest.mark.parametrize("edit", ["the filter emptied", "the state set back", "the last one dropped", "all dropped", "the state dropped"])
def test_edits_are_seen_before_the_next_spend(shelf: Shelf, edit: str) -> None:
    spend_some(shelf.at("a"))
    ledger = open_ledger(shelf.at("a"), TERMS)
    with shelf.behind_its_back("a") as hand:
        EDITS[edit](hand)
    for _ in range(2):  # and it stays so
        with pytest.raises(LedgerError, match="cannot be trusted"):
            ledger.spend(Pure(1), question="q")


def test_a_changed_release_is_not_shown_by_a_live_ledger(shelf: Shelf) -> None:
    spend_some(shelf.at("a"))
    ledger = open_ledger(shelf.at("a"), TERMS)
    with shelf.behind_its_back("a") as hand:
        EDITS["a release changed"](hand)
    for look in (lambda: ledger.find("0"), ledger.entries):
        with pytest.raises(LedgerError, match="cannot be trusted"):
            look()
    assert ledger.find("1") == {"rows": [{"n": 101}]}


def test_no_edit_no_alarm(shelf: Shelf) -> None:
    spend_some(shelf.at("a"))
    with shelf.behind_its_back("a"):
        pass
    assert open_ledger(shelf.at("a"), TERMS).verify().entries == 9


@pytest.mark.parametrize(
    "statement", ["UPDATE entries SET at = at", "DELETE FROM entries", "DELETE FROM state", "UPDATE state SET filter = ''"]
)
def test_the_tables_defend_themselves(shelf: Shelf, statement: str) -> None:
    spend_some(shelf.at("a"))
    with shelf.hand("a") as hand, pytest.raises(shelf.failures):
        hand.execute(statement)
    assert open_ledger(shelf.at("a"), TERMS).verify().entries == 9


def test_forged_entries_that_overspend_are_seen_though_every_seal_fits(shelf: Shelf) -> None:
    spend_some(shelf.at("a"))
    last = open_ledger(shelf.at("a"), TERMS).entries()[-1]
    body = {
        "question": "q",
        "key": None,
        "note": "",
        "analyst": None,
        "loss": record.to_json(Pure(7)),
        "charge": Charge.of(Pure(7)).to_json(),
        "whole": None,
    }
    forged = chain.seal(9, "spend", body, last.hash)
    with shelf.behind_its_back("a") as hand:
        shelf.insert(hand, forged)
        hand.execute("UPDATE state SET sequence = 9, head = ?", (forged.hash,))
    with pytest.raises(LedgerError, match="more than the budget"):
        open_ledger(shelf.at("a"), TERMS)


# ── damage to bytes ──────────────────────────────────────────────────────────────────────────────────────────────────


def damaged(whole: bytes, coins: random.Random) -> Iterator[bytes]:
    """The same file with a flipped bit, a cut end, or two pieces exchanged."""
    while True:
        copy, kind = bytearray(whole), coins.randrange(4)
        if kind == 0:
            del copy[coins.randrange(len(copy)) :]
        elif kind == 1:
            a, b, n = coins.randrange(len(copy) - 64), coins.randrange(len(copy) - 64), coins.randrange(1, 64)
            copy[a : a + n], copy[b : b + n] = copy[b : b + n], copy[a : a + n]
        else:
            copy[coins.randrange(len(copy))] ^= 1 << coins.randrange(8)
        if copy and bytes(copy) != whole:
            yield bytes(copy)


def check_damage(place: Path, times: int) -> int:
    """Damage a file many times: it is seen, or it touched nothing that the ledger says. Gives how often it was seen."""
    spend_some(place / "a")
    honest = open_ledger(place / "a", TERMS)
    entries, state = honest.entries(), honest.filter
    honest.close()
    whole, coins, seen = (place / "a").read_bytes(), random.Random(5), 0
    for number, (_, copy) in enumerate(zip(range(times), damaged(whole, coins), strict=False)):
        path = place / f"damaged{number}"
        path.write_bytes(copy)
        try:
            ledger = open_ledger(path, TERMS)
            assert ledger.entries() == entries
            assert ledger.filter == state
            ledger.close()
        except LedgerError:
            seen += 1
        path.unlink()
    return seen


def test_damage_is_seen_or_touches_nothing(place: Path) -> None:
    assert check_damage(place, 400) > 100


@pytest.mark.slow
def test_much_damage_is_seen_or_touches_nothing(place: Path) -> None:
    assert check_damage(place, 10_000) > 2_500


def replay(rows: list[list[object]], state: State) -> None:
    history = History()
    for row in rows:
        history.follow(chain.Entry(*row))  # type: ignore[arg-type]
    history.require(state)


def test_any_change_to_the_entries_themselves_is_seen(place: Path) -> None:
    """Ten thousand flips, cuts and exchanges of the rows, without SQLite between: every one is seen."""
    spend_some(place / "a")
    ledger, coins = open_ledger(place / "a", TERMS), random.Random(3)
    entries = ledger.entries()
    state = State(entries[-1].sequence, entries[-1].hash, ledger._history.standing.text)
    replay([[e.sequence, e.kind, e.text, e.previous, e.at, e.hash] for e in entries], state)
    for _ in range(10_000):
        rows: list[list[object]] = [[e.sequence, e.kind, e.text, e.previous, e.at, e.hash] for e in entries]
        kind, where = coins.randrange(4), coins.randrange(len(rows))
        if kind == 0:
            del rows[where]
        elif kind == 1:
            other = (where + 1 + coins.randrange(len(rows) - 1)) % len(rows)
            rows[where], rows[other] = rows[other], rows[where]
        else:
            column = coins.randrange(2, 6)
            text = bytearray(str(rows[where][column]).encode())
            text[coins.randrange(len(text))] ^= 1 << coins.randrange(7)
            rows[where][column] = text.decode()
        with pytest.raises(LedgerError):
            replay(rows, state)


def test_a_damaged_index_is_seen(place: Path) -> None:
    spend_some(place / "a")
    whole = (place / "a").read_bytes()
    where = next(i for i in range(len(whole)) if whole[i : i + 2] == b"k2" and whole[i - 1 : i] != b'"')  # in the index, not in the entry
    (place / "a").write_bytes(whole[:where] + b"k9" + whole[where + 2 :])
    with pytest.raises(LedgerError, match="its file is damaged"):
        open_ledger(place / "a", TERMS).verify()


def test_other_files_are_left_alone(place: Path) -> None:
    (place / "text").write_text("patient,cost\n1,2\n" * 100)
    connection = sqlite3.connect(place / "other.db")
    connection.execute("CREATE TABLE a (b)")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    for name, why in (("text", "not a ledger"), ("other.db", "not a ledger")):
        before = (place / name).read_bytes()
        with pytest.raises(LedgerError, match=why):
            open_ledger(place / name, TERMS)
        assert (place / name).read_bytes() == before
    with pytest.raises(LedgerError):
        open_ledger(place, TERMS)  # a folder


# ── what cannot be seen without a witness ────────────────────────────────────────────────────────────────────────────


def test_without_a_witness_an_older_copy_passes(shelf: Shelf) -> None:
    spend_some(shelf.at("a"), count=2)
    shelf.copy("a", "old")
    open_ledger(shelf.at("a"), TERMS).spend(Pure(5), question="much")
    shelf.copy("old", "a")
    assert open_ledger(shelf.at("a"), TERMS).remaining.epsilon == 8


def test_without_a_witness_a_chain_made_anew_passes(shelf: Shelf) -> None:
    spend_some(shelf.at("a"))
    with shelf.behind_its_back("a") as hand:
        recompute(shelf, hand, keep=3)
    report = open_ledger(shelf.at("a"), TERMS).verify()
    assert (report.entries, report.repriced) == (9, 3)  # a lazy forger left the losses as they were
    assert open_ledger(shelf.at("a"), TERMS).spent.epsilon != 4


def test_other_terms_are_a_matter_of_policy_not_of_trust(shelf: Shelf) -> None:
    spend_some(shelf.at("a"))
    with pytest.raises(PolicyError):
        open_ledger(shelf.at("a"), type(TERMS)(11, 0, "id"))
