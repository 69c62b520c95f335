"""Remote questions: recorded as they are typed, read by the server."""

from __future__ import annotations

from typing import Any

import pytest
from session.clinic import clinic

from discreet.errors import Invalid, Refused

SQL = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"


def test_sql_is_read_at_once(shared: Any) -> None:
    assert repr(shared.sql(SQL)) == f"Query({SQL})"
    assert "outputs: dept, n" in shared.sql(SQL)._repr_html_()
    assert not shared.sql(SQL).is_priced
    assert shared.sql(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.25) {SQL[7:]}").is_priced
    for wrong in ("SELECT * FROM visits", "SELECT nope FROM visits"):
        with pytest.raises(Refused):
            shared.sql(wrong)


def test_the_price_in_a_text(shared: Any) -> None:
    asked = shared.sql(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.25) {SQL[7:]}")
    assert asked.release().epsilon == 0.25
    with pytest.raises(Invalid, match="given twice"):
        asked.release(epsilon=0.5)


def test_the_builder_has_the_local_names_and_looks_alike(shared: Any) -> None:
    with clinic() as here:
        for build in (
            lambda db: db.table("visits"),
            lambda db: db.table("visits").where("cost > 10").group_by("dept").count(name="n").mean("cost"),
            lambda db: db.table("visits").per_unit(total="SUM(cost)").median("total", bounds=(0, 500)),
            lambda db: db.table("visits").group_by("dept").count().order_by("count", descending=True).limit(2),
        ):
            assert repr(build(shared)) == repr(build(here))
        local = {name for name in dir(here.table("visits")) if not name.startswith("_")}
    state = {
        "build",
        "contributions",
        "sets",
        "dialect",
        "estimator",
        "filters",
        "keys",
        "most",
        "ordered",
        "other",
        "question",
        "relation",
        "said",
        "sample",
        "minimised",
    }
    assert local - state - {"statistics"} - set(dir(shared.table("visits"))) == set()
    assert "Keep the rows" in str(shared.table("visits").where.__doc__)


def test_unknown_steps_are_told_with_a_suggestion(shared: Any) -> None:
    with pytest.raises(AttributeError, match=r"a query has no 'grup_by'; did you mean group_by\?"):
        shared.table("visits").grup_by("dept")
    with pytest.raises(AttributeError):
        shared.table("visits")._private()


def test_a_built_question_is_that_of_the_text(shared: Any) -> None:
    built = shared.table("visits").group_by("dept").count(name="n")
    first = built.release(epsilon=0.5)
    again = shared.ask(SQL, epsilon=0.5)
    assert (again.rows, again.repeated) == (first.rows, True)
    assert built.done().plan(0.5).priced.question == first.receipt.question
    assert built.price({"n": 10}) == shared.sql(SQL).price({"n": 10})
    assert built.dry_run(epsilon=1).receipt.dry_run
    assert set(built.bias(epsilon=0.5).rows[0]) == {"units", "over_limit"}


def test_errors_of_steps_come_when_they_are_planned(shared: Any) -> None:
    wrong = shared.table("visits").where("nope > 3").count()
    with pytest.raises(Refused, match="nope"):
        wrong.plan(0.5)
    with pytest.raises(Invalid, match="does not take these arguments"):
        shared.table("visits").count(1, 2, 3).plan(0.5)


def test_joins_send_the_other_table_along(shared: Any) -> None:
    visits = shared.table("visits")
    assert visits.join(shared.table("visits").per_unit(total="SUM(cost)"), on="patient_id").count(name="n").plan(0.5).epsilon == 0.5


def test_queries_of_other_sessions_are_refused(shared: Any) -> None:
    with clinic() as here:
        for other in (here.table("visits"), here.sql(SQL)):
            with pytest.raises(Invalid, match="another session"):
                shared.table("visits").join(other, on="patient_id")


def test_estimates_of_built_rows(shared: Any) -> None:
    rows = shared.table("visits").per_unit(total="SUM(cost)")
    assert "median" in repr(rows.estimate("median", "total", bounds=(0, 1500)))
    assert rows.estimate("median", "total", bounds=(0, 1500), epsilon=1).epsilon == 1
