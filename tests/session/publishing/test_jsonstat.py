"""JSON-stat 2.0: the structure that the standard asks for, and every number in its place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from session.tables import CITIES, CUBE, session

from discreet.plots.table import Series
from discreet.session.publishing.jsonstat import jsonstat
from discreet.session.release import Release

TOLD = {"protects": "each row", "epsilon": "1", "delta": "0", "confidence": 0.95, "notes": [], "columns": {"n": {"role": "answer"}}}


def read(text: str | None) -> dict[str, Any]:
    """A data set, checked against https://json-stat.org/full/."""
    said: dict[str, Any] = json.loads(text or "")
    assert (said["version"], said["class"]) == ("2.0", "dataset")
    assert isinstance(said["label"], str)
    assert isinstance(said["source"], str)
    assert all(isinstance(note, str) for note in said["note"])
    assert len(said["id"]) == len(said["size"]) == len(set(said["id"]))
    assert set(said["dimension"]) == set(said["id"])
    for name, size in zip(said["id"], said["size"], strict=True):
        category = said["dimension"][name]["category"]
        assert len(category["index"]) == len(set(category["index"])) == size
        assert set(category["label"]) == set(category["index"])
        assert all(isinstance(one, str) for one in [*category["index"], *category["label"].values()])
    assert set(said["role"]) <= {"time", "geo", "metric"}
    assert all(name in said["id"] for names in said["role"].values() for name in names)
    value, whole = said["value"], math.prod(said["size"])
    assert len(value) == whole if isinstance(value, list) else all(0 <= int(at) < whole for at in value)
    return said


def cell(said: dict[str, Any], **at: str) -> Any:
    place = 0
    for name, size in zip(said["id"], said["size"], strict=True):
        place = place * size + said["dimension"][name]["category"]["index"].index(at[name])
    return said["value"][place] if isinstance(said["value"], list) else said["value"].get(str(place))


def check(release: Release, keys: dict[str, str], tidy: bool) -> dict[str, Any]:
    """Every number of a release is where its keys say."""
    said = read(release.to_jsonstat(tidy=tidy))
    columns = release.to_columns(tidy=tidy)
    numbers = said["dimension"]["measure"]["category"]["index"]
    assert numbers == [name for name in columns if name not in keys]
    for row in range(len(release)):
        at = {name: "_T" if columns[name][row] is None else columns[name][row] for name in keys}
        for name in numbers:
            assert cell(said, measure=name, **at) == columns[name][row]
    filled = said["value"] if isinstance(said["value"], list) else list(said["value"].values())
    assert sum(value is not None for value in filled) == sum(value is not None for name in numbers for value in columns[name])
    return said


def test_a_cube(tmp_path: Path) -> None:
    with session() as db:
        found = db.ask(CUBE, epsilon=0.2)
    said = check(found, {"dept": "", "sex": ""}, tidy=True)
    assert said["dimension"]["dept"]["category"]["label"]["_T"] == "Total"
    assert said["dimension"]["measure"]["category"]["label"]["n_low"] == "n, low end of the 95 % interval"
    assert said["extension"]["discreet"] == json.loads(json.dumps(found.metadata()))
    assert isinstance(said["value"], list)
    assert found.to_jsonstat(tmp_path / "cube.json") is None
    assert read((tmp_path / "cube.json").read_text("utf-8"))["size"] == [6, 4, 9]


def test_a_hierarchy_is_sparse() -> None:
    with session() as db:
        said = check(db.ask(CITIES, epsilon=0.2), {"region": "", "city": "", "sex": ""}, tidy=False)
    assert isinstance(said["value"], dict)


def test_values_that_are_spelt_like_a_code() -> None:
    key = Series("k", ["_T", "_X", None, "Total", 1, "1"], is_key=True, summed=[False] * 5 + [True])
    said = read(jsonstat({"k": key.values, "n": list(range(6))}, [key, Series("n", list(range(6)))], TOLD, "x"))
    category = said["dimension"]["k"]["category"]
    assert category["index"] == ["_T_", "_X_", "_X", "Total", "1", "_T"]
    assert category["label"] == {"_T_": "_T", "_X_": "_X", "_X": "NULL", "Total": "Total", "1": "1", "_T": "Total"}


def test_keys_that_do_not_tell_rows_apart() -> None:
    key = Series("k", ["a", "a"], is_key=True)
    said = read(jsonstat({"k": key.values, "n": [1, None]}, [key, Series("n", [1, None])], TOLD, "x"))
    assert (said["id"], said["value"]) == (["row", "measure"], [1, None])
    assert said["dimension"]["row"]["category"]["label"] == {"1": "k = a", "2": "k = a"}


def test_without_keys_and_with_text() -> None:
    with session() as db:
        said = read(db.ask("SELECT COUNT(*) AS n, MODE(sex) AS most FROM people", epsilon=0.5).to_jsonstat())
    assert said["id"] == ["measure"]
    assert said["dimension"]["measure"]["category"]["index"] == ["n", "n_low", "n_high"]
