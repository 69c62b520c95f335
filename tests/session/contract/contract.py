"""The contract of everything that can be bought. Each check raises AssertionError if a thing does not keep it."""

from __future__ import annotations

import copy
import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from session.contract.things import FORMULA, Thing, session

from discreet.errors import Error, Invalid, LedgerError
from discreet.ledger.chain import digest
from discreet.ledger.receipt import STATEFUL, Receipt, verify_receipt
from discreet.session.life_cycle import AnyPlan, AnyRelease, AnyRequest
from discreet.session.saved import open_release

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
Check = Callable[[Thing, Path, pytest.MonkeyPatch], None]


def refused(act: Callable[[], Any], otherwise: str, error: type[Error] = Error, match: str = "") -> None:
    """An action gives one of our errors, and nothing else."""
    try:
        act()
    except error as told:
        if match not in str(told):
            raise AssertionError(f"{otherwise}: {told}") from told
    except Exception as leaked:
        raise AssertionError(f"{otherwise}: {type(leaked).__name__}") from leaked
    else:
        raise AssertionError(otherwise)


def watching(db: Any, patch: pytest.MonkeyPatch) -> list[str]:
    """Debits and reads of a session, in the order in which they happen."""
    seen: list[str] = []
    read, charge = db._engine.batches, db._ledger._charge
    patch.setattr(db._engine, "batches", lambda *asked: (seen.append("read"), read(*asked))[1])
    patch.setattr(db._ledger, "_charge", lambda *asked: (seen.append("debit"), charge(*asked))[1])
    return seen


