"""The tutorial notebooks run as written: Jupyter's cells in IPython's own shell, marimo's as an application."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from discreet.session.plan import Plan
from discreet.session.release import Release

EXAMPLES = Path(__file__).parents[2] / "examples"
pytest.importorskip("sqlalchemy", minversion="2.0")


@pytest.fixture(autouse=True)
def _dialect() -> None:
    """As pyproject.toml registers it."""
    from sqlalchemy.dialects import registry

    registry.register("discreet", "discreet.dbapi.sqlalchemy", "DiscreetDialect")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance()
    yield shell
    shell.history_manager.end_session()
    shell.history_manager.save_thread and shell.history_manager.save_thread.stop()
    InteractiveShell.clear_instance()


def test_jupyter(shell: InteractiveShell) -> None:
    notebook = json.loads((EXAMPLES / "tutorial.ipynb").read_text())
    assert all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code")  # answers are not kept in git
    shown: list[Any] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            ran = shell.run_cell("".join(cell["source"]))
            ran.raise_error()
            shown.append(ran.result)
    plans, answers = [one for one in shown if isinstance(one, Plan)], [one for one in shown if isinstance(one, Release)]
    assert (len(plans), len(answers)) == (1, 2)
    assert "<svg" in answers[0]._repr_html_()
    assert "±" in answers[0]._repr_html_()
    assert list(shell.user_ns["frame"].columns) == ["dept", "n", "n_low", "n_high", "mean_cost", "mean_cost_low", "mean_cost_high"]
    assert list(shell.user_ns["busy"].columns) == ["dept", "n", "n_low", "n_high"]
    repeated, _ = shown[-1]
    assert repeated is True


def test_marimo() -> None:
    pytest.importorskip("marimo")
    spec = importlib.util.spec_from_file_location("tutorial_marimo", EXAMPLES / "tutorial_marimo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, found = module.app.run()
    assert found["frame"].columns == ["dept", "n", "n_low", "n_high", "mean_cost", "mean_cost_low", "mean_cost_high"]
    assert list(found["busy"].columns) == ["dept", "n", "n_low", "n_high"]
    assert float(found["db"].spent.epsilon) == 0.6
    assert "<svg" in found["answer"]._repr_html_()
