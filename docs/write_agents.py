"""Write the session and the table of docs/serving/agents.md from real runs: `python docs/write_agents.py`."""

from __future__ import annotations

import asyncio
import runpy
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "serving" / "agents.md"
_WIDTH = 150


def session() -> str:
    """A whole session, as `examples/agent.py` has it."""
    example = runpy.run_path(str(ROOT / "examples" / "agent.py"))
    lines = example["transcript"](asyncio.run(example["session"]())).rstrip().splitlines()
    wrapped = [textwrap.fill(line, _WIDTH, subsequent_indent="      ", break_long_words=False) if line else "" for line in lines]
    return "\n".join(["```text", *wrapped, "```"])


def table() -> str:
    """What a hostile agent tried, and what came of it."""
    sys.path.insert(0, str(ROOT / "tests"))
    from agents.hostile import attack, serve
    from agents.hostile_inputs import ATTEMPTS

    report, _ = attack(serve(Path(tempfile.mkdtemp())), ATTEMPTS)
    return as_table(report)


def as_table(report: list[object]) -> str:
    """A report as Markdown."""
    rows = [f"| {one.kind} | {one.tried.replace('|', '/')} | {one.came} |" for one in report]  # type: ignore[attr-defined]
    return "\n".join(["| kind | tried | came of it |", "|---|---|---|", *rows])


def written(page: str, part: str, text: str) -> str:
    """The page with a generated part replaced."""
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(written(written(page, "session", session()), "table", table()), encoding="utf-8")
