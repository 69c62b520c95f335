"""Requests on a remote session that are no questions and are released as a whole: synthetic tables, profiles and estimates."""

from __future__ import annotations

from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED
from discreet.session.released import Released
from discreet.session.remote.answers import bought
from discreet.session.remote.http import Connection, Progress
from discreet.session.remote.plan import RemotePlan, checked
from discreet.session.remote.wire import Chain
from discreet.session.synthesize.progress import to_screen


@final
@frozen(repr=False, eq=False)
class RemoteRequest:
    """A synthetic table, a profile or an estimate that is asked for: `plan` shows its price and error, `release` pays."""

    connection: Connection
    chain: Chain
    said: Any = field(default=None)  # how the server shows it

    def checked(self) -> RemoteRequest:
        """The same, after the server has read it; Refused or Invalid if it cannot be asked."""
        return RemoteRequest(self.connection, self.chain, checked(self.connection, self.chain))

    def plan(self, epsilon: Number, delta: Number | None = None) -> RemotePlan:
        """What would happen at this price; reads and spends nothing."""
        return RemotePlan.of(self.connection, self.chain, {"epsilon": epsilon, "delta": delta})

    def release(self, epsilon: Number, delta: Number | None = None, *, progress: Progress | None = None) -> Released:
        """Pay and release; the same at the same price is free the second time."""
        shown = progress or to_screen(self.chain.steps[0][0])
        return bought(self.connection, self.chain, {"epsilon": epsilon, "delta": delta}, progress=shown)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return repr(self.chain)[:200] if self.said is None else str(self.said["shown"])

    def _repr_html_(self) -> str:
        said = self.said and self.said.get("html")
        return said or html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])


def released(request: RemoteRequest, epsilon: Number | None, delta: Number | None, progress: Progress | None = None) -> Any:
    """Release a request at once if it has a price, else let the server read it."""
    require_price(epsilon, delta)
    return request.checked() if epsilon is None else request.release(epsilon, delta, progress=progress)


def require_price(epsilon: Number | None, delta: Number | None) -> None:
    """Raise Invalid for half a price."""
    if epsilon is None and delta is not None:
        raise Invalid("a delta without an epsilon prices nothing: give both, or plan with .plan(epsilon=…, delta=…)")
