"""Rate limits: a bucket a name; nobody can empty another's."""

from __future__ import annotations

from discreet.server import limits
from discreet.server.limits import Limit, network_of


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_so_many_a_minute() -> None:
    watch = Watch()
    limit = Limit(3, watch)
    assert [limit.take("a") for _ in range(3)] == [0, 0, 0]
    assert limit.take("a") == 20
    assert limit.wait("a") == 20
    watch.now = 10
    assert limit.take("a") == 10
    watch.now = 20
    assert limit.wait("a") == 0
    assert limit.take("a") == 0
    assert limit.take("a") == 20
    watch.now = 1000  # it does not fill beyond
    assert [limit.take("a") > 0 for _ in range(4)] == [False, False, False, True]


def test_refusals_do_not_lengthen_the_wait() -> None:
    watch = Watch()
    limit = Limit(1, watch)
    limit.take("a")
    assert {limit.take("a") for _ in range(100)} == {60}


def test_nobody_locks_others_out() -> None:
    """Wrong passwords count for an address and a name together: an attacker slows himself down, not the holder of the name."""
    limit = Limit(10, Watch())
    for _ in range(1000):
        limit.take("attacker's address, ann")
    assert limit.take("attacker's address, ann") > 0
    assert limit.take("ann's address, ann") == 0
    assert limit.take("attacker's address, bob") == 0


def test_looking_takes_nothing() -> None:
    limit = Limit(1, Watch())
    assert [limit.wait("a") for _ in range(5)] == [0] * 5
    assert limit.take("a") == 0


def test_memory_is_bounded() -> None:
    limit = Limit(1, Watch())
    for number in range(limits._MOST_KNOWN + 50):
        limit.take(str(number))
    assert len(limit._buckets) == limits._MOST_KNOWN


def test_addresses_of_one_ipv6_network_are_one() -> None:
    same = {network_of(f"2001:db8:1:2:{number:x}::{number:x}") for number in range(100)}
    assert same == {"2001:db8:1:2::"}
    assert network_of("2001:db8:1:3::1") != network_of("2001:db8:1:2::1")
    assert network_of("fe80::1%eth0") == "fe80::"
    assert network_of("192.0.2.7") != network_of("192.0.2.8")
