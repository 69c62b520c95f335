"""A release as a JSON-stat 2.0 data set (https://json-stat.org/full/), which statistical tools and offices read.

Every key is a dimension, and so is what was measured (`measure`): the answers, the ends of their intervals (name_low, name_high) and tidy
values. A sum over all values of a key is its category `_T`, as in SDMX's code lists, and NULL is `_X`. What the numbers mean, and the
receipt, is in `extension.discreet`.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.plots.table import TOTAL, Series
from discreet.session.exported import roles
from discreet.session.publishing.words import price_in_words

MEASURE, ROW = "measure", "row"
TOTAL_CODE, NULL_CODE = "_T", "_X"


def jsonstat(columns: Mapping[str, Sequence[Any]], series: Sequence[Series], told: Mapping[str, Any], label: str) -> str:
    """The data set as one line of JSON."""
    keys = [one for one in series if one.is_key]
    numbers = {name: values for name, values in columns.items() if name not in {key.name for key in keys} and _are_numbers(values)}
    count = len(series[0].values) if series else 0
    dimensions = {key.name: _categories(key) for key in keys}
    places = [tuple(at) for at in zip(*(at for at, _ in dimensions.values()), strict=True)] if keys else [()] * count
    if len(set(places)) < count or MEASURE in dimensions:  # keys that do not tell rows apart: every row is a category of its own
        named = [
            ", ".join(f"{name} = {list(labels.values())[at[row]]}" for name, (at, labels) in dimensions.items()) for row in range(count)
        ]
        dimensions = {ROW: (list(range(count)), {str(row + 1): label or str(row + 1) for row, label in enumerate(named)})}
        places = [(row,) for row in range(count)]
    sizes = [*(len(labels) for _, labels in dimensions.values()), len(numbers)]
    cells = {
        _place((*places[row], i), sizes): value
        for i, values in enumerate(numbers.values())
        for row, value in enumerate(values)
        if value is not None
    }
    described = {name: {"category": {"index": list(labels), "label": labels}} for name, (_, labels) in dimensions.items()}
    measures = {
        "category": {
            "index": list(numbers),
            "label": {name: _meaning(name, role, told) for name, role in roles(told, list(numbers)).items()},
        }
    }
    dated = [key.name for key in keys if key.name in dimensions and any(isinstance(value, datetime.date) for value in key.values)]
    whole = math.prod(sizes)
    found = {
        "version": "2.0",
        "class": "dataset",
        "label": label,
        "source": f"differential privacy, protecting {told['protects']}: {price_in_words(told)}",
        "note": list(told["notes"]),
        "id": [*described, MEASURE],
        "size": sizes,
        "role": {"metric": [MEASURE]} | ({"time": dated} if dated else {}),
        "dimension": described | {MEASURE: {"label": "what was measured"} | measures},
        "value": {str(at): cells[at] for at in sorted(cells)} if 2 * len(cells) < whole else [cells.get(at) for at in range(whole)],
        "extension": {"discreet": dict(told)},
    }
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def _categories(key: Series) -> tuple[list[int], dict[str, str]]:
    """The category of each row, and the label of each by its code; the total last."""
    marks = key.summed or [False] * len(key.values)
    rows = [(TOTAL_CODE, None) if summed else _coded(value) for value, summed in zip(key.values, marks, strict=True)]
    different = sorted(dict.fromkeys(rows), key=lambda one: one[0] == TOTAL_CODE)
    labels: dict[str, str] = {}
    for code, value in different:
        text = {TOTAL_CODE: TOTAL, NULL_CODE: "NULL"}.get(code) or str(value)
        code = code or text
        while value is not None and (code in labels or code in (TOTAL_CODE, NULL_CODE)):  # a value that is spelt like another
            code += "_"
        labels[code] = text
    at = {one: place for place, one in enumerate(different)}
    return [at[one] for one in rows], labels


def _coded(value: Any) -> tuple[str, Any]:
    return (NULL_CODE, None) if value is None else ("", value)


def _meaning(name: str, role: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    if "end" in role["role"]:
        return f"{role['of']}, {role['role']} of the {told['confidence'] * 100:.4g} % interval"
    return f"{role['of']}, tidy" if role["role"] == "tidy" else role.get("measures", name)


def _place(at: Sequence[int], sizes: Sequence[int]) -> int:
    """The place of a cell in row-major order."""
    found = 0
    for place, size in zip(at, sizes, strict=True):
        found = found * size + place
    return found


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)
