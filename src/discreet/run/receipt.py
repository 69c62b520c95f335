"""Receipts: what was asked and done, enough to check the price and the ledger's entry."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.ledger.chain import digest as digest_of
from discreet.loss import record
from discreet.plan.discovery import BoundDiscovery, Discovered
from discreet.plan.steps import Steps
from discreet.query.canonical import digest, plain

FORMAT = 1


def question_digest(steps: Steps, confidence: Fraction) -> str:
    """The name of a question at its price, under its policy and for its version of the data."""
    return digest((steps.question, steps.epsilon, steps.delta, steps.policy, steps.version, confidence))


def receipt(steps: Steps, found: Discovered, confidence: Fraction, question: str, sequence: int, entry: str) -> dict[str, Any]:
    """Nothing of the data's content, size or time is in it, except what mechanisms found and released on the way."""
    said = {
        "format": FORMAT,
        "question": question,
        "asked": plain(steps.question),
        "epsilon": str(steps.epsilon),
        "delta": str(steps.delta),
        "confidence": str(confidence),
        "protected": steps.protected,
        "adjacency": steps.adjacency,
        "policy": steps.policy,
        "version": steps.version,
        "loss": record.to_json(steps.loss),
        "found": _found(steps, found),
        "notes": list(steps.notes),
        "ledger": {"sequence": sequence, "entry": entry},
    }
    return said | {"hash": digest_of(said)}


def _found(steps: Steps, found: Discovered) -> dict[str, Any]:
    """What was found privately on the way: limits, and the ends of ranges by the name of what they bound."""
    told: dict[str, dict[str, str]] = {}
    names = {one.expr: one.name for one in steps.discoveries if isinstance(one, BoundDiscovery)}
    for (expr, end), value in found.bounds.items():
        told.setdefault(names[expr], {})[end] = str(value)
    return {"limits": dict(found.limits), "bounds": told}
