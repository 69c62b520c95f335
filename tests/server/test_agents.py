"""Agents on a server: their limits, one data set or a named one, and answers that take long."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from server.clinic import COUNT, QUICK, Served, make_server, write_clinic

from discreet.agents.source import Request, Running
from discreet.errors import BudgetExceeded, Invalid
from discreet.server.agents import AccountSource, Agents, limits_of
from discreet.server.clock import Clock
from discreet.server.server import Server
from discreet.server.settings import Settings
from discreet.session.released import Released

ASKED, PRICE = Request("sql", COUNT), {"epsilon": "0.1"}


def source_of(served: Served, account: str, jobs: dict[Any, str] | None = None) -> AccountSource:
    found = served.server.accounts.get(account)
    assert found is not None
    return AccountSource(served.server, served.server.datasets.get("clinic", found), found, {} if jobs is None else jobs)


def test_the_agent_of_an_account(served: Served) -> None:
    agents, ann, bob = Agents(), served.server.accounts.get("ann"), served.server.accounts.get("bob")
    assert ann is not None
    assert bob is not None
    first = agents.of(served.server, ann, None, None)
    assert first.source.name == "ann on clinic"
    assert agents.of(served.server, ann, "clinic", ("clinic",)).spending is first.spending
    assert agents.of(served.server, bob, None, None).spending is not first.spending
    for dataset, allowed in (("nowhere", None), ("clinic", ("other",)), (None, ("other",))):
        with pytest.raises(Invalid, match="no such data set"):
            agents.of(served.server, ann, dataset, allowed)


def test_the_limit_of_a_day_is_for_all_data_sets_of_an_account(tmp_path: Path) -> None:
    policies = {name: write_clinic(tmp_path / name) for name in ("clinic", "other")}
    server, agents = Server(Settings(policies, str(tmp_path / "server.db"), clock=QUICK, rows=2000.0)), Agents()
    ann = server.accounts.add("ann", "analyst", None)
    for data in server.datasets:
        data.ledger.grant("ann", 3, "1e-7")

    async def run() -> None:
        for _ in range(10):
            await agents.of(server, ann, "clinic", None).ask(Request("sql", COUNT), {"epsilon": "0.05"})
        first, second = (agents.of(server, ann, name, None) for name in policies)
        assert float(first.spending.left) == 0.95  # once, however often it was asked
        await second.ask(Request("sql", COUNT), {"epsilon": "0.05"})
        assert float(first.spending.left) == 0.9

    asyncio.run(run())
    server.queue.close()
    server.datasets.close()
    server.database.close()


def test_limits_are_settings(tmp_path: Path) -> None:
    served = make_server(tmp_path, agent_question=0.25)
    assert float(limits_of(served.server.settings).question) == 0.25


def test_each_account_pays_for_what_it_receives(served: Served) -> None:
    async def run() -> None:
        ann, bob = source_of(served, "ann"), source_of(served, "bob")
        first = await ann.release(ASKED, PRICE)
        assert not (await bob.plan(ASKED, PRICE)).known  # though it is stored
        second = await bob.release(ASKED, PRICE)
        assert isinstance(first, Released)
        assert isinstance(second, Released)
        assert (first.rows, second.repeated) == (second.rows, False)
        assert (await bob.budget())["spent"]["epsilon"] == "0.1"
        assert (await bob.plan(ASKED, PRICE)).known
        with pytest.raises(BudgetExceeded):
            await bob.release(ASKED, {"epsilon": "2.95"})

    asyncio.run(run())


def test_an_answer_that_takes_long_is_one_job(tmp_path: Path) -> None:
    served = make_server(tmp_path, clock=Clock(first=1.0), wait=0.1)
    jobs: dict[Any, str] = {}

    async def run() -> None:
        source = source_of(served, "ann", jobs)
        found: Any = await source.release(ASKED, PRICE)
        assert isinstance(found, Running)
        assert (await source.budget())["spent"]["epsilon"] == "0"  # hidden until the slot ends
        while isinstance(found, Running):
            assert len(jobs) == 1
            found = await source.release(ASKED, PRICE)
        assert isinstance(found, Released)
        assert jobs == {}
        assert len(served.server.jobs.of("ann")) == 1
        assert (await source.budget())["spent"]["epsilon"] == "0.1"

    asyncio.run(run())
