"""`discreet mcp`, as desktop programs start it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from agents.clinic import granted
from mcp import Client, StdioServerParameters
from server.clinic import COUNT, listening, make_server

from discreet.cli.mcp import mcp
from discreet.errors import Invalid


def called(words: list[str], calls: list[tuple[str, dict[str, Any]]], **environment: str) -> list[Any]:
    async def run() -> list[Any]:
        command = StdioServerParameters(command=sys.executable, args=["-m", "discreet", "mcp", *words], env=os.environ | environment)
        async with Client(command) as client:
            return [(await client.call_tool(tool, arguments)).structured_content for tool, arguments in calls]

    return asyncio.run(run())


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("describe", {}),
    ("ask", {"sql": COUNT, "epsilon": 0.05}),
    ("ask", {"sql": COUNT, "epsilon": 0.05}),
    ("ask", {"sql": "SELECT * FROM visits", "epsilon": 0.05}),
    ("remaining", {}),
]


def test_on_a_policy(tmp_path: Path) -> None:
    words = [str(granted(tmp_path)), "--analyst", "agent", "--slot", "0.05", "--rows", "2000", "--most-per-question", "0.25"]
    about, first, second, refused, left = called(words, CALLS)
    assert about["limits"]["one_question"] == "0.25"
    assert (first["charged"], second["charged"], refused["error"]) == (True, False, "Refused")
    assert left["budget"]["spent"]["epsilon"] == "0.05"


def test_in_front_of_a_server(tmp_path: Path) -> None:
    served = make_server(tmp_path)
    with listening(served.server) as url:
        found = called(["--server", f"{url}/clinic"], CALLS, DISCREET_TOKEN=served.tokens["ann"])
    assert (found[1]["charged"], found[2]["charged"], found[3]["error"]) == (True, False, "Refused")


def test_slips_are_reported(tmp_path: Path) -> None:
    policy = str(granted(tmp_path))
    for words, says in (
        ({}, "name the data"),
        ({"data": policy}, "--analyst agent"),
        ({"data": policy, "analyst": "owner"}, "account of its own"),
        ({"server": "https://host/visits", "analyst": "agent"}, "leave out"),
    ):
        with pytest.raises(Invalid, match=says):
            mcp(**words)  # type: ignore[arg-type]
