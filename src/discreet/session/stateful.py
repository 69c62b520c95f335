"""Payments of stateful runs: each step is charged before it is taken, and the receipt lists the payments so far."""

from __future__ import annotations

import os
from typing import final

from attrs import evolve

from discreet.errors import Invalid
from discreet.ledger.payment import Payments, Priced
from discreet.ledger.receipt import Paid, PricedRequest, Receipt
from discreet.noise.bits import SystemBits


@final
class StepPayments:
    """The payments of one run. Every attempt has a new key: a payment that failed may have been booked, so its key is not used again."""

    def __init__(self, priced: PricedRequest, payments: Payments, what: str) -> None:
        mark = f"{SystemBits().word():016x}"  # distinguishes this run from other runs of the same request
        self.priced = evolve(priced, request=dict(priced.request) | {"run": mark})
        self._payments, self._what, self._process = payments, what, os.getpid()
        self._attempts = 0
        self.paid: tuple[Paid, ...] = ()

    def require_own_process(self) -> None:
        """Raise Invalid in a forked process: both processes would draw the same noise."""
        if os.getpid() != self._process:
            raise Invalid(f"this {self._what} was copied into another process: open one there")

    def pay(self, step: Priced, note: str) -> None:
        """Charge one step before it is taken."""
        self._attempts += 1
        question = self.priced.question
        entry, fresh = self._payments.claim(step, question, f"{question}#{self._attempts}", note)
        if not fresh:
            raise Invalid(f"this {self._what} was copied into another process: open one there")
        paid = Paid.of(entry)
        self.paid = (*self.paid, paid if self._payments.names_entries else paid.without_entry())

    @property
    def receipt(self) -> Receipt:
        """What was paid so far."""
        return Receipt(self.priced, self.paid)
