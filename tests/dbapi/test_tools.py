"""Tools that read through the database interface: pandas, Polars, JupySQL and marimo. Each receives intervals as columns."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

COUNT = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"
NAMES = ["dept", "n", "n_low", "n_high"]
sa = pytest.importorskip("sqlalchemy", minversion="2.0")  # what these tools need in their present versions


def test_pandas(clinic: Any) -> None:
    pandas = pytest.importorskip("pandas")
    engine = clinic.engine(epsilon="0.1")
    found = pandas.read_sql(COUNT, engine)
    assert list(found.columns) == NAMES
    assert (found.n_low <= found.n).all()
    again = pandas.read_sql_query(
        sa.text("SELECT dept, COUNT(*) AS n FROM visits WHERE cost > :c GROUP BY dept"), engine, params={"c": 100}
    )
    assert len(again) == 3
    with pytest.raises(Exception, match="single rows are never shown"):
        pandas.read_sql("visits", engine)
    assert clinic.spent() == 0.2


def test_polars(clinic: Any) -> None:
    polars = pytest.importorskip("polars")
    by_engine = polars.read_database(COUNT, clinic.engine(epsilon="0.1"))
    by_connection = polars.read_database(COUNT, clinic.connect(epsilon=0.1))
    assert by_engine.columns == NAMES
    assert by_engine.equals(by_connection)
    assert clinic.spent() == 0.1


def test_jupysql(clinic: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sql.magic", reason="jupysql is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    shell = InteractiveShell.instance()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of JupySQL's own dependencies
            shell.run_line_magic("load_ext", "sql")
            shell.run_line_magic("config", "SqlMagic.displaycon = False")
            shell.run_line_magic("config", "SqlMagic.feedback = 0")
            shell.user_ns["engine"] = clinic.engine(epsilon="0.1")
            shell.run_line_magic("sql", "engine")
            found = shell.run_cell_magic("sql", "", COUNT).DataFrame()
            shell.run_line_magic("sql", f"{clinic.url(epsilon='0.1')} --alias address")
            again = shell.run_cell_magic("sql", "", COUNT).DataFrame()
        assert list(found.columns) == NAMES
        assert found.equals(again)
        assert len(found) == 3
        assert clinic.spent() == 0.1
    finally:
        shell.history_manager.end_session()
        shell.history_manager.save_thread and shell.history_manager.save_thread.stop()
        InteractiveShell.clear_instance()


def test_marimo(clinic: Any) -> None:
    marimo = pytest.importorskip("marimo")
    from marimo._sql.engines.sqlalchemy import SQLAlchemyEngine

    engine = clinic.engine(epsilon="0.1")
    listed = SQLAlchemyEngine(engine).get_databases(include_schemas=True, include_tables=True, include_table_details=True)
    tables = [table for database in listed for schema in database.schemas for table in schema.tables]
    assert [(table.name, [column.name for column in table.columns]) for table in tables] == [("visits", ["person", "cost", "dept"])]
    assert clinic.spent() == 0  # its panel of data sources is free
    found = marimo.sql(COUNT, output=False, engine=engine)
    assert list(found.columns) == NAMES
    assert len(found) == 3
    assert clinic.spent() == 0.1
