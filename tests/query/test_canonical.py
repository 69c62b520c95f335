"""The plain form of a question, and its digest."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction

import pytest
from query.sql.clinic import CATALOG

from discreet.query.canonical import fingerprint, plain, question_digest
from discreet.query.sql.read import read


def test_equal_questions_have_equal_digests_and_others_do_not() -> None:
    one, same = (
        read("SELECT COUNT(*) AS n FROM visits WHERE cost > 1", CATALOG),
        read("select count(1) n from visits where (cost > 1)", CATALOG),
    )
    other = read("SELECT COUNT(*) AS n FROM visits WHERE cost > 2", CATALOG)
    assert question_digest(one) == question_digest(same) != question_digest(other)
    assert fingerprint(json.loads(json.dumps(plain(one)))) == question_digest(one)


def test_values_that_python_holds_equal_differ() -> None:
    values = [True, 1, Fraction(1), "1", datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1)]
    assert len({question_digest(value) for value in values}) == len(values)
    with pytest.raises(TypeError, match="float"):
        plain(0.5)
