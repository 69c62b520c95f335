"""A clinic behind a server, asked by an analyst with a budget of her own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from session.clinic import visits
from session.project import POLICY
from session.served import remote_session


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    """One for all tests of a module."""
    with remote_session({"visits": visits()}, POLICY.replace("epsilon = 2", "epsilon = 1000"), {"ann": (500, "1e-7")}) as db:
        yield db


@pytest.fixture
def db() -> Iterator[Any]:
    """One for a test of its own."""
    with remote_session({"visits": visits()}, POLICY, {"ann": (2, "1e-7")}) as found:
        yield found
