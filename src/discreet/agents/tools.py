"""The tools of the Model Context Protocol, and nothing else: no resources, no prompts, and no tool that returns rows of private tables.

Descriptions and instructions are fixed texts. Results are structured, with a published schema (see `results.py`); for clients that show
text alone, the same JSON follows a fixed line.
Errors say what to do and contain no data; what nobody foresaw is told as such, and its text goes nowhere.
"""

# no `from __future__ import annotations`: the library reads the annotations of tools, which name functions defined beside them
import json
import logging
from collections.abc import Awaitable, Callable
from importlib import metadata
from typing import Annotated, Any, TypeAlias

from mcp.server.elicitation import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from discreet.agents import shown
from discreet.agents.agent import DECLINED, Agent, price_of
from discreet.agents.results import AskResult, DescribeResult, ForecastResult, HistoryResult, RemainingResult
from discreet.agents.source import LONGEST, Request
from discreet.errors import Error, Invalid, Refused

INSTRUCTIONS = (
    "Answers about people, with differential privacy: every answer has noise and costs a part of a privacy budget that does not come back. "
    "Call describe first, then forecast, which is free, then ask at the lowest epsilon whose expected error is good enough. Repeating a "
    "question at the same price is free and returns the same numbers. Rows of private tables cannot be read. " + shown.NOTE
)
UNEXPECTED = "something unexpected failed; the owner of the data can look up the reason"
MOST_ROWS = 1000  # of a synthetic table

Find: TypeAlias = Callable[[Any], Agent]  # the agent that a request comes from; None is what a request over standard input has
Failed: TypeAlias = Callable[[Any, Exception], None]  # gets the request, and an error that nobody foresaw
Sql: TypeAlias = Annotated[str, Field(max_length=LONGEST, description="one SELECT with aggregates, as in the examples of describe")]
Epsilon: TypeAlias = Annotated[float | str | None, Field(description="the price: smaller is cheaper and noisier, as in 0.05")]
Delta: TypeAlias = Annotated[float | str | None, Field(description="seldom needed; chosen if left out")]
Confirm: TypeAlias = Annotated[
    str | None, Field(max_length=200, description="the text that an unconfirmed call returned, once the user has agreed")
]
FirstRow: TypeAlias = Annotated[int, Field(ge=0, le=10**9, description="to read on in an answer of many rows; free")]
Errors: TypeAlias = Annotated[
    dict[str, float] | None, Field(description="instead of epsilon: the error wanted for each output, to learn the least price")
]
Columns: TypeAlias = Annotated[list[Annotated[str, Field(max_length=200)]] | None, Field(max_length=100, description="all if left out")]
Rows: TypeAlias = Annotated[int, Field(ge=1, le=MOST_ROWS, description="how many synthetic rows to make")]


class Agreed(BaseModel):
    """What a person answers who is asked to confirm a price."""

    agree: bool = Field(description="Spend it?")


Outcome: TypeAlias = AcceptedElicitation[Any] | DeclinedElicitation | CancelledElicitation


