"""A study whose means an agent asks for as often as its budget admits, to find out who took part."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import polars
from mcp import Client
from numpy.typing import NDArray

import discreet
from discreet.agents.agent import Agent
from discreet.agents.limits import Limits
from discreet.agents.sessions import LocalSource
from discreet.agents.tools import tools_server
from discreet.attacks.membership import membership_inference

PEOPLE, TRAITS = 4, 40
LEVEL = "0.02"  # how many strangers may be accused
PRICES = {1: "0.25", 10_000: "2500"}  # of one draw, by what the agent was granted
_TRIES = 10


def study(seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Who takes part, by trait; strangers from the same population; and how frequent each trait is in it."""
    dice = np.random.default_rng(seed)
    shares = dice.uniform(0.2, 0.8, TRAITS)
    inside, strangers = ((dice.random((size, TRAITS)) < shares).astype(int) for size in (PEOPLE, 400))
    return inside, strangers, shares


def accused(seed: int, granted: int) -> tuple[bool, float]:
    """Whether the agent accuses the first participant, rightly; and what its account was charged."""
    inside, strangers, shares = study(seed)
    table = polars.DataFrame({"person": np.arange(PEOPLE)} | {f"t{j}": inside[:, j] for j in range(TRAITS)})
    declared = {"bounds": {f"t{j}": (0, 1) for j in range(TRAITS)}, "one_row_per_unit": True, "ledger": ":memory:"}
    with discreet.connect({"study": table}, unit="person", epsilon=10**6, **declared) as owner:
        owner.ledger.grant("mallory", granted, 0)
        source = LocalSource(owner.for_account("mallory"), "mallory", lambda _session, _call, took: took)
        draws = asyncio.run(_asked(source, PRICES[granted]))
        spent = float(owner.ledger.allowance("mallory").spent.epsilon or 0)
    means = np.mean(draws, axis=0) / PEOPLE
    found = membership_inference(inside[:1], means, population=shares, strangers=strangers, false_positives=LEVEL)
    return bool(found.accused[0]), spent


async def _asked(source: LocalSource, price: str) -> list[list[float]]:
    """The same sums in other words, until the budget is spent."""
    sums = ", ".join(f"SUM(t{j}) AS s{j}" for j in range(TRAITS))
    draws: list[list[float]] = []
    async with Client(tools_server(lambda _: Agent(source, Limits(10_000, 10_000, 10_000)))) as client:
        for at in range(_TRIES):
            found = await client.call_tool("ask", {"sql": f"SELECT {sums} FROM study WHERE t0 >= {-at - 1}", "epsilon": price})
            if found.is_error:
                assert (found.structured_content or {})["error"] == "BudgetExceeded", found.structured_content
                return draws
            draws.append([cell["value"] for cell in (found.structured_content or {})["data"]["rows"][0]])
    raise AssertionError("the budget did not end")
