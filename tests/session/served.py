"""The same data behind a server: a remote session that tests use like a local one."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from server.clinic import QUICK, listening

import discreet
from discreet.server.server import Server
from discreet.server.settings import Settings


@contextlib.contextmanager
def remote_session(tables: Mapping[str, Any], policy: str, grants: Mapping[str, tuple[Any, Any]] | None = None) -> Iterator[Any]:
    """A session on a server of its own; `_server`, `_engine` and `_ledger` are those behind it. With grants, the first analyst asks."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        folder.mkdir()
        for name, table in tables.items():
            write_parquet(table, folder / f"{name}.parquet")
        (folder / "discreet.toml").write_text(policy)
        server = Server(Settings({"data": folder / "discreet.toml"}, str(Path(place) / "server.db"), clock=QUICK, rows=1000.0))
        server.owner_link()
        data = next(iter(server.datasets))
        for name, granted in (grants or {}).items():
            server.accounts.add(name, "analyst", "owner")
            data.ledger.grant(name, *granted)
        who = next(iter(grants)) if grants else "owner"
        token = server.tokens.add(who, "tests", "ask", 1, None, "owner")[1]
        with listening(server) as address:
            db: Any = discreet.connect(f"{address}/data", token=token)
            db._server, db._engine, db._ledger = server, data._owner._engine, data.ledger
            yield db


def policy(table: str, *, unit: str, epsilon: Any, delta: Any = 0, bounds: Any = None, keys: Any = None, contributions: Any = None) -> str:
    """What `connect` is told, as a discreet.toml."""
    lines = [f"budget = {{ epsilon = {epsilon}, delta = {delta} }}", f"[tables.{table}]", f'source = "{table}.parquet"', f'unit = "{unit}"']
    if contributions:
        lines.append(f"contributions = {{ {', '.join(f'{name} = {most}' for name, most in contributions.items())} }}")
    lines += [f"columns.{name}.bounds = {list(ends)}" for name, ends in (bounds or {}).items()]
    lines += [f"columns.{name}.keys = {json.dumps(values)}" for name, values in (keys or {}).items()]
    return "\n".join(lines)


def write_parquet(table: Any, place: Path) -> None:
    """Write a table of Polars or Arrow."""
    if hasattr(table, "write_parquet"):
        table.write_parquet(place)
        return
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, place)
