"""A whole session of an AI agent: it describes, forecasts, asks, is asked to confirm, and cannot get more than its account was granted.

The agent here is a list of calls; a language model would choose them. Everything else is real: `discreet mcp` runs as desktop programs
start it, and the SDK's client speaks to it over standard input and output.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

POLICY = """
[budget]
epsilon = 5
delta = 1e-6

[budget.analysts]
agent = { epsilon = 0.5, delta = 1e-7 }

[tables.visits]
source = "visits.csv"
unit = "patient_id"
contributions = { rows = 10 }

[tables.visits.columns]
patient_id = { type = "integer" }
dept = { keys = ["er", "ward", "lab"] }
cost = { type = "real", bounds = [0, 500] }
"""
BY_DEPT = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"
HIGHEST = "SELECT COUNT(*) AS n FROM visits WHERE cost > 390"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("describe", {}),
    ("forecast", {"sql": BY_DEPT, "epsilon": 0.1}),
    ("ask", {"sql": BY_DEPT, "epsilon": 0.1}),
    ("ask", {"sql": BY_DEPT, "epsilon": 0.1}),
    ("ask", {"sql": HIGHEST, "epsilon": 0.3}),
    ("ask", {"sql": HIGHEST, "epsilon": 0.3, "confirm": "the text of the call before"}),
    ("ask", {"sql": "SELECT * FROM visits", "epsilon": 0.1}),
    ("remaining", {}),
    ("ask", {"sql": "SELECT AVG(cost) AS mean_cost FROM visits", "epsilon": 0.1}),
    ("ask", {"sql": "SELECT AVG(cost) AS mean_cost FROM visits WHERE dept = 'er'", "epsilon": 0.05}),
    ("history", {}),
]


def policy() -> Path:
    """A made-up clinic, whose owner grants ε = 0.5 to the agent's account."""
    folder = Path(tempfile.mkdtemp())
    rows = (f"{i % 2_000},{['er', 'ward', 'lab'][i % 3]},{i * 37 % 400}.5" for i in range(20_000))
    (folder / "visits.csv").write_text("patient_id,dept,cost\n" + "\n".join(rows) + "\n")
    (folder / "discreet.toml").write_text(POLICY)
    return folder


async def session() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """What was called, and what it said."""
    command = [sys.executable, "-m", "discreet", "mcp", str(policy()), "--analyst", "agent", "--rows", "20000"]
    said: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    async with Client(StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))) as client:
        for tool, given in CALLS:
            arguments = dict(given)
            if arguments.get("confirm"):
                arguments["confirm"] = said[-1][2]["confirm"]
            answer = (await client.call_tool(tool, arguments)).structured_content
            said.append((tool, arguments, answer or {}))
    return said


def transcript(said: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    """The session as it is shown in the documentation; the note and the meaning, which repeat, are shown once."""
    lines, seen = [], set[str]()
    for tool, arguments, answer in said:
        shown = {name: one for name, one in answer.items() if json.dumps(one) not in seen or name not in ("note", "meaning")}
        seen |= {json.dumps(answer[name]) for name in ("note", "meaning") if name in answer}
        lines += [f"→ {tool} {json.dumps(arguments, ensure_ascii=False)}", _wrapped(shown), ""]
    return "\n".join(lines)


def _wrapped(answer: dict[str, Any]) -> str:
    written = [f"  {name}: {json.dumps(one, ensure_ascii=False)}" for name, one in answer.items() if name != "data"]
    for name, one in answer.get("data", {}).items():
        parts = one if isinstance(one, list) and any(isinstance(part, list | dict) for part in one) else [one]
        if isinstance(one, str) and "\n" in one:
            parts = [*one.splitlines()[:4], "…"]
        written += [f"  data.{name}: {json.dumps(part, ensure_ascii=False)}" for part in parts]
    return "\n".join(written)


if __name__ == "__main__":
    print(transcript(asyncio.run(session())))
