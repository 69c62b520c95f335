"""Tests mirror src: src/discreet/a/b.py has tests/a/test_b.py (or test_b_<aspect>.py), or a named suite that covers it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "discreet", ROOT / "tests"
SMALL = 40  # lines: a module up to this long may hold a type or a constant alone
LONGEST = 350  # lines of a test

# Modules without a test of their own name, by the suite that covers them. A module leaves this list when it gets one.
COVERED_BY: dict[str, list[str]] = {
    "tests/agents/test_tools.py": ["agents/agent.py"],
    "tests/agents/test_sessions.py": ["agents/source.py"],
    "tests/server/api/test_agents.py": ["agents/streamable.py"],
    "tests/engines/contract/test_results.py": ["engines/engine.py"],
    "tests/ledger/test_ledger.py": ["ledger/spending.py", "ledger/storage.py"],
    "tests/ledger/test_receipt.py": ["ledger/price.py"],
    "tests/architecture/test_house.py": ["errors.py"],
    "tests/tables/test_policy.py": ["tables/unit.py"],
    "tests/plan/test_compile.py": ["plan/steps.py"],
    "tests/explain/test_text.py": ["explain/facts.py", "explain/html.py", "explain/total_facts.py"],
    "tests/plan/test_arrangement.py": ["explain/tables.py"],
    "tests/session/batch/test_request.py": ["run/batch.py", "session/batch/plan.py", "session/batch/release.py"],
    "tests/run/test_outcome.py": ["run/output_column.py"],
    "tests/run/test_execute.py": ["run/results.py"],
    "tests/query/relation/test_functions.py": [
        "query/relation/calendar.py",
        "query/relation/expr.py",
        "query/relation/logic.py",
        "query/relation/text.py",
    ],
    "tests/query/sql/test_read.py": [
        "query/relation/node.py",
        "query/relation/origin.py",
        "query/sql/aggregates.py",
        "query/sql/conditions.py",
        "query/sql/grouped.py",
        "query/sql/naming.py",
        "query/sql/numbers.py",
        "query/sql/scope.py",
        "query/sql/select.py",
        "query/sql/sources.py",
        "query/sql/words.py",
    ],
    "tests/query/sql/test_read_hostile.py": ["query/sql/reader.py"],
    "tests/query/test_fluent.py": ["query/chained.py", "query/sql/pieces.py"],
    "tests/query/statistics/test_registered.py": [
        "query/statistics/average.py",
        "query/statistics/correlation.py",
        "query/statistics/count.py",
        "query/statistics/kurtosis.py",
        "query/statistics/mode.py",
        "query/statistics/pairs.py",
        "query/statistics/percentile.py",
        "query/statistics/skewness.py",
        "query/statistics/statistic.py",
        "query/statistics/stddev.py",
        "query/statistics/sum.py",
        "query/statistics/variance.py",
    ],
    "tests/server/pages/test_asking.py": ["server/pages/planned.py"],
    "tests/server/postgres_wire/catalogue/test_process.py": [
        "server/postgres_wire/catalogue/macros.py",
        "server/postgres_wire/catalogue/relations.py",
        "server/postgres_wire/catalogue/rows.py",
    ],
    "tests/server/postgres_wire/catalogue/test_rewrite.py": [
        "server/postgres_wire/catalogue/calls.py",
        "server/postgres_wire/catalogue/nodes.py",
    ],
    "tests/server/pages/test_answering.py": ["server/pages/shown.py"],
    "tests/server/pages/test_forms.py": ["server/pages/problems.py"],
    "tests/server/pages/test_looking.py": ["server/pages/rendering.py"],
    "tests/session/estimate/test_estimate.py": [
        "session/estimate/functions.py",
        "session/estimate/plan.py",
        "session/estimate/request.py",
        "session/estimate/statistics.py",
    ],
    "tests/session/graphs/test_graph.py": [
        "session/graphs/edges.py",
        "session/graphs/plan.py",
        "session/graphs/release.py",
        "session/graphs/request.py",
    ],
    "tests/session/interactive/test_conversation.py": [
        "session/interactive/plan.py",
        "session/interactive/request.py",
        "session/transcript.py",
    ],
    "tests/session/test_exported.py": ["session/exporting.py"],
    "tests/session/test_tidy.py": ["run/tidy.py"],
    "tests/session/synthesize/test_synthesize.py": [
        "session/synthesize/answers.py",
        "session/synthesize/plan.py",
        "session/synthesize/run.py",
        "session/synthesize/score.py",
        "session/synthesize/spec.py",
    ],
    "tests/session/watch/test_watch.py": ["session/watch/plan.py", "session/stateful.py"],
    "tests/session/contract": [
        "session/life_cycle.py",
        "session/pipeline.py",
        "session/plan.py",
        "session/priced_plan.py",
        "session/released.py",
    ],
}
EXCEPTIONS = {module for modules in COVERED_BY.values() for module in modules}


def has_test(module: str, tests: Path = TESTS) -> bool:
    path = Path(module)
    place = tests / path.parent
    return (place / f"test_{path.stem}.py").exists() or any(place.glob(f"test_{path.stem}_*.py"))


def modules() -> list[str]:
    found = (path for path in sorted(SOURCE.rglob("*.py")) if not path.name.startswith("__"))
    return [path.relative_to(SOURCE).as_posix() for path in found if len(path.read_text("utf-8").splitlines()) > SMALL]


@pytest.mark.parametrize("module", modules())
def test_a_module_has_its_test_or_a_suite_that_covers_it(module: str) -> None:
    assert has_test(module) or module in EXCEPTIONS, f"write tests/{Path(module).parent}/test_{Path(module).stem}.py"


def test_exceptions_are_needed_and_their_suites_exist() -> None:
    assert sorted(EXCEPTIONS - set(modules())) == []  # gone, renamed, or small
    assert sorted(module for module in EXCEPTIONS if has_test(module)) == []
    assert [suite for suite in COVERED_BY if not (ROOT / suite).exists()] == []


def test_tests_are_short() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): n for path in TESTS.rglob("*.py") if (n := len(path.read_text("utf-8").splitlines())) > LONGEST
    }
    assert long == {}


def test_a_module_without_a_test_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "test_b_more.py").touch()
    assert has_test("a/b.py", tmp_path)
    assert not has_test("a/c.py", tmp_path)