def plan_before_paying(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """A plan says what it costs and how far off it will be, and neither reads nor spends."""
    with thing.open() as db:
        seen, entries = watching(db, patch), db._ledger.length
        request = thing.request(db, db)
        assert isinstance(request, AnyRequest)
        plan = request.plan(thing.epsilon)
        assert isinstance(plan, AnyPlan)
        assert plan.epsilon == thing.epsilon
        assert plan.priced.kind == thing.kind
        assert plan.loss.epsilon_at(float(plan.delta)) <= float(plan.epsilon) * 1.000001
        assert plan.error() is not None
        assert str(plan.explain())
        for view in (request, plan):
            assert len(repr(view)) < 300
            assert "<script>" not in view._repr_html_()
        assert (seen, db._ledger.length, db.spent.epsilon) == ([], entries, 0), "the plan read or spent"


def pay_first(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """The ledger is charged before a row is read, and what it is charged is the price of the plan."""
    with thing.open() as db:
        seen = watching(db, patch)
        request = thing.request(db, db)
        bought = thing.buy(request)
        assert isinstance(bought.release, AnyRelease)
        assert seen[0] == "debit", "read before paying"
        charged = [one for one in db.history() if one["epsilon"]]
        assert len(charged) == len(bought.release.receipt.payments) == 1, "paid more than once"
        plan = request.plan(thing.epsilon)
        within = db.spent.epsilon <= plan.epsilon if thing.kind in STATEFUL else db.spent.epsilon == plan.epsilon
        assert within, "charged another price than planned"


def repeat_free(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """The same again costs nothing and has the same answer."""
    with thing.open() as db:
        bought = thing.buy(thing.request(db, db))
        spent, charged = db.spent, len([one for one in db.history() if one["epsilon"]])
        again = bought.again()
        assert db.spent == spent, "a repeat was charged"
        assert thing.answer(again) == thing.answer(bought.release), "a repeat has another answer"
        assert again.receipt == bought.release.receipt, "a repeat has another receipt"
        assert len([one for one in db.history() if one["epsilon"]]) == charged
        if thing.kind not in STATEFUL:
            assert thing.answer(thing.buy(thing.request(db, db)).release) == thing.answer(bought.release), "another answer"
            assert db.spent == spent, "the same request was charged again"


def save_open_verify(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """What is saved is read back as it was, and verified with and without the ledger."""
    with thing.open() as db:
        release = thing.buy(thing.request(db, db)).release
        release.save(place / "saved.json")
        for found in (type(release).open(place / "saved.json"), open_release(place / "saved.json")):
            assert type(found) is type(release)
            assert (found.rows, found.intervals, found.receipt) == (release.rows, release.intervals, release.receipt)
            assert found.to_text() == release.to_text()
            found.verify()
            found.verify(db._ledger)
            db.verify(found)
            assert found.explain()
            assert found._repr_html_()
        assert verify_receipt(json.loads(json.dumps(release.receipt.to_json())), db._ledger) == release.receipt
        for frame in (release.to_pandas(), release.to_polars(), release.to_arrow()):
            assert len(frame) == len(release.rows)


def sealed(said: dict[str, Any]) -> dict[str, Any]:
    """A receipt as a forger would seal it: its name and its hash fit what it says."""
    said = {name: value for name, value in said.items() if name != "hash"}
    price = [said["epsilon"], said["delta"], said["confidence"], said["policy"]]
    said["question"] = digest([said["kind"], said["request"], *([] if said["kind"] == "profile" else price), said["version"]])
    return said | {"hash": digest(said)}


def other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return str((Fraction(value) or Fraction(1)) / 2) if value.replace("/", "").isdigit() else value + "x"
        case dict():
            return value | {"made": "up"}
        case list() if value and isinstance(value[0], dict):
            return [value[0] | {"sequence": value[0]["sequence"] + 1}, *value[1:]]
        case list():
            return [*value, ["made up", {"kind": "pure", "epsilon": "0"}]]
    return "x"


def tampering_is_found(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """Every field of a receipt is sealed, and a forger who seals again is found by the ledger; so are other answers."""
    with thing.open() as db:
        release = thing.buy(thing.request(db, db)).release
        receipt = json.loads(json.dumps(release.receipt.to_json()))
        assert sealed(receipt) == receipt
        for name, value in receipt.items():
            changed = receipt | {name: ["made up"] if name == "notes" else other(value)}
            refused(partial(Receipt.from_json, changed), f"{name} is not sealed")
            if name not in ("hash", "question"):  # which follow from the rest
                refused(partial(verify_receipt, sealed(changed), db._ledger), f"{name} was forged")
            left = {key: one for key, one in receipt.items() if key != name}
            refused(partial(Receipt.from_json, left), f"{name} is left out", Invalid)
        _answers_are_checked(release, place, db._ledger)


def _answers_are_checked(release: Any, place: Path, ledger: Any) -> None:
    said = json.loads(release.to_text())
    text = json.dumps(_shifted(said["answers"]), separators=(",", ":"))
    assert text != json.dumps(said["answers"], separators=(",", ":"))
    changed = release.to_text().replace(json.dumps(said["answers"], separators=(",", ":")), text)
    (place / "forged.json").write_text(changed)
    refused(lambda: type(release).open(place / "forged.json"), "answers are not sealed", Invalid)
    body = changed[: changed.rindex(',"seal":')]
    (place / "forged.json").write_text(f'{body},"seal":"{hashlib.sha256(body.encode()).hexdigest()}"}}')
    if release.receipt.kind not in STATEFUL:  # of which the ledger keeps no answers
        forged = type(release).open(place / "forged.json")
        refused(lambda: forged.verify(ledger), "answers were forged", LedgerError)


def _shifted(value: Any) -> Any:
    """The same with every number one more, and every text in capitals, where answers are."""
    match value:
        case dict():
            kept = {"name", "confidence", "clique", "windows", "what", "how", "widths", "least", "most", "drawn", "kind", "edges"}
            return {
                name: one if name in kept or (name == "values" and "deviation" in value) else _shifted(one) for name, one in value.items()
            }
        case list():
            return [_shifted(one) for one in value]
        case bool() | None:
            return value
        case int() | float():
            return value + 1
        case str():
            return value.swapcase()
    return value


def bad_files_give_our_errors(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """Whatever a file holds, opening it gives a discreet.Error."""
    with thing.open() as db:
        release = thing.buy(thing.request(db, db)).release
    said = json.loads(release.to_text())
    texts = ["", "x", "[]", "{}", "null", "1e999", "[" * 50_000, json.dumps(said | {"format": 1}), json.dumps(said | {"kind": "other"})]
    texts += [json.dumps(said | {"answers": 3}), json.dumps(said["receipt"]), json.dumps(said)[:-20]]
    for at, text in enumerate(texts):
        (place / f"bad{at}.json").write_text(text)
    (place / "bytes.json").write_bytes(b"\xff\xfe\x00{")
    (place / "folder").mkdir(exist_ok=True)
    bad = [
        *(place / f"bad{at}.json" for at in range(len(texts))),
        place / "bytes.json",
        place / "folder",
        place / "missing",
        place / "no" / "x",
    ]
    for path in bad:
        for reading in (type(release).open, open_release):
            refused(partial(reading, path), f"{path.name} was opened")
    for path in (place / "folder", place / "no" / "x"):
        for write in (release.save, release.to_csv, release.to_parquet):
            refused(partial(write, path), "written where nothing can be", Invalid, "cannot be written")
    refused(lambda: type(release).open(place / "bad7.json"), "another version", Invalid, "version")


def cells_are_no_formulas(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """No cell of a CSV file begins like a formula, unless that is asked for; a workbook has none."""
    with thing.open() as db:
        release = thing.buy(thing.request(db, db)).release
    if thing.has_text:
        assert FORMULA in release.to_csv(formulas=True).replace('""', '"')
    evil = {"=k": ["=1+1", "+x", "-x", "@x", "\tx", "\rx"], "n": [-1.5] * 6}
    found = [list(csv.reader(io.StringIO(release.to_csv(), newline="")))]
    release.to_csv(place / "rows.csv")
    found.append(list(csv.reader(io.StringIO((place / "rows.csv").read_text()))))
    release.to_xlsx(place / "rows.xlsx")
    with zipfile.ZipFile(place / "rows.xlsx") as workbook:
        sheets = [ElementTree.fromstring(workbook.read(name)) for name in workbook.namelist() if "/sheet" in name]
    assert {cell.get("t") for sheet in sheets for cell in sheet.iter(f"{MAIN}c")} <= {None, "b", "inlineStr"}
    assert not any(list(sheet.iter(f"{MAIN}f")) for sheet in sheets)
    patch.setattr(type(release), "to_columns", lambda self, intervals=True, tidy=False: evil)
    found.append(list(csv.reader(io.StringIO(release.to_csv(), newline=""))))
    assert found[2][1][1] == "-1.5", "a number was changed"
    for table in found:
        for row in table:
            for cell in row:
                assert not cell.startswith(("=", "+", "@", "\t", "\r", "\n", "-x")), f"a formula: {cell}"


def others_are_refused(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """Another ledger does not know a receipt, and a session does not answer about tables of another one."""
    with thing.open() as db, thing.open() as another, session(age=120) as elsewhere:
        release = thing.buy(thing.request(db, db)).release
        thing.buy(thing.request(another, another))
        for verify in (another.verify, lambda found: verify_receipt(found.receipt.to_json(), another._ledger)):
            refused(partial(verify, release), "another ledger accepts it", LedgerError)
        if thing.kind not in ("graph", "profile", "threshold stream"):  # they name a table, or have their own, or take questions later
            refused(lambda: thing.buy(thing.request(db, elsewhere)), "tables of others", Invalid, "another session")
        if thing.kind == "threshold stream":
            stream = thing.request(db, db).open(1)
            refused(lambda: stream.ask(elsewhere.table("people").count()), "tables of others", Invalid, "another session")


def interrupted_run_is_clear(thing: Thing, place: Path, patch: pytest.MonkeyPatch) -> None:
    """A run that dies after paying is recorded as paid; what it says, and what asking again does, is clear."""
    with thing.open() as db:
        read = db._engine.batches

        def dies(*_: Any) -> Any:
            raise KeyboardInterrupt

        patch.setattr(db._engine, "batches", dies)
        with pytest.raises(KeyboardInterrupt) as caught:
            thing.buy(thing.request(db, db))
        patch.setattr(db._engine, "batches", read)
        spent = copy.copy(db.spent)
        assert spent.epsilon, "what was begun is not charged"
        if not thing.steps:
            (entry,) = [one for one in db.history() if one["epsilon"]]
            assert entry["answered"] is False
            notes = getattr(caught.value, "__notes__", [])
            assert any(f"ledger entry {entry['entry']}" in note and "again" in note for note in notes), "nothing is said"
        again = thing.buy(thing.request(db, db)).release
        again.verify(db._ledger)
        if not thing.steps:
            assert db.spent.epsilon == 2 * spent.epsilon, "one payment for two draws"


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        plan_before_paying, pay_first, repeat_free, save_open_verify, tampering_is_found, bad_files_give_our_errors, cells_are_no_formulas,
        others_are_refused, interrupted_run_is_clear,
    )
}  # fmt: skip
