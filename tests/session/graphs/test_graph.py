"""Graph sessions: the road of an answer, its price and its repeats, all kinds of tables, and nothing that varies with the data."""

from __future__ import annotations

import itertools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

from discreet.algorithms.graphs.degrees import Degrees
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, PolicyError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.receipt import verify_receipt
from discreet.session.graphs.graph import GraphSession, graph
from discreet.session.graphs.release import GraphRelease
from discreet.session.graphs.request import GraphQuery

RING = [(i, (i + 1) % 300) for i in range(300)]
STAR = [(0, i) for i in range(1, 200)]


def frame(pairs: list[tuple[Any, Any]]) -> polars.DataFrame:
    return polars.DataFrame({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})


def opened(pairs: list[tuple[Any, Any]], protects: Any = "edge", epsilon: Any = 100, **more: Any) -> GraphSession:
    return graph({"friends": frame(pairs)}, source="a", target="b", protects=protects, epsilon=epsilon, **({"ledger": ":memory:"} | more))


def test_answers_are_near_and_say_how_near() -> None:
    with opened([*RING, *STAR], epsilon=200) as g:
        edges = g.edges(epsilon=30)
        assert abs(edges.value - 498) <= 3  # the edge from 0 to 1 is in both
        assert edges.interval is not None
        assert edges.interval[0] <= edges.value <= edges.interval[1]
        triangles = g.triangles(epsilon=60)
        assert abs(triangles.value - 198) <= 30
        degrees = g.degrees(epsilon=40, most=3)
        assert isinstance(degrees.value, Degrees)
        assert [round(count) for count in degrees.value.at_least] == [300, 300, 199]  # 1 has its edge to 0 already
        sequence = g.degree_sequence(epsilon=40, nodes=300)
        assert [round(degree) for degree in sequence.value[:2]] == [200, 3]
        assert [round(one["epsilon"]) for one in g.history()] == [30, 60, 40, 40]
        assert g.history()[0]["asked"] == "edges of friends"
        assert g.spent.epsilon == 170
        assert g.remaining.epsilon == 30


def test_where_nodes_are_protected() -> None:
    with opened([*RING, *STAR], "node", 300) as g:
        assert abs(g.edges(epsilon=50, most=2).value - 298) <= 8
        found = g.edges(epsilon=100)
        assert found.most is not None
        assert found.most >= 2
        assert found.half_width == g.edges().plan(100).error(most=found.most)
        assert abs(g.degrees(epsilon=50, most=3).value.at_least[0] - 300) <= 8
        triangles = g.triangles(epsilon=50, most=3)
        assert abs(triangles.value) <= 300
        assert triangles.half_width is None
        assert "each node of friends" in repr(triangles)
        assert "at most 3 edges" in repr(triangles)


def test_what_is_asked_again_is_free_and_the_same() -> None:
    with opened(RING, epsilon=1) as g:
        first = g.edges(epsilon="1/2")
        again = g.edges(epsilon=0.5)
        assert again.repeated
        assert not first.repeated
        assert (first.value, first.receipt) == (again.value, again.receipt)
        degrees = g.degrees(epsilon="1/4", most=4)
        assert g.degrees(epsilon="1/4", most=4).value == degrees.value
        assert g.spent.epsilon == 0.75
        assert "free now" in repr(again)
        with pytest.raises(BudgetExceeded):
            g.edges(epsilon="1/3")
        g.edges(epsilon="1/4")
        assert g.remaining.epsilon == 0


