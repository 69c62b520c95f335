"""Metrics: text that Prometheus reads, bounded, and functions of public facts."""

from __future__ import annotations

import math
import re

from fastapi.testclient import TestClient
from server.clinic import Served, asked

from discreet.server.metrics import Gauge, Metrics, known

LINE = re.compile(r'[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? (\d+(\.\d+)?|inf)')


def test_the_text_is_what_prometheus_reads() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.request("GET", "/api/v1/jobs/{number}", 200)
    metrics.request("BREW", "/api/v1/jobs/{number}", 405)
    gauges = [Gauge("epsilon_spent", 0.25, "a"), Gauge("queue_waiting", 2), Gauge("epsilon_spent", math.inf, 'b"\n\\')]
    lines = metrics.text(gauges).splitlines()
    assert 'discreet_requests_total{method="GET",route="/api/v1/jobs/{number}",status="200"} 3' in lines
    assert 'discreet_epsilon_spent{dataset="a"} 0.25' in lines
    assert 'discreet_epsilon_spent{dataset="b\\"\\n\\\\"} inf' in lines
    types = [line for line in lines if line.startswith("# TYPE")]
    assert len(types) == len(set(types)) == 3
    assert all(LINE.fullmatch(line) for line in lines if not line.startswith("#"))


def test_invented_methods_do_not_fill_the_memory() -> None:
    metrics = Metrics()
    for number in range(1000):
        metrics.request(f"M{number}", "/", 405)
    assert len(metrics._requests) == 1
    assert known("POST") == "POST"
    assert known("post") == "(other)"


def test_they_are_counts_of_requests_and_what_the_ledger_says(client: TestClient, served: Served) -> None:
    client.post("/api/v1/datasets/clinic/releases", json=asked(), headers=served.header("ann"))
    text = client.get("/api/v1/metrics", headers=served.header("eve")).text
    names = {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}
    assert names == {"discreet_requests_total", "discreet_queue_waiting", "discreet_epsilon_spent", "discreet_epsilon_budget"}
    assert 'discreet_epsilon_spent{dataset="clinic"} 0.1' in text
    for account in ("ann", "bob"):  # the sum of what all spent is not for analysts
        assert client.get("/api/v1/metrics", headers=served.header(account)).status_code == 403
