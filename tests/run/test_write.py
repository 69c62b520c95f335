"""The SQL of each step, against a reference in Python; and the bounds that privacy rests on."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from plan import samples as tables

from discreet.engines.duckdb.dialect import DUCKDB, DuckDBDialect
from discreet.plan.bounding import Bounding, Groups, Rows, Single
from discreet.plan.scaling import Scaled
from discreet.private import reveal
from discreet.query.grid import SUMMED, UNWEIGHTED, WEIGHTED
from discreet.query.relation.expr import Column, field_of
from discreet.query.totals import Total, Totals
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.write import write_capped, write_per_unit, write_totals, write_units, write_weights

KEYS = [f"k{i}" for i in range(4)]  # k4 and NULL stay outside
BOUNDINGS: list[Bounding] = [Single(), Rows(1), Rows(3), Rows(50), Groups(1, 1), Groups(2, 3), Groups(3, 2, True), Groups(4, 50, True)]
X, K = Column("x"), Column("k")


def source(bounding: Bounding, groups: list[str] | None = KEYS) -> Source:
    relation = tables.scan(each=isinstance(bounding, Single))
    return Source(relation, (("k", K),), None if groups is None else tuple((key,) for key in groups), DUCKDB)


def stats(bounding: Bounding) -> list[Total]:
    precision = UNWEIGHTED if isinstance(bounding, Single) else WEIGHTED if isinstance(bounding, Rows) else SUMMED
    of = Totals(tables.scan().schema, {}, precision, False, False)
    products = [of.product((X, power)) for power in (1, 2, 3, 4)]
    return [of.rows(), of.count(X), products[0], of.plain(X), *products[1:]]


def added(total: Total, value: Any) -> int:
    clean = tables.clamped(value)
    if total.form == "rows":
        return 1
    if clean is None:
        return 0
    if not total.factors:
        return 1
    ((factor),) = total.factors
    return tables.place(clean, factor.grid.mid, factor.grid.step, factor.grid.most) ** factor.power


def run(found: list[tables.Row], statement: Statement) -> dict[str, list[Any]]:
    with tables.engine(found) as engine:
        return {name: column.tolist() for name, column in reveal(engine.run(statement.text, statement.given)).items()}


@pytest.mark.parametrize("bounding", BOUNDINGS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_totals_are_what_they_are_said_to_be(bounding: Bounding, seed: int) -> None:
    found = tables.rows(seed)
    every = stats(bounding)
    pairs = [(stat, Scaled.of(stat, bounding, "add/remove", len(KEYS))) for stat in every]
    out = run(found, write_totals(source(bounding), pairs, bounding))
    expected: dict[Any, list[int]] = defaultdict(lambda: [0] * len(every))
    for (_, key, value), weight in tables.weights(found, bounding, set(KEYS)):
        for i, stat in enumerate(every):
            expected[key][i] += weight * added(stat, value)
    for key, *totals in zip(out["k0"], *(out[f"s{i}"] for i in range(len(every))), strict=True):
        if key in KEYS:
            shifted = [_towards_zero(total, scaled.bits) for total, (_, scaled) in zip(expected.pop(key), pairs, strict=True)]
            assert totals == shifted
    assert not expected


def _towards_zero(total: int, bits: int) -> int:
    return total // 2**bits if total >= 0 else -(-total // 2**bits)


@pytest.mark.parametrize("bounding", BOUNDINGS[1:], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_one_unit_reaches_no_further_than_it_may(bounding: Bounding, seed: int) -> None:
    for stat in stats(bounding):
        sums: dict[Any, Counter[Any]] = defaultdict(Counter)
        for (unit, key, value), weight in tables.weights(tables.rows(seed), bounding, set(KEYS)):
            sums[unit][key] += weight * added(stat, value)
        for cells in sums.values():
            if not (isinstance(bounding, Groups) and bounding.euclidean):
                assert sum(map(abs, cells.values())) <= bounding.sensitivity.l1 * stat.most
            assert sum(v * v for v in cells.values()) <= (bounding.sensitivity.l2 * stat.most) ** 2


def test_weights_that_were_not_rounded_down_would_be_seen() -> None:
    """The check above can fail: rounding the weights up passes the bound."""
    bounding = Rows(3)
    most = max(
        sum(-(-bounding.one * 3 // max(n, 3)) for _ in range(n))  # ⌈one·3/n⌉ for each of n rows
        for n in range(1, 50)
    )
    assert most > bounding.sensitivity.l1


@pytest.mark.parametrize("bounding", [b for b in BOUNDINGS if not (isinstance(b, Groups) and b.euclidean)], ids=str)  # choices are pure
def test_weights_by_value(bounding: Bounding) -> None:
    found = tables.rows(9)
    out = run(found, write_weights(source(bounding), X, "CAST(FLOOR(__e0) AS BIGINT)", bounding))
    there = [row for row in found if tables.clamped(row[2]) is not None]
    expected: Counter[Any] = Counter()
    for (_, key, value), weight in tables.weights(there, bounding, set(KEYS)):
        expected[key, int(tables.clamped(value) // 1)] += weight
    assert {(k, v): w for k, v, w in zip(out["k0"], out["v"], out["w"], strict=True) if k in KEYS} == dict(expected)


@pytest.mark.parametrize("bounding", [Groups(1, 1), Groups(3, 1), Groups(2, 1, True)], ids=str)
def test_units_count_once_in_each_group(bounding: Groups) -> None:
    found = tables.rows(3)
    out = run(found, write_units(source(bounding), None, bounding, 0))
    pairs = {(row[0], row[1]) for row in found if row[0] is not None and row[1] in KEYS}
    expected = Counter(dict.fromkeys(KEYS, 0))
    for (_, key, _), weight in tables.weights([(unit, key, 0.0) for unit, key in pairs], bounding, set(KEYS)):
        expected[key] += weight
    assert dict(zip(out["k0"], out["s0"], strict=True)) == dict(expected)
    assert run(found, write_units(Source(tables.scan(), (), None, DUCKDB), None, Groups(1, 1, one=1), 0)) == {
        "s0": [len({row[0] for row in found} - {None})]
    }


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("root", [None, 2**20])
def test_a_unit_counts_in_no_more_groups_than_it_may(most: int, root: int | None) -> None:
    """Taking one unit away changes at most `most` groups, each by one; with a root the length of the change is at most the root."""
    found = tables.rows(5)
    statement = write_capped(source(Rows(1), None), None, most, "salt", root)

    def counts(rows: list[tables.Row]) -> dict[Any, int]:
        out = run(rows, statement)
        return dict(zip(out["k0"], out["s0"], strict=True))

    whole = counts(found)
    for unit in {row[0] for row in found} - {None}:
        less = counts([row for row in found if row[0] != unit])
        changes = [whole[key] - less.get(key, 0) for key in whole]
        assert set(less) <= set(whole)
        assert sum(change != 0 for change in changes) <= most
        assert min(changes) >= 0
        if root is None:
            assert max(changes) <= 1
        else:
            assert sum(change * change for change in changes) <= root * root


def test_different_values_are_capped() -> None:
    found = [(1, "k0", float(i)) for i in range(9)] + [(2, "k0", 3.0), (2, "k1", 5.0), (3, None, 1.0)]
    relation = tables.scan(bounds=(0, 100))
    floor = field_of(X, relation.schema)
    assert floor.kind is not None
    source_ = Source(relation, (("k", K),), None, DUCKDB)
    out = run(found, write_capped(source_, X, 4, "salt"))
    assert 4 <= dict(zip(out["k0"], out["s0"], strict=True))["k0"] <= 5


def test_one_number_for_each_unit() -> None:
    found = [(1, "k0", 1.0), (1, "k0", 7.0), (2, "k1", 3.0), (None, "k1", 9.0)]
    plain = Source(tables.scan(), (), None, DUCKDB)
    assert run(found, write_per_unit(plain, "MAX(x)", X, "__e0")) in ({"v": [7.0, 3.0], "w": [1, 1]}, {"v": [3.0, 7.0], "w": [1, 1]})
    assert run(found, write_per_unit(plain, "COUNT(*) > 0")) == {"v": [True], "w": [2]}


def test_shifted_totals_move_no_further_than_is_said() -> None:
    """A shift of s bits may move each cell by one more; the scaled sensitivity allows for it."""
    stat = stats(Rows(7))[2]
    scaled = Scaled.of(stat, Rows(7), "add/remove", cells=5)
    assert scaled.bits > 0
    reach = Rows(7).sensitivity.l1 * stat.most
    for a in range(-50, 50, 7):
        parts = [reach // 5] * 5
        before = [a * 3**i for i in range(5)]
        after = [b + part for b, part in zip(before, parts, strict=True)]
        moved = sum(abs(_towards_zero(x, scaled.bits) - _towards_zero(y, scaled.bits)) for x, y in zip(before, after, strict=True))
        assert moved <= scaled.l1
    assert Fraction(scaled.l1) < Fraction(reach, 2**scaled.bits) * Fraction(1001, 1000)


def test_what_the_shift_adds_is_needed() -> None:
    """A unit that carries every cell just over a multiple of 2^bits moves the shifted totals by more than its own reach, shifted."""
    stat, cells = stats(Rows(7))[2], 5
    scaled = Scaled.of(stat, Rows(7), "add/remove", cells)
    step, reach = 2**scaled.bits, Rows(7).sensitivity.l1 * stat.most
    each = (reach // cells - 1) // step * step + 1
    parts = [reach - (cells - 1) * each] + [each] * (cells - 1)
    assert sum(parts) == reach
    moved = sum((step - 1 + part) // step for part in parts)  # from totals of step − 1, which are 0 when shifted
    assert -(-reach // step) < moved <= scaled.l1
    assert scaled.l2**2 >= sum(Fraction((step - 1 + part) // step) ** 2 for part in parts)


@pytest.mark.parametrize("bounding", BOUNDINGS, ids=str)
def test_engines_are_told_how_large_a_summand_may_be(bounding: Bounding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark sums in parts by it: were it too small, a sum would wrap around."""
    said: list[int] = []
    monkeypatch.setattr(DuckDBDialect, "total", lambda self, summand, most: (said.append(most), f"MAX(ABS({summand}))")[1])
    every = stats(bounding)
    for seed in range(4):
        said.clear()
        statement = write_totals(source(bounding), [(stat, Scaled(0, 1, Fraction(1))) for stat in every], bounding)
        largest = run(tables.rows(seed), statement)
        assert all(max(largest[f"s{i}"]) <= said[i] for i in range(len(every)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [1, 3, 50])
def test_both_forms_of_counting_rows_give_the_same_integers(rows: int, seed: int) -> None:
    bounding, found = Rows(rows), tables.rows(seed)
    pairs = [(stat, Scaled.of(stat, bounding, "add/remove", len(KEYS))) for stat in stats(bounding)]
    plain = source(bounding)
    ways = [evolve(plain, dialect=evolve(DUCKDB, joins_all=all_units)) for all_units in (True, False)]
    texts = [write_totals(way, pairs, bounding) for way in ways]
    assert texts[0].text != texts[1].text
    one, other = (sorted(zip(*run(found, text).values(), strict=True), key=repr) for text in texts)
    assert one == other
    values = [write_weights(way, X, "CAST(FLOOR(__e0) AS BIGINT)", bounding) for way in ways]
    one, other = (sorted(zip(*run(found, text).values(), strict=True), key=repr) for text in values)
    assert one == other
