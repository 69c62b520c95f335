"""Rows whose value a synthetic table does not know: few of numbers, and said wherever the table is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.session.synthesize.codes import Listed
from discreet.session.synthesize.others import about_clipped, about_others, has_others
from discreet.tables.kind import Kind

ROWS = 6000


def wages() -> pd.DataFrame:
    """Weeks of work, of which a third are spread thinly, numbers of visits with a long tail, and towns of which half are rare."""
    coin = np.random.default_rng(5)
    weeks = np.where(coin.random(ROWS) < 0.64, coin.integers(49, 53, ROWS), coin.integers(5, 49, ROWS))
    towns = np.where(coin.random(ROWS) < 0.5, "Delft", [f"village {i % 997}" for i in range(ROWS)])
    return pd.DataFrame({"weeks": weeks, "visits": coin.geometric(0.5, ROWS) - 1, "town": towns})


@pytest.fixture(scope="module")
def made() -> discreet.Synthetic:
    with discreet.connect({"wages": wages()}, unit=discreet.each_row(), epsilon=10, delta=1e-6, ledger=":memory:") as db:
        assert "values of town that are not found, and NULL, come out as missing" in db.synthesize("wages").plan(1).explain()
        return db.synthesize("wages", epsilon=1)


def test_numbers_that_are_too_rare_to_be_found_are_not_missing(made: discreet.Synthetic) -> None:
    rows, real = made.to_pandas(), wages()
    for name in ("weeks", "visits"):
        assert rows[name].isna().mean() < 0.05  # 36 % of the weeks were
        assert abs(rows[name].mean() - real[name].mean()) < 0.1 * real[name].std()
        assert real[name].min() <= rows[name].min()
        assert rows[name].max() <= real[name].max()
    told = made.answer({}, mean="weeks")
    assert abs(told.value - real["weeks"].mean()) < 4 * told.error


def test_values_that_were_not_found_are_said(made: discreet.Synthetic) -> None:
    missing = made.to_pandas()["town"].isna().mean()
    assert 0.4 < missing < 0.6
    said = f"NULL and values that were neither declared nor found come out as missing: about {100 * missing:.0f}"[:-1]
    for shown in (repr(made), str(made.report()), made.report().to_html(), "\n".join(made.small_print)):
        assert said in shown
        assert "% of town" in shown


def test_numbers_that_may_lie_beyond_the_bins_are_said(made: discreet.Synthetic, tmp_path: Path) -> None:
    share = made.beyond["visits"]
    ends = made.codings[1].ends
    assert 0.01 < share < 0.2
    assert f"up to {share:.1%} of visits ({ends})" in repr(made)
    told = made.answer({}, mean="visits")
    assert told.about == f"of values clipped to {ends}: up to {share:.1%} of all values of visits may lie beyond"
    assert str(told).endswith(f"({told.about})")
    assert made.answer({"visits": 0}).about == ""  # a count has no such rows
    made.save(tmp_path / "made.json")
    assert discreet.Synthetic.open(tmp_path / "made.json").answer({}, mean="visits") == told


def test_a_mean_over_listed_numbers_says_over_which_rows() -> None:
    keys = {"weeks": [49, 50, 51, 52]}
    with discreet.connect({"wages": wages()}, unit=discreet.each_row(), epsilon=10, delta=1e-6, keys=keys, ledger=":memory:") as db:
        told = db.synthesize("wages", epsilon=5, columns=["weeks"], other=True).answer({}, mean="weeks")
        left_out = db.synthesize("wages", epsilon=4, columns=["weeks"]).answer({}, mean="weeks")
    assert told.about.startswith("over the 6")
    assert told.about.endswith("% of rows whose value is known")
    assert left_out.about == ""  # rows with other weeks are no part of that table


def test_what_is_not_worth_saying_is_not_said() -> None:
    assert about_others({"a": 0.009}) == about_clipped([], {"a": 0.5}) == []
    many = about_others({f"c{i}": 0.5 for i in range(10)})[0]
    assert many.endswith("about 50.0% of c7 and 2 more columns")


def test_null_alone_is_no_other_value() -> None:
    assert has_others(Listed("a", Kind.TEXT, ("x",), True))
    assert not has_others(Listed("a", Kind.TEXT, ("x",), False))
    assert not has_others(Listed("a", Kind.BOOLEAN, (False, True), True))
