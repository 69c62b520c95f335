"""What is known about columns beside their declarations: it needs no discovery, and it is part of the question."""

from __future__ import annotations

from fractions import Fraction

import pytest
from session.synthesize import clinic

from discreet.errors import Invalid
from discreet.session.synthesize.discover import Columns, Undeclared, columns_of, undeclared
from discreet.session.synthesize.domains import Domains
from discreet.session.synthesize.request import SynthesisRequest
from discreet.session.synthesize.spec import SynthesisSpec
from discreet.tables.kind import Kind

BOUGHT = Domains(
    values={"dept": ("er", "ward")},
    edges={"age": tuple(map(Fraction, (0, 20, 40, 60, 120))), "cost": tuple(map(Fraction, (0, 20, 50, 100, 500)))},
    rows=3,
)


def test_a_profile_replaces_discovery() -> None:
    """What was released before comes with the specification: nothing is asked for, and the whole price goes to the table."""
    with clinic.session(keys=None, bounds={}, contributions=None) as db:
        table, names = db.table("visits"), ["dept", "age", "cost", "urgent"]
        plain = SynthesisSpec.of(db._pipeline, table, names, 2, "auto", 32, None, None)
        known = SynthesisSpec.of(db._pipeline, table, names, 2, "auto", 32, None, None, known=BOUGHT)
        assert plain.undeclared == Undeclared(("dept",), ("age", "cost"), True)
        assert not known.undeclared
        plan = SynthesisRequest(db._pipeline, known).plan(10, 1e-4)
        assert plan.discovery is None
        assert plan.decided is not None
        assert plan.decided.domain.sizes == (3, 5, 5, 3)
        assert plan.decided.rows == 3
        made = SynthesisRequest(db._pipeline, known).release(10, 1e-4)
        assert db.spent.epsilon == 10
        assert set(made.to_polars()["dept"].drop_nulls()) <= {"er", "ward"}  # all others share one category
        assert plain.asked != known.asked


def test_edges_that_are_given_come_before_a_profile() -> None:
    with clinic.session(keys=None, bounds={}) as db:
        edges = {"age": [0, 65, 120]}
        spec = SynthesisSpec.of(db._pipeline, db.table("visits"), ["age", "cost"], 2, "auto", 32, None, None, edges=edges, known=BOUGHT)
        assert spec.known.edges == {"age": (0, 65, 120), "cost": BOUGHT.edges["cost"]}


def test_declared_keys_need_no_domain_and_unknown_columns_do() -> None:
    with clinic.session() as db:
        columns: Columns = columns_of(db.table("visits").relation, ["dept", "age"])
    assert undeclared(columns, True, None, Domains()) == Undeclared()
    assert Domains().told == {"values": {}, "bounds": {}, "edges": {}, "rows": None}
    with pytest.raises(Invalid, match="no column here: there are a"):
        Domains.given({"b": [0, 1]}, {"a": Kind.INTEGER})


@pytest.mark.parametrize(
    ("missing", "columns", "share"),
    [
        (Undeclared(tuple("abc"), tuple("de"), True), 5, Fraction(1, 3)),
        (Undeclared(tuple("ab")), 4, Fraction(1, 6)),
        (Undeclared(tuple("a")), 20, Fraction(1, 10)),
        (Undeclared(rows=True), 20, Fraction(1, 10)),
    ],
)
def test_the_share_of_discovery_grows_with_what_is_not_declared(missing: Undeclared, columns: int, share: Fraction) -> None:
    assert missing.share(columns) == share
