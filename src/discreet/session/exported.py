"""Releases as tables of other tools. What numbers mean travels with them: columns x_low and x_high, and metadata with price and receipt.

In Arrow and Parquet the metadata of the schema, and of each field, has a key `discreet` with a JSON text. A CSV file has it beside it, in
`name.csv-metadata.json`, where the W3C's "CSV on the Web" looks for it.
"""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.exact import short
from discreet.extras import missing
from discreet.ledger.receipt import Receipt
from discreet.plots.table import Series
from discreet.session.publishing.words import method_in_words

FORMAT = 1
KEY = b"discreet"
SIDECAR = "-metadata.json"
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[=+\-@\t\r\n])")  # where some spreadsheets begin a cell, before what they would run
Columns = Mapping[str, Sequence[Any]]


def metadata(receipt: Receipt, series: Sequence[Series], confidence: float, notes: Sequence[str]) -> dict[str, Any]:
    """What the numbers of a release mean, and what was paid for them, as plain values."""
    return {
        "format": FORMAT,
        "kind": receipt.kind,
        "protects": receipt.protected,
        "adjacency": receipt.adjacency,
        "epsilon": short(receipt.epsilon),
        "delta": short(receipt.delta),
        "method": method_in_words(receipt.loss),
        "confidence": confidence,
        "bounds": receipt.discovered.get("bounds", {}),
        "notes": list(notes),
        "tables": _tables(receipt.request),
        "columns": {one.name: {"role": "synthetic"} if receipt.kind == "synthetic table" else _role(one) for one in series},
        "receipt": receipt.to_json(),
    }


def _tables(request: Any) -> list[str]:
    """The names of the tables that a request reads, as it was canonically written; a file that was read may say anything."""
    if isinstance(request, Mapping):
        own = [name] if request.get("is") == "Table" and isinstance(name := request.get("name"), str) else []
        return sorted({*own, *(name for part in request.values() for name in _tables(part))})
    return sorted({name for part in request for name in _tables(part)}) if isinstance(request, list | tuple) else []


def _role(series: Series) -> dict[str, Any]:
    """What a column is: a group key, or an answer with the columns of its interval and its tidy values."""
    if series.is_key:
        return {"role": "key"} | ({"total": series.total_column} if series.total_column else {})
    known = {"measures": series.measures, "of": series.of}
    ends = {} if series.low is None else {"low": f"{series.name}_low", "high": f"{series.name}_high"}
    tidy = {} if series.tidy is None else {"tidy": f"{series.name}_tidy"}
    return {"role": "answer"} | {name: text for name, text in known.items() if text} | ends | tidy


def roles(meta: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The role of each column of a table, by the metadata of its release; x_low and x_high are ends of intervals, k_total marks totals."""
    known: dict[str, dict[str, Any]] = dict(meta["columns"])
    for name, role in meta["columns"].items():
        known |= {role[end]: {"role": f"{end} end", "of": name, "confidence": meta["confidence"]} for end in ("low", "high") if end in role}
        known |= {role[beside]: {"role": beside, "of": name} for beside in ("tidy", "total") if beside in role}
    return {name: known.get(name, {"role": "answer"}) for name in names}


# ── Arrow and Parquet ────────────────────────────────────────────────────────────────────────────────────────────────


def arrow_table(columns: Columns, meta: Mapping[str, Any]) -> Any:
    """An Arrow table with metadata."""
    try:
        import pyarrow
    except ImportError:
        raise missing("pyarrow") from None
    arrays, fields = [], []
    for name, role in roles(meta, list(columns)).items():
        values = _narrow(columns[name])
        is_numeric = "low" in role or "end" in role["role"]
        unknown = is_numeric and all(value is None for value in values)  # Arrow cannot guess the type of NULLs
        array = pyarrow.array(values, pyarrow.float64() if unknown else None)
        arrays.append(array)
        fields.append(pyarrow.field(name, array.type, metadata={KEY: json.dumps(role)}))
    return pyarrow.table(arrays, pyarrow.schema(fields, metadata={KEY: json.dumps(meta)}))


def write_parquet(table: Any, place: Any) -> None:
    """Write an Arrow table as Parquet, into a file or a buffer."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, place)


def _narrow(values: Sequence[Any]) -> list[Any]:
    """A column with whole numbers beyond 64 bits, or beside floats, becomes a column of floats."""
    kinds = set(map(type, values))
    if not (kinds >= {int, float} or any(type(value) is int and abs(value) >= 2**63 for value in values)):
        return list(values)
    return [None if value is None else float(value) for value in values]


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def csv_text(columns: Columns, formulas: bool) -> str:
    """The rows as CSV; without `formulas`, texts that a spreadsheet would run are prefixed with an apostrophe."""
    text = io.StringIO()
    rows = itertools.chain([columns], zip(*columns.values(), strict=True))
    csv.writer(text, lineterminator="\n").writerows(map(_written if formulas else _harmless, row) for row in rows)
    return text.getvalue()


def _written(value: Any) -> Any:
    """Truth values as "CSV on the Web" writes them; all else as it is."""
    return str(value).lower() if isinstance(value, bool) else value


def _harmless(value: Any) -> Any:
    return _FORMULA.sub("'", value) if isinstance(value, str) else _written(value)


def csv_sidecar(path: str | os.PathLike[str], columns: Columns, meta: Mapping[str, Any]) -> str:
    """What stands beside a CSV file: its columns as "CSV on the Web" describes them, and the metadata of the release."""
    described = [
        {"name": name, "titles": name, "datatype": _datatype(columns[name], role), "discreet": role}
        for name, role in roles(meta, list(columns)).items()
    ]
    said = {"@context": "http://www.w3.org/ns/csvw", "url": os.path.basename(path), "tableSchema": {"columns": described}}
    return json.dumps(said | {"discreet": meta}, indent=1, ensure_ascii=False) + "\n"


def _datatype(values: Sequence[Any], role: Mapping[str, Any]) -> Any:
    """The type of a column's values as "CSV on the Web" names it; a column without values is of numbers if it is one of answers."""
    kinds = {type(value) for value in values if value is not None}
    if datetime.datetime in kinds and kinds <= {datetime.datetime, datetime.date}:
        fine = any(value.microsecond for value in values if isinstance(value, datetime.datetime))
        return {"base": "dateTime", "format": "yyyy-MM-dd HH:mm:ss" + (".SSSSSS" if fine else "")}  # as Python writes them
    if not kinds:
        return "string" if role["role"] == "key" else "number"
    for name, of in (("boolean", {bool}), ("integer", {int}), ("number", {int, float}), ("date", {datetime.date})):
        if kinds <= of:
            return name
    return "string"