def test_payment_comes_before_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read until something is paid, and a failure keeps the payment."""
    g = opened(RING, epsilon=2)
    spent = []

    def fails(self: Engine, sql: str, given: Any = ()) -> Any:
        spent.append(g.spent.epsilon)
        raise EngineError("the engine failed")

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "run", fails)
        g.edges().plan(1).error()
        assert spent == []
        with pytest.raises(EngineError):
            g.edges(epsilon=1)
    assert spent == [1]
    g.edges(epsilon=1)
    assert g.spent.epsilon == 2
    assert [one["answered"] for one in g.history()] == [False, True]
    g.close()


def test_the_error_is_known_before_paying() -> None:
    with opened(RING) as g, opened(RING, "node") as h:
        assert g.edges().plan(1).error() == g.edges(epsilon=1).half_width == 3
        assert g.degrees(most=5).plan(1).error() == g.degrees(epsilon=1, most=5).half_width
        assert g.triangles().plan(1).error(common=20) > g.triangles().plan(1).error(common=2)
        assert h.triangles(most=3).plan(1).error(nodes=300) > 0
        assert h.edges().plan(1).error(most=8) > h.edges(most=8).plan(1).error()
        for plan, needed in (
            (g.triangles().plan(1), "common"),
            (h.triangles(most=3).plan(1), "nodes"),
            (h.edges().plan(1), "most"),
        ):
            with pytest.raises(Invalid, match=needed):
                plan.error()
        assert "2 nodes ε = 2" in h.edges().plan(1).explain()
        assert "for the interval: ε = 0.1" in g.triangles().plan(1).explain()


def test_the_width_of_triangles_is_told_for_its_share() -> None:
    with opened(list(itertools.combinations(range(30), 2)), epsilon=10) as g:
        found = g.triangles(epsilon=10)
        assert found.half_width is not None
        assert found.half_width >= g.triangles().plan(10).error(0.95, common=28)
        assert g.remaining.epsilon == 0


def test_prices_are_what_they_say() -> None:
    """The recorded loss of each answer is at most its ε, and of groups so many times that."""
    with opened(RING) as g, opened(RING, "node") as h:
        answers = [g.edges(epsilon=1), g.degrees(epsilon=1, most=3), g.triangles(epsilon=1), g.degree_sequence(epsilon=1, nodes=9)]
        answers += [h.edges(epsilon=1), h.edges(epsilon=1, most=3), h.degrees(epsilon=1, most=3), h.triangles(epsilon=1, most=3)]
        for one in answers:
            loss = one.receipt.loss
            assert loss.basic == (1, 0)
            verify_receipt(one.receipt.to_json())
            with pytest.raises(Invalid):
                verify_receipt(one.receipt.to_json() | {"epsilon": "1/2"})
            assert one.groups == {2: 2, 5: 5, 10: 10}
            assert loss.group(5).epsilon_at(0) == pytest.approx(5)
            assert "several" in repr(one)
            back = GraphRelease.from_text(one.to_text())
            assert (back.value, back.half_width, back.receipt) == (one.value, one.half_width, one.receipt)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tables_of_all_kinds(tmp_path: Path) -> None:
    table = frame([*RING, (5, 5), (1, 0), (None, 4)])
    table.write_parquet(tmp_path / "friends.parquet")
    table.write_csv(tmp_path / "friends.csv")
    for edges in (table, table.to_pandas(), table.to_arrow(), tmp_path / "friends.parquet", str(tmp_path / "friends.csv")):
        with graph(edges, source="a", target="b", protects="edge", epsilon=50, ledger=":memory:") as g:
            assert abs(g.edges(epsilon=50).value - 300) <= 1, type(edges)


def test_names_that_need_quotes() -> None:
    table = polars.DataFrame({'from "who"': ["x", "y"], "to whom": ["y", "z"]})
    with graph(table, source='from "who"', target="to whom", protects="edge", epsilon=50, ledger=":memory:") as g:
        assert abs(g.edges(epsilon=50).value - 2) <= 1


def test_a_file_keeps_its_ledger_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "friends.parquet"
    frame(RING).write_parquet(path)
    with graph(path, source="a", target="b", protects="edge", epsilon=1) as g:
        first = g.edges(epsilon=1)
    with graph(path, source="a", target="b", protects="edge", epsilon=1) as g:
        assert g.remaining.epsilon == 0
        assert g.edges(epsilon=1).value == first.value
    ledger = open_ledger(f"{path}.ledger")
    verify_receipt(first.receipt.to_json(), ledger)
    ledger.close()
    with pytest.raises(PolicyError, match="each edge of friends, not each node of friends"):
        graph(path, source="a", target="b", protects="node", epsilon=1)


def test_a_frame_without_a_ledger_is_said_loudly() -> None:
    with pytest.warns(UserWarning, match="is in memory"):
        graph(frame(RING), source="a", target="b", protects="edge", epsilon=1).close()


# ── nothing else varies with the data ────────────────────────────────────────────────────────────────────────────────

STRANGE: list[list[tuple[Any, Any]]] = [RING, STAR, [(1, 1)], [(1, None)], [(7, 8)] * 50]


def test_strange_tables_cause_no_error_and_the_same_debits(tmp_path: Path) -> None:
    said = []
    for protects in ("edge", "node"):
        for pairs in [*STRANGE, []]:
            table = polars.DataFrame(pairs, schema={"a": polars.Int64, "b": polars.Int64}, orient="row")
            with graph({"friends": table}, source="a", target="b", protects=protects, epsilon=10, ledger=":memory:") as g:  # type: ignore[arg-type]
                g.edges(epsilon=1)
                g.degrees(epsilon=1, most=3)
                g.triangles(epsilon=1, most=None if protects == "edge" else 3)
                said.append((protects, json.dumps([{k: v for k, v in one.items() if k != "at"} for one in g.history()])))
    assert len(set(said)) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "zzz"},
        {"target": "a"},
        {"source": None},
        {"protects": "person"},
        {"epsilon": 0},
        {"epsilon": None},
        {"delta": 2},
        {"analyst": "bob", "edges": 5},
    ],
    ids=str,
)
def test_wrong_openings(wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"edges": frame(RING), "source": "a", "target": "b", "protects": "edge", "epsilon": 1, "ledger": ":memory:"}
    with pytest.raises(Error):
        graph(**(given | wrong))


def test_ends_of_different_kinds_are_refused() -> None:
    table = polars.DataFrame({"a": [1], "b": ["1"]})
    with pytest.raises(Invalid, match="same kind"):
        graph(table, source="a", target="b", protects="edge", epsilon=1, ledger=":memory:")


WIDE = {
    "unsigned": polars.Series([2**63 + 1, 2**63 + 2, 2**64 - 1], dtype=polars.UInt64),
    "decimal": polars.Series([Decimal(2**60), Decimal(2**60 + 1), Decimal(3)], dtype=polars.Decimal(30, 2)),
}


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("column", ["a", 'who "?"', "group"])
def test_names_that_would_be_lost_are_refused_before_paying(kind: str, column: str, tmp_path: Path) -> None:
    small = polars.Series([1, 2, 3], dtype=polars.Int64)
    for source, target in ((WIDE[kind], small), (small, WIDE[kind])):
        table = polars.DataFrame({column: source, "b": target})
        with pytest.raises(EngineError, match='"text"'):
            graph(table, source=column, target="b", protects="edge", epsilon=1, ledger=str(tmp_path / "x.ledger"))
        said = {column: "text", "b": "text"}
        with graph(table, source=column, target="b", protects="edge", epsilon=100, ledger=":memory:", columns=said) as g:
            assert abs(g.edges(epsilon=100).value - 3) <= 1
    assert not (tmp_path / "x.ledger").exists()
    texts = polars.DataFrame({column: [str(value) for value in WIDE[kind].to_list()], "b": ["1", "2", "3"]})
    with graph(texts, source=column, target="b", protects="edge", epsilon=100, ledger=":memory:") as g:
        assert abs(g.edges(epsilon=100).value - 3) <= 1


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "UBIGINT", "DECIMAL(38, 0)"])
def test_wide_names_of_a_database_are_refused(kind: str) -> None:
    database = duckdb.connect()
    database.execute(f"CREATE TABLE friends AS SELECT CAST(1 AS {kind}) AS a, CAST(2 AS BIGINT) AS b")
    database.execute("CREATE VIEW decoy AS SELECT CAST(b AS DOUBLE) AS b FROM friends")
    with pytest.raises(EngineError, match='"text"'):
        graph({"friends": (database, "friends")}, source="a", target="b", protects="edge", epsilon=1, ledger=":memory:")
    database.execute("ALTER TABLE friends ALTER a TYPE BIGINT")
    with graph({"friends": (database, "friends")}, source="a", target="b", protects="edge", epsilon=100, ledger=":memory:") as g:
        assert abs(g.edges(epsilon=100).value - 1) <= 1


@pytest.mark.parametrize("dtype", [polars.Int8, polars.UInt32, polars.Int64, polars.Float32, polars.Float64, polars.String, polars.Date])
def test_names_that_can_be_told_apart_are_read(dtype: Any) -> None:
    ends = [polars.Series(part).cast(polars.Int32).cast(dtype) for part in ([1, 2, 3], [2, 3, 4])]
    with graph(
        polars.DataFrame({"a": ends[0], "b": ends[1]}), source="a", target="b", protects="edge", epsilon=100, ledger=":memory:"
    ) as g:
        assert abs(g.edges(epsilon=100).value - 3) <= 1


def test_wrong_questions() -> None:
    with opened(RING) as g, opened(RING, "node") as h:
        for ask in (
            lambda: g.edges(epsilon=1, most=4),
            lambda: g.triangles(epsilon=1, most=4),
            lambda: g.degrees(epsilon=1, most=0),
            lambda: GraphQuery(g._edges, "degrees").plan(1),
            lambda: GraphQuery(g._edges, "diameter").plan(1),  # type: ignore[arg-type]
            lambda: GraphQuery(g._edges, "edges", nodes=5).plan(1),
            lambda: g.degree_sequence(epsilon=1, nodes=0),
            lambda: g.degree_sequence(epsilon=1, nodes=10**13),
            lambda: g.degree_sequence(epsilon=1, nodes=5.5),  # type: ignore[arg-type]
            lambda: h.degree_sequence(epsilon=1, nodes=5),
            lambda: h.triangles(epsilon=1),
            lambda: g.edges(epsilon=0),
        ):
            with pytest.raises(Invalid):
                ask()
        assert g.history() == h.history() == []
    with pytest.raises((Invalid, LedgerError)):
        g.edges(epsilon=1)