def tools_server(find: Find, failed: Failed = lambda _request, _error: None) -> MCPServer[Any]:
    """A server whose tools act for the agent that `find` finds; `failed` gets what nobody foresaw, which may contain data."""
    _silence()
    server: MCPServer[Any] = MCPServer(
        "discreet", instructions=INSTRUCTIONS, version=metadata.version("discreet"), log_level="CRITICAL", subscriptions=False
    )

    async def told(ctx: Context[Any, Any], work: Callable[[Agent], Awaitable[dict[str, Any]]]) -> CallToolResult:
        try:
            return _result(await work(find(ctx.request_context.request)))
        except Error as error:
            return _result(_problem(error), is_error=True)
        except Exception as error:  # a bug of ours: its text may contain data
            failed(ctx.request_context.request, error)
            return _result({"status": "error", "error": "Error", "message": UNEXPECTED}, is_error=True)

    async def asked_first(ctx: Context[Any, Any], request: Callable[[], Request], price: dict[str, Any]) -> Elicit[Agreed] | None:
        """The question to the user, if the price must be confirmed and the client can ask; errors are told by the tool itself."""
        try:
            agent = find(ctx.request_context.request)
            planned = await agent.to_confirm(request(), price) if _can_ask(ctx) else None
            return None if planned is None else Elicit(agent.question_to_confirm(request(), planned), Agreed)
        except Exception:
            return None

    async def confirm_ask(
        ctx: Context[Any, Any], sql: str, epsilon: float | str | None, delta: float | str | None
    ) -> Elicit[Agreed] | None:
        return await asked_first(ctx, lambda: Request("sql", sql), price_of(epsilon, delta))

    async def confirm_synthesize(
        ctx: Context[Any, Any], table: str, epsilon: float | str | None, delta: float | str | None, columns: list[str] | None, rows: int,
    ) -> Elicit[Agreed] | None:  # fmt: skip
        return await asked_first(ctx, lambda: _synthetic(table, columns, rows), price_of(epsilon, delta))

    free = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    paid = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

    @server.tool(annotations=free)
    async def describe(ctx: Context[Any, Any]) -> Annotated[CallToolResult, DescribeResult]:
        """The tables and columns, who is protected, what is declared and profiled, example questions, and your limits. Free."""
        return await told(ctx, lambda agent: agent.describe())

    @server.tool(annotations=free)
    async def forecast(
        ctx: Context[Any, Any], sql: Sql, epsilon: Epsilon = None, delta: Delta = None, error: Errors = None
    ) -> Annotated[CallToolResult, ForecastResult]:
        """What a question would cost, the error to expect, and why it is private; or the least price for an error. Free."""
        return await told(ctx, lambda agent: agent.forecast(Request("sql", sql), price_of(epsilon, delta), error))

    @server.tool(annotations=paid)
    async def ask(
        ctx: Context[Any, Any], sql: Sql, epsilon: Epsilon, agreed: Annotated[Outcome, Resolve(confirm_ask)], delta: Delta = None,
        confirm: Confirm = None, first_row: FirstRow = 0,
    ) -> Annotated[CallToolResult, AskResult]:  # fmt: skip
        """Pay epsilon from your budget and get the answer with intervals. The same question at the same price is free the second time."""
        return await told(
            ctx,
            lambda agent: agent.ask(
                Request("sql", sql), price_of(epsilon, delta), confirm=confirm, confirmed=_confirmed(agreed),
                by_person=_can_ask(ctx), first_row=first_row,
            ),
        )  # fmt: skip

    @server.tool(annotations=free)
    async def remaining(ctx: Context[Any, Any]) -> Annotated[CallToolResult, RemainingResult]:
        """What is left of your budget and of your limits. Free."""
        return await told(ctx, lambda agent: agent.remaining())

    @server.tool(annotations=paid)
    async def synthesize(
        ctx: Context[Any, Any], table: Annotated[str, Field(max_length=200, description="a private table")], epsilon: Epsilon,
        agreed: Annotated[Outcome, Resolve(confirm_synthesize)], delta: Delta = None, columns: Columns = None, rows: Rows = 100,
        confirm: Confirm = None, first_row: FirstRow = 0,
    ) -> Annotated[CallToolResult, AskResult]:  # fmt: skip
        """Pay epsilon and get made-up rows of the same shape, of no real person; good for trying code, not for reporting numbers."""
        return await told(
            ctx,
            lambda agent: agent.ask(
                _synthetic(table, columns, rows), price_of(epsilon, delta), confirm=confirm, confirmed=_confirmed(agreed),
                by_person=_can_ask(ctx), first_row=first_row,
            ),
        )  # fmt: skip

    @server.tool(annotations=free)
    async def history(ctx: Context[Any, Any]) -> Annotated[CallToolResult, HistoryResult]:
        """What you were charged for so far; each is free to ask again. Free."""
        return await told(ctx, lambda agent: agent.history())

    return server


def _synthetic(table: str, columns: list[str] | None, rows: int) -> Request:
    return Request("synthesize", table, {"rows": rows} | ({} if columns is None else {"columns": columns}))


def _confirmed(agreed: Outcome) -> bool:
    """Whether a person has agreed; False if nobody was asked. Refused if they declined."""
    if not isinstance(agreed, AcceptedElicitation) or (isinstance(agreed.data, Agreed) and not agreed.data.agree):
        raise Refused(DECLINED)
    return isinstance(agreed.data, Agreed)


def _can_ask(ctx: Context[Any, Any]) -> bool:
    """Whether the client can show a form to its user."""
    capabilities = ctx.client_capabilities
    found = None if capabilities is None else capabilities.elicitation
    return found is not None and (found.form is not None or found.url is None)


def _problem(error: Error) -> dict[str, Any]:
    notes = [shown.text(note, 600) for note in getattr(error, "__notes__", ())]
    kind = "Refused" if isinstance(error, Refused) else "Invalid" if isinstance(error, Invalid) else type(error).__name__
    return {"status": "error", "error": kind, "message": shown.text(error, 2000)} | ({"notes": notes} if notes else {})


def _result(said: dict[str, Any], is_error: bool = False) -> CallToolResult:
    written = json.dumps(said, ensure_ascii=False, allow_nan=False)
    lines = [TextContent(type="text", text=shown.NOTE)] if "note" in said else []
    return CallToolResult(content=[*lines, TextContent(type="text", text=written)], structured_content=said, is_error=is_error)


def _silence() -> None:
    """Let the library write no log of its own: it repeats what was asked."""
    log = logging.getLogger("mcp")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
