"""Hostile inputs: forged confirmations, senseless and huge ones, other accounts, and more than the budget."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
from agents.hostile import COUNT, GRANTED, Hostile, connected
from agents.hostile_questions import averaging, differencing, prompts, rows


async def confirming(agent: Hostile) -> None:
    """Prices that must be confirmed."""
    dear = "SELECT AVG(cost) AS m FROM visits"
    first = await agent.call("ask", sql=dear, epsilon="0.2")
    assert first["status"] == "unconfirmed"
    agent.note("confirming", "a price above the threshold", "not charged; a token to confirm it")
    token = first["confirm"]
    theirs = await _as(agent, "ann", sql=dear, epsilon="0.2")
    wrong = {
        "an empty token": "", "a word": "yes", "a made-up token": "ffffffff-" + "0" * 64, "the token of a later time": "f" + token[1:],
        "a token with one letter changed": token[:-1] + ("0" if token[-1] != "0" else "1"), "half a token": token[:40],
        "another account's token": theirs["confirm"],
    }  # fmt: skip
    for tried, confirm in wrong.items():
        await agent.refused("confirming", tried, sql=dear, epsilon="0.2", confirm=confirm)
    await agent.refused("confirming", "a token, for another question", sql=dear.replace("AVG", "SUM"), epsilon="0.2", confirm=token)
    await agent.refused("confirming", "a token, at a higher price", sql=dear, epsilon="0.25", confirm=token)
    await agent.refused("confirming", "a token of 300 characters", sql=dear, epsilon="0.2", confirm="f" * 300)
    await agent.refused("confirming", "a price above the limit of one question", sql=dear, epsilon="0.31")
    await agent.refused("confirming", "the price in the question's text", sql=f"{_priced('9')} {dear[7:]}", epsilon="0.01")
    before = agent.spent()
    done = [await agent.call("ask", sql=dear, epsilon="0.2", confirm=token) for _ in range(2)]
    assert [one["charged"] for one in done] == [True, False]
    assert round(agent.spent() - before, 9) == 0.2
    agent.note("confirming", "the right token, twice", "answered, charged once")


def _priced(epsilon: str) -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon={epsilon})"


async def _as(agent: Hostile, account: str, **arguments: Any) -> dict[str, Any]:
    async with connected(agent.url, agent.served.header(account)) as client:
        found = (await client.call_tool("ask", arguments)).structured_content
        assert found is not None
        return found


async def malformed(agent: Hostile) -> None:
    """Huge and senseless inputs."""
    for epsilon in ("0", "-1", "nan", "inf", "1e400", "1; DROP TABLE visits", True, 1e-320, [], None):
        await agent.refused("malformed", f"ε = {epsilon!r}", sql=COUNT, epsilon=epsilon)
    await agent.refused("malformed", "a question of 20,001 characters", sql="x" * 20_001, epsilon="0.01")
    await agent.refused(
        "malformed", "5,000 nested parentheses", sql=f"SELECT COUNT(*) FROM visits WHERE {'(' * 5000}1 = 1{')' * 5000}", epsilon="0.01"
    )
    await agent.refused("malformed", "a question with NUL", sql=COUNT + "\0", epsilon="0.01")
    await agent.refused("malformed", "a negative first_row", sql=COUNT, epsilon="0.01", first_row=-1)
    await agent.refused("malformed", "a million synthetic rows", "synthesize", table="visits", epsilon="0.01", rows=10**6)
    await agent.refused("malformed", "a synthetic table of no table", "synthesize", table="../visits", epsilon="0.01")
    far = await agent.call("ask", sql=COUNT, epsilon="0.01", first_row=10**9)
    assert far["data"]["rows"] == []
    agent.note("malformed", "the billionth row of an answer", "no rows, free")
    async with httpx2.AsyncClient(headers=agent.served.header("mallory")) as raw:
        for tried, body, status in (
            ("a body of two megabytes", b'{"a": "' + b"x" * 2_000_000 + b'"}', 413),
            ("no JSON", b"{", 400),
            ("JSON of 10,000 levels", b"[" * 10_000 + b"]" * 10_000, 400),
        ):
            answer = await raw.post(
                f"{agent.url}/mcp", content=body, headers={"Content-Type": "application/json", "Accept": "application/json"}
            )
            assert answer.status_code == status, (tried, answer.text)
            agent.note("malformed", tried, f"refused ({status})")


async def others(agent: Hostile) -> None:
    """Other accounts: their tokens, data sets, jobs, answers and budgets."""
    server = agent.served.server
    job = server.jobs.of("ann")[0].id
    async with httpx2.AsyncClient(headers=agent.served.header("mallory")) as raw:
        for tried, path in (
            ("another's job", f"/api/v1/jobs/{job}"),
            ("another's answer", f"/api/v1/jobs/{job}/answer"),
            ("the ledger", "/api/v1/datasets/clinic/ledger"),
            ("all accounts", "/api/v1/accounts"),
        ):
            assert (await raw.get(f"{agent.url}{path}")).status_code in (400, 403)
            agent.note(
                "others",
                f"{tried}, through the interface for programs",
                "refused, as if it were not there" if "another" in tried else "refused",
            )
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "describe", "arguments": {}}}
        head = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        hidden = await raw.post(f"{agent.url}/mcp/payroll", json=body, headers=head)
        nowhere = await raw.post(f"{agent.url}/mcp/nowhere", json=body, headers=head)
        assert hidden.text == nowhere.text
        assert "no such data set" in hidden.text
        agent.note("others", "a data set without a grant", "the same answer as for one that does not exist")
    for tried, header in (
        ("no token", {}),
        ("a made-up token", {"Authorization": "Bearer disc_0000000000_" + "0" * 32}),
        ("the owner's role", agent.served.header("owner")),
        ("an auditor's role", agent.served.header("eve")),
    ):
        async with httpx2.AsyncClient(headers=header) as raw:
            assert (await raw.post(f"{agent.url}/mcp", json={})).status_code in (401, 403)
            agent.note("others", tried, "refused")
    known: list[Any] = []
    asked = "SELECT COUNT(*) AS n FROM visits WHERE cost > 100"
    found = await agent.paid_or_known("others", "a question that ann has asked before", asked, "0.02", known)
    assert found["charged"]  # as for everybody who asks first: whether somebody did is not told
    told = json.dumps(await agent.call("history"))
    assert "cost > 50" not in told  # what only ann asked
    agent.note("others", "the history", "its own questions alone")


async def exhausting(agent: Hostile) -> None:
    """All of its budget, and then more, many at a time."""
    found: list[dict[str, Any]] = []
    for step in range(12):
        found += await asyncio.gather(
            *(agent.call("ask", sql=f"SELECT COUNT(*) AS n FROM visits WHERE cost > {step * 10 + at}", epsilon="0.09") for at in range(3))
        )
        if sum(one["status"] == "error" for one in found) >= 3:
            break
    refused = [one for one in found if one["status"] == "error"]
    assert {one["error"] for one in refused} == {"BudgetExceeded"}
    assert agent.spent() <= GRANTED
    agent.note("exhausting", "three questions at a time until none is answered", "refused beyond ε = 1, whatever the order")
    await agent.refused("exhausting", "a synthetic table then", "synthesize", table="visits", epsilon="0.1")
    left = (await agent.call("remaining"))["budget"]["remaining"]["epsilon"]
    await agent.refused(
        "exhausting",
        "a little more than what is left",
        sql="SELECT COUNT(*) AS n FROM visits WHERE cost > 400",
        epsilon=str(float(left) + 0.001),
    )
    assert not (await agent.call("ask", sql=COUNT, epsilon="0.01"))["charged"]
    agent.note("exhausting", "an earlier question then", "the same numbers, free")


ATTEMPTS = (averaging, differencing, rows, prompts, confirming, malformed, others, exhausting)
