"""Files that nobody saved: every one of them gives one of our errors, whatever was done to it."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.errors import Error, Invalid
from discreet.ledger.chain import digest
from discreet.session.synthesize.synthetic import Synthetic

MUTANTS, SEALED = 3000, 800
ODD: tuple[Any, ...] = (None, True, -1, 0, 10**400, 1e308, "", "x", "é\x00", [], {}, [[]], {"is": "Listed"}, "9" * 5000, "1/0", "nan")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    owner = duckdb.connect()
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 3 AS a, 'k' || i % 2 AS b FROM range(400) AS r(i)")
    db = discreet.connect({"t": (owner, "t")}, unit="id", epsilon=10, delta=1e-4, bounds={"a": (0, 2)}, keys={"b": ["k0", "k1"]},
                          one_row_per_unit=True, ledger=":memory:")  # fmt: skip
    place = tmp_path_factory.mktemp("saved") / "s.json"
    db.synthesize("t", epsilon=5, columns=["a", "b"]).save(place)
    return place.read_bytes()


def mutated(data: bytes, coins: random.Random) -> bytes:
    """A file with some bytes changed, taken out, put in or cut off."""
    found = bytearray(data)
    for _ in range(coins.choice((1, 1, 2, 8))):
        at = coins.randrange(len(found) or 1)
        match coins.randrange(6):
            case 0:
                found[at : at + 1] = bytes([coins.randrange(256)])
            case 1:
                del found[at : at + coins.randrange(1, 40)]
            case 2:
                found[at:at] = bytes(coins.randrange(256) for _ in range(coins.randrange(1, 9)))
            case 3:
                found[at : at + 1] = coins.choice((b"1e999", b"9" * 5000, b"NaN", b"[" * 3000, b"null", b"\\ud800", b"-"))
            case 4:
                found = found[:at]
            case _:
                found[at:at] = found[: coins.randrange(60)]
    return bytes(found)


def replaced(value: Any, coins: random.Random) -> Any:
    """Values with one of them, somewhere inside, replaced by an odd one or left out."""
    if isinstance(value, dict) and value and coins.random() < 0.9:
        name = coins.choice(sorted(value))
        if coins.random() < 0.1:
            return {key: one for key, one in value.items() if key != name}
        return {**value, name: replaced(value[name], coins)}
    if isinstance(value, list) and value and coins.random() < 0.9:
        at = coins.randrange(len(value))
        return [*value[:at], replaced(value[at], coins), *value[at + 1 :]]
    return coins.choice(ODD)


def test_a_file_as_it_was_saved(saved: bytes, tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(saved)
    assert len(Synthetic.open(tmp_path / "s").rows) > 300


def test_mutated_files_give_our_errors(saved: bytes, tmp_path: Path) -> None:
    coins, place, refused = random.Random(13), tmp_path / "s", 0
    for _ in range(MUTANTS):
        place.write_bytes(mutated(saved, coins))
        try:
            Synthetic.open(place)
        except Invalid:
            refused += 1
    assert refused > MUTANTS * 0.95  # a few change nothing


def sealed(said: dict[str, Any]) -> str:
    """A file as a forger would write it: name, hash and seal fit whatever it says."""
    receipt = said.get("receipt")
    if isinstance(receipt, dict):
        price = [receipt.get(name) for name in ("epsilon", "delta", "confidence")]
        named = [receipt.get("kind"), receipt.get("request"), *price, receipt.get("policy"), receipt.get("version")]
        receipt = {name: value for name, value in receipt.items() if name != "hash"} | {"question": digest(named)}
        receipt |= {"hash": digest(receipt)}
    body = {"format": 2, "kind": "synthetic table", "answers": said.get("answers"), "receipt": receipt}
    text = json.dumps(body, separators=(",", ":"), allow_nan=False)[:-1]
    return text + f',"seal":"{hashlib.sha256(text.encode()).hexdigest()}"}}'


def test_the_forger_can_forge(saved: bytes, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(sealed(json.loads(saved)))
    assert (tmp_path / "s").read_bytes() == saved.rstrip()
    assert Synthetic.open(tmp_path / "s").explain()


def test_sealed_nonsense_gives_our_errors(saved: bytes, tmp_path: Path) -> None:
    """The seal has no key: anybody can seal anything."""
    coins, place, refused = random.Random(14), tmp_path / "s", 0
    said = json.loads(saved)
    for _ in range(SEALED):
        changed = replaced({"receipt": said["receipt"], "answers": said["answers"]}, coins)
        try:
            place.write_text(sealed(changed))
        except (AttributeError, Error, ValueError, TypeError):
            continue  # nothing that can be sealed
        try:
            found = Synthetic.open(place)
            assert found.explain()
        except Error:
            refused += 1
    assert refused > SEALED / 4


@pytest.mark.parametrize("wrong", [{"nobody": 0.1}, {"a": -1}, {"a": "x"}, {"a": True}, [1], None], ids=str)
def test_shares_that_lie_beyond_are_of_its_own_columns(saved: bytes, tmp_path: Path, wrong: Any) -> None:
    said = json.loads(saved)
    said["receipt"]["discovered"]["beyond"] = {"a": 0.25}
    (tmp_path / "s").write_text(sealed(said))
    assert Synthetic.open(tmp_path / "s").beyond == {"a": 0.25}
    said["receipt"]["discovered"]["beyond"] = wrong
    (tmp_path / "s").write_text(sealed(said))
    with pytest.raises(Invalid):
        Synthetic.open(tmp_path / "s")


def test_whole_numbers_stay_whole_where_some_are_missing() -> None:
    """pandas made floats of them."""
    people = {"id": range(900), "age": [None if i % 9 == 0 else 2**60 + i % 4 for i in range(900)], "kids": [i % 3 for i in range(900)]}
    said: dict[str, Any] = {"keys": {"age": [2**60 + i for i in range(4)], "kids": [0, 1, 2]}, "not_null": ["kids"]}
    with discreet.connect(
        {"people": pa.table(people)}, unit="id", one_row_per_unit=True, epsilon=10, delta=1e-6, ledger=":memory:", **said
    ) as db:
        made = db.synthesize("people", epsilon=5, other=["age"])
        bins = db.synthesize("people", epsilon=4, columns=["kids"], edges={"kids": [0, 1, 2]})
    frame = made.to_pandas()
    assert [str(frame[name].dtype) for name in ("age", "kids")] == ["Int64", "int64"]  # where nothing can be missing, as it was
    assert frame["age"].isna().sum() == made.data["age"].count(None) > 0
    assert set(frame["age"].dropna()) == {2**60 + i for i in range(4)}
    assert str(bins.to_pandas()["kids"].dtype) == "int64"
    assert made.to_arrow().schema.field("age").type == pa.int64()


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "1e999", "[" * 100_000, '{"receipt": {}, "measured": [], "seal": ""}'])
def test_other_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(text)
    with pytest.raises(Invalid):
        Synthetic.open(tmp_path / "s")


def test_files_that_are_not_there(tmp_path: Path, saved: bytes) -> None:
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "no" / "where"):
        with pytest.raises(Invalid, match="cannot be read: check"):
            Synthetic.open(place)
    (tmp_path / "s").write_bytes(saved)
    table = Synthetic.open(tmp_path / "s")
    for place in (tmp_path, tmp_path / "no" / "where"):
        with pytest.raises(Invalid, match="cannot be written: check"):
            table.save(place)
