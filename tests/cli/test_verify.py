"""`discreet verify`: ledgers, and receipts with their answers."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import polars

SQL = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"


def test_verify_a_receipt_alone_and_against_its_ledger(run: Any, asked: Path) -> None:
    receipt = asked.parent / "a.json"
    alone = run("verify", receipt)
    assert alone.code == 0
    assert "the answers are NOT checked against a ledger" in alone.out
    assert "give --ledger to check that too" in alone.out
    both = run("verify", receipt, "--ledger", asked)
    assert both.code == 0
    assert "paid in ledger entry 1, and these are the very answers that the ledger holds" in both.out
    (asked.parent / "b.json").write_text(json.dumps(json.loads(receipt.read_text())["receipt"]))
    ran = run("verify", asked.parent / "b.json", "--ledger", asked)
    assert ran.code == 0
    assert "no answers in this file" in ran.out
    (asked.parent / "c.json").write_text(run("ask", asked, SQL, "--epsilon", "0.5", "--json").out)
    ran = run("verify", asked.parent / "c.json", "--ledger", asked)
    assert ran.code == 0
    assert "the very answers" in ran.out


def test_verify_sees_changes(run: Any, asked: Path) -> None:
    receipt = asked.parent / "a.json"
    text = receipt.read_text()
    receipt.write_text(text.replace('"epsilon":"1/2"', '"epsilon":"1/4"'))
    assert run("verify", receipt).code == 2
    changed = text.replace('"ward"', '"hall"', 1)
    receipt.write_text(changed)
    assert run("verify", receipt, "--ledger", asked).code == 2
    body = changed[: changed.index(',"seal":')]
    receipt.write_text(f'{body},"seal":"{hashlib.sha256(body.encode()).hexdigest()}"}}')  # a forger seals it again
    assert run("verify", receipt).code == 0
    assert run("verify", receipt, "--ledger", asked).code == 5
    receipt.write_text("[]")
    assert run("verify", receipt).code == 2
    receipt.write_text("\x00")
    assert run("verify", receipt).code == 2
    assert run("verify", asked.parent / "none").code == 2


def test_verify_a_ledger(run: Any, asked: Path) -> None:
    ran = run("verify", asked.parent / "discreet.ledger")
    assert ran.code == 0
    assert "3 entries, 1 spends, 1 releases" in ran.out
    assert "no witness" in ran.out


def test_verify_sees_every_change_of_what_json_printed(run: Any, asked: Path) -> None:
    place = asked.parent / "c.json"
    told = json.loads(run("ask", asked, SQL, "--epsilon", "0.5", "--json").out)
    row, ends = told["rows"][0], told["intervals"][0]
    for changed, code in (
        (told, 0),
        (told | {"repeated": False}, 0),
        (told | {"rows": [row | {"visits": row["visits"] + 1}, *told["rows"][1:]]}, 5),
        (told | {"rows": told["rows"][1:]}, 5),
        (told | {"intervals": [{"visits": [ends["visits"][0] + 1, ends["visits"][1]]}, *told["intervals"][1:]]}, 5),
        (told | {"confidence": 0.99}, 5),
        (told | {"mean": 3}, 2),
        (told | {"receipt": [1]}, 2),
    ):
        place.write_text(json.dumps(changed))
        assert run("verify", place, "--ledger", asked).code == code
    (asked.parent / "a.json").write_text(json.dumps(json.loads((asked.parent / "a.json").read_text()) | {"rows": []}))
    assert run("verify", asked.parent / "a.json", "--ledger", asked).code == 2  # beside the true answers, others that nobody checks


def test_verify_dates_that_json_printed(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "d.parquet"
    polars.DataFrame({"day": [datetime.date(2024, 1, 1)] * 50, "id": range(50)}).write_parquet(data)
    said = ("--budget", "1", "--epsilon", "1", "--unit", "id", "--keys", "day=2024-01-01,2024-01-02")
    ran = run("ask", data, "SELECT day, COUNT(*) AS n FROM d GROUP BY day", *said, "--json")
    assert ran.code == 0, ran.err
    (tmp_path / "c.json").write_text(ran.out)
    assert run("verify", tmp_path / "c.json", "--ledger", data).code == 0


def test_verify_a_folder_of_receipts_and_a_project(run: Any, asked: Path) -> None:
    folder = asked.parent / "receipts"
    folder.mkdir()
    none = run("verify", folder)
    assert (none.code, "there is no receipt in" in none.err) == (2, True)
    text = (asked.parent / "a.json").read_text()
    for name in ("a.json", "b.json"):
        (folder / name).write_text(text)
    ran = run("verify", folder, "--ledger", asked)
    assert (ran.code, "2 receipts checked, against the ledger" in ran.out) == (0, True)
    (folder / "b.json").write_text(text.replace('"epsilon":"1/2"', '"epsilon":"1/4"'))
    ran = run("verify", folder)
    assert (ran.code, "sound a.json" in ran.out, "1 of 2 files are not sound: b.json" in ran.err) == (5, True, True)
    assert "3 entries" in run("verify", asked.parent).out
