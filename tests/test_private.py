"""Private values can be transformed, and nothing else reads them."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.errors import Error
from discreet.private import Private, reveal

SECRET = 4711

READS: dict[str, Callable[[Any], object]] = {
    "==": lambda p: p == SECRET,
    "!=": lambda p: p != SECRET,
    "<": lambda p: p < 1,
    ">=": lambda p: p >= 1,
    "bool": bool,
    "len": len,
    "iter": list,
    "item": lambda p: p[0],
    "in": lambda p: 1 in p,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "format": lambda p: f"{p:d}",
    "plus": lambda p: p + 1,
    "plus on the right": lambda p: 1 + p,
    "divided": lambda p: 1 / p,
    "modulo": lambda p: p % 10,
    "power": lambda p: p**2,
    "minus": operator.neg,
    "abs": abs,
    "round": round,
    "hash": hash,
    "numpy": np.asarray,
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "sqrt": math.sqrt,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_no_operation_reads_it(read: Callable[[Any], object]) -> None:
    for value in (SECRET, [SECRET], np.array([SECRET])):
        with pytest.raises((Error, TypeError)) as caught:
            read(Private(value))
        assert str(SECRET) not in str(caught.value)


def test_text_does_not_show_it() -> None:
    assert repr(Private(SECRET)) == str(Private(SECRET)) == "Private(…)"
    assert not hasattr(Private(SECRET), "__dict__")


def test_it_can_be_transformed_and_combined() -> None:
    assert reveal(Private([1, 2]).map(sum)) == 3
    assert isinstance(Private(1).map(str), Private)
    assert reveal(Private.together({"a": Private(1), "b": Private("x")})) == {"a": 1, "b": "x"}
    assert reveal(5) == 5
