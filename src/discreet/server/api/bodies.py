"""What programs send and receive, as OpenAPI describes it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(extra="forbid")
Call = tuple[str, list[Any], dict[str, Any]]
_REQUEST = Field(
    description="the calls that build the request, each [name, arguments, named arguments]",
    min_length=1,
    max_length=1000,
    examples=[[["sql", ["SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"], {}]]],
)
_PRICE: Any = Field(default_factory=dict, description="epsilon, and if needed delta, error, size, confidence", examples=[{"epsilon": 0.1}])

_REFINE: Any = Field(default_factory=list, max_length=100, description="the price of each refinement", examples=[[{"epsilon": 0.1}]])


class PlanBody(BaseModel):
    """A request at a price."""

    model_config = _STRICT
    request: list[Call] = _REQUEST
    price: dict[str, Any] = _PRICE
    error: dict[str, Any] | None = Field(
        default=None, description="arguments of plan.error(); left out, the error is that of a typical group"
    )
    shown: int | None = Field(default=None, ge=0, description="a group's size, to learn with which probability it is shown")


class RequestBody(BaseModel):
    """A request without a price."""

    model_config = _STRICT
    request: list[Call] = _REQUEST


class PriceBody(BaseModel):
    """A request, and the error that is wanted."""

    model_config = _STRICT
    request: list[Call] = _REQUEST
    error: Any = Field(description="the target of each output", examples=[{"n": 10}])
    more: dict[str, Any] = Field(default_factory=dict, description="size, confidence, delta, at, assume")


class ReleaseBody(BaseModel):
    """A request to pay for."""

    model_config = _STRICT
    request: list[Call] = _REQUEST
    verb: Literal["release", "refine", "receive", "bias", "dry_run"] = Field(
        default="release", description="receive pays for an answer with all its refinements, as far as this account has not"
    )
    price: dict[str, Any] = _PRICE
    refine: list[dict[str, Any]] = _REFINE
    of: str | None = Field(default=None, description="for bias: a release that found other bounds and limits, as `to_text` wrote it")
    stored: bool = Field(default=False, description="answer only with what this account has received before: nothing is charged")

    def plain(self) -> dict[str, Any]:
        """What is asked as plain values, always with the same fields."""
        return self.model_dump(mode="json", exclude={"stored"})


class ConfidenceBody(BaseModel):
    """An answer that was received, and the confidence that its intervals should have."""

    model_config = _STRICT
    request: list[Call] = _REQUEST
    price: dict[str, Any] = _PRICE
    refine: list[dict[str, Any]] = _REFINE
    confidence: Any = Field(description="between 0 and 1", examples=[0.99])


class VerifyBody(BaseModel):
    """A release whose answers and receipt are compared with the ledger."""

    model_config = _STRICT
    release: str = Field(description="what `to_text` wrote")


class RunBody(BaseModel):
    """A conversation, stream or feed to open."""

    model_config = _STRICT
    request: list[Call] = _REQUEST
    price: dict[str, Any] = _PRICE


class StepBody(BaseModel):
    """One step of an open conversation, stream or feed."""

    model_config = _STRICT
    step: Literal["ask", "release", "error", "state"]
    arguments: dict[str, Any] = Field(default_factory=dict)


class GrantBody(BaseModel):
    """A budget for an analyst."""

    model_config = _STRICT
    account: str = Field(max_length=100)
    epsilon: float | str
    delta: float | str = 0
    every: Literal["week", "month"] | None = None


class AccountBody(BaseModel):
    """A new account."""

    model_config = _STRICT
    name: str = Field(max_length=100)
    role: Literal["owner", "analyst", "auditor"] = "analyst"


class TokenBody(BaseModel):
    """A new token for one's own account."""

    model_config = _STRICT
    label: str = Field(max_length=100, min_length=1)
    scope: Literal["read", "ask", "all"] = "ask"
    days: int = Field(default=90, ge=1, le=366)
    datasets: list[str] | None = Field(default=None, max_length=100)


class ShareBody(BaseModel):
    """Whom to show an answer."""

    model_config = _STRICT
    account: str = Field(max_length=100)


class Problem(BaseModel):
    """An error: its kind, what to do, and notes."""

    error: str
    message: str
    notes: list[str] = []
