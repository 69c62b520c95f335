"""The queue: fair between accounts, bounded, and its seats are held until the end of a slot."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from discreet.errors import Refused
from discreet.server.clock import Clock
from discreet.server.queue import FairQueue

OFF = Clock(off=True)


def run(play: Callable[[FairQueue], Coroutine[Any, Any, Any]], clock: Clock = OFF, seats: int = 1, most: int = 100) -> Any:
    async def playing() -> Any:
        queue = FairQueue(clock, seats, most)
        try:
            return await asyncio.wait_for(play(queue), 20)
        finally:
            queue.close()

    return asyncio.run(playing())


async def seated(queue: FairQueue, gate: threading.Event) -> asyncio.Task[Any]:
    """Somebody who keeps the only seat until the gate opens."""
    task = asyncio.create_task(queue.run("first", 0, gate.wait))
    await asyncio.sleep(0.01)
    return task


def test_accounts_take_turns() -> None:
    order: list[str] = []

    async def play(queue: FairQueue) -> None:
        gate = threading.Event()
        first = await seated(queue, gate)
        asked = [asyncio.create_task(queue.run(who, 0, lambda who=who: order.append(who))) for who in ["ann"] * 4 + ["bob"] * 2 + ["cid"]]
        await asyncio.sleep(0)
        assert queue.waiting == 7
        gate.set()
        await asyncio.gather(first, *asked)
        assert queue.waiting == 0

    run(play)
    assert order == ["ann", "bob", "cid", "ann", "bob", "ann", "ann"]


def test_an_answer_leaves_at_the_end_of_its_slot_and_keeps_its_seat_until_then() -> None:
    async def play(queue: FairQueue) -> list[float]:
        begin, ended = time.monotonic(), []

        async def one() -> None:
            await queue.run("ann", 0, lambda: None)
            ended.append(time.monotonic() - begin)

        await asyncio.gather(one(), one())
        return ended

    first, second = run(play, Clock(first=0.1, longest=10))
    assert 0.1 <= first < 0.2 <= second


def test_a_failure_leaves_at_the_end_of_its_slot_too() -> None:
    async def play(queue: FairQueue) -> float:
        begin = time.monotonic()
        with pytest.raises(ZeroDivisionError):
            await queue.run("ann", 0, lambda: 1 // 0)
        return time.monotonic() - begin

    assert run(play, Clock(first=0.1, longest=10)) >= 0.1


def test_what_is_recorded_is_recorded_before_the_slot_ends_however_long_the_disk_takes() -> None:
    async def play(queue: FairQueue) -> tuple[float, float]:
        begin, recorded = time.monotonic(), []

        def record(found: str) -> None:
            recorded.append((found, time.monotonic() - begin))
            time.sleep(0.02)

        assert await queue.run("ann", 0, lambda: "found", record) == "found"
        assert recorded[0][0] == "found"
        return recorded[0][1], time.monotonic() - begin

    recorded, left = run(play, Clock(first=1.0, longest=10))
    assert 0.9 <= recorded < 1.0 <= left


def test_a_slot_begins_when_the_request_arrived_unless_it_waited_for_a_seat() -> None:
    async def play(queue: FairQueue) -> list[float]:
        begin, ended = time.monotonic(), []

        async def one() -> None:
            await queue.run("ann", 0, lambda: None, since=begin - 0.3)
            ended.append(time.monotonic() - begin)

        await asyncio.gather(one(), one())
        return ended

    first, second = run(play, Clock(first=0.5, longest=10))
    assert 0.2 <= first < 0.5
    assert second >= first + 0.5 - 0.01


def test_too_many_waiting() -> None:
    async def play(queue: FairQueue) -> None:
        gate = threading.Event()
        first = await seated(queue, gate)
        waiting = [asyncio.create_task(queue.run("ann", 0, lambda: None)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Refused, match="too many questions waiting"):
            await queue.run("ann", 0, lambda: None)
        other = asyncio.create_task(queue.run("bob", 0, lambda: "bob"))  # one account cannot keep another out
        gate.set()
        await asyncio.gather(first, *waiting)
        assert await other == "bob"

    run(play, most=2)


def test_who_goes_away_while_waiting_takes_no_seat() -> None:
    async def play(queue: FairQueue) -> None:
        gate = threading.Event()
        first = await seated(queue, gate)
        gone = asyncio.create_task(queue.run("ann", 0, lambda: pytest.fail("it was cancelled")))
        stays = asyncio.create_task(queue.run("bob", 0, lambda: "here"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        gate.set()
        assert await stays == "here"
        await first
        assert await queue.run("cid", 0, lambda: "free") == "free"

    run(play)


def test_who_goes_away_while_running_keeps_the_seat_until_the_run_ends() -> None:
    async def play(queue: FairQueue) -> None:
        gate = threading.Event()
        first = await seated(queue, gate)
        first.cancel()
        other = asyncio.create_task(queue.run("bob", 0, lambda: gate.is_set()))
        await asyncio.sleep(0.05)
        assert not other.done()
        gate.set()
        assert await other is True
        with pytest.raises(asyncio.CancelledError):
            await first

    run(play)


def test_stopping_starts_nothing_more() -> None:
    async def play(queue: FairQueue) -> None:
        gate = threading.Event()
        first = await seated(queue, gate)
        waits = asyncio.create_task(queue.run("ann", 0, lambda: pytest.fail("the server stopped")))
        await asyncio.sleep(0)
        queue.stop()
        gate.set()
        assert await first is True
        with pytest.raises(asyncio.CancelledError):
            await waits
        with pytest.raises(asyncio.CancelledError):
            await queue.run("bob", 0, lambda: pytest.fail("the server stopped"))

    run(play)
