"""The same clinic, here and behind a server: whoever takes `clinic` is tested on both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from server.clinic import listening, make_server, write_clinic

from discreet import dbapi


@frozen(eq=False)
class Clinic:
    """Where its data is, and who asks."""

    data: str
    token: str | None
    stack: ExitStack

    def connect(self, **options: Any) -> dbapi.Connection:
        return self.stack.enter_context(dbapi.connect(self.data, token=self.token, **options))

    def url(self, **options: Any) -> str:
        """The same as SQLAlchemy writes it."""
        said = "&".join(f"{name}={value}" for name, value in options.items())
        if self.token is None:
            return f"discreet:///{self.data}?{said}"
        return f"discreet+http://:{self.token}@{self.data.removeprefix('http://')}?{said}"

    def engine(self, **options: Any) -> Any:
        sqlalchemy = pytest.importorskip("sqlalchemy")
        for name in ("discreet", "discreet.http", "discreet.https"):  # as pyproject.toml registers it
            sqlalchemy.dialects.registry.register(name, "discreet.dbapi.sqlalchemy", "DiscreetDialect")
        engine = sqlalchemy.create_engine(self.url(**options))
        self.stack.callback(engine.dispose)
        return engine

    def spent(self) -> float:
        with dbapi.connect(self.data, token=self.token) as connection:
            return float(connection.session.spent.epsilon or 0)


@pytest.fixture(params=["local", "remote"])
def clinic(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Clinic]:
    with ExitStack() as stack:
        yield opened(request.param, tmp_path, stack)


@pytest.fixture
def served_clinic(tmp_path: Path) -> Iterator[Clinic]:
    with ExitStack() as stack:
        yield opened("remote", tmp_path, stack)


def opened(where: str, folder: Path, stack: ExitStack) -> Clinic:
    if where == "local":
        return Clinic(str(write_clinic(folder / "clinic")), None, stack)
    served = make_server(folder)
    address = stack.enter_context(listening(served.server))
    return Clinic(f"{address}/clinic", served.tokens["ann"], stack.enter_context(ExitStack()))
