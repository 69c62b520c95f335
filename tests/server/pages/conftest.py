"""Fixtures: people who are logged in."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served
from server.pages.people import Person, enter


@pytest.fixture
def ann(client: TestClient, served: Served) -> Person:
    """An analyst."""
    return enter(client, served, "ann")


@pytest.fixture
def bob(client: TestClient, served: Served) -> Person:
    """Another analyst."""
    return enter(client, served, "bob")


@pytest.fixture
def eve(client: TestClient, served: Served) -> Person:
    """An auditor."""
    return enter(client, served, "eve")


@pytest.fixture
def owner(client: TestClient, served: Served) -> Person:
    """The owner."""
    return enter(client, served, "owner")
