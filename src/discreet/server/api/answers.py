"""Answers as JSON, Arrow, Parquet or CSV, as the client accepts; and errors with their status."""

from __future__ import annotations

import io
import json
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, RandomnessFailed, Refused
from discreet.extras import require
from discreet.server.access import Forbidden, TooManyRequests, Unauthenticated
from discreet.server.outcome import Outcome, as_outcome, error_named
from discreet.session.exported import write_parquet
from discreet.session.released import Released
from discreet.session.saved import release_of_text

ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
CSV, JSON = "text/csv", "application/json"
_STATUS: tuple[tuple[type[Error], int], ...] = (
    (Unauthenticated, 401),
    (Forbidden, 403),
    (TooManyRequests, 429),
    (BudgetExceeded, 402),
    (Refused, 422),
    (Invalid, 400),
    (LedgerError, 503),
    (EngineError, 503),
    (RandomnessFailed, 503),
)


def status_of(name: str) -> int:
    """The HTTP status of an error, by the name of its class."""
    kind = error_named(name)
    return next((status for error, status in _STATUS if issubclass(kind, error)), 500)


def problem(error: Error) -> JSONResponse:
    """An error as a response."""
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyRequests) else {}
    headers |= {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthenticated) else {}
    return JSONResponse(as_outcome(error), status_of(type(error).__name__), headers)


def is_converted(request: Request) -> bool:
    """Whether the client accepts another format than the one in which answers are stored."""
    accepted = request.headers.get("accept", JSON)
    return any(one in accepted for one in (ARROW, PARQUET, CSV))


def answered(request: Request, outcome: Outcome, job: str | None = None) -> Response:
    """What became of a request, in the format that the client accepts."""
    headers = {} if job is None else {"Discreet-Job": job}
    if "error" in outcome:
        return JSONResponse({**outcome, "job": job}, status_of(outcome["error"]), headers)
    accepted = request.headers.get("accept", JSON)
    if ARROW in accepted:
        require("pyarrow")
        return Response(_arrow(release_of_text(outcome["release"]).to_arrow()), media_type=ARROW, headers=headers)
    if PARQUET in accepted:
        return Response(parquet_of(release_of_text(outcome["release"])), media_type=PARQUET, headers=headers)
    if CSV in accepted:
        return Response(release_of_text(outcome["release"]).to_csv() or "", media_type=CSV, headers=headers)
    told = f'{{"job":{json.dumps(job)},"repeated":{json.dumps(bool(outcome.get("repeated")))},"release":{outcome["release"]}}}'
    return Response(told, media_type=JSON, headers=headers)


def _arrow(table: Any) -> bytes:
    import pyarrow

    out = io.BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def parquet_of(found: Released) -> bytes:
    """The rows as a Parquet file."""
    require("pyarrow")
    out = io.BytesIO()
    write_parquet(found.to_arrow(), out)
    return out.getvalue()
