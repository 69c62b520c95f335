"""The house rules, read off the source with `ast`: floors, rooms, doors, coins and names."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "discreet"

# A floor imports only floors below it. On one floor a package imports those to its left, if anything.
FLOORS: list[list[str]] = [
    ["errors", "private", "exact", "address", "extras", "parameter", "exports", "hints"],
    ["noise"],
    ["loss"],
    ["mechanisms"],
    ["algorithms", "ledger", "tables", "engines"],
    ["query"],
    ["plan", "run", "explain"],
    ["plots", "attacks", "session"],
    ["agents", "server"],
    ["dbapi", "notebook", "__init__", "cli", "__main__"],
]
# Each outside library has its rooms.
ROOMS = {
    "flint": {"exact.py"},
    "cryptography": {"noise/bits.py"},
    "rich": {"cli/"},
    "typer": {"cli/"},
    "duckdb": {"engines/duckdb/", "server/postgres_wire/catalogue/process.py"},
    "pyspark": {"engines/spark/"},
    "pyarrow": {"engines/spark/", "server/api/answers.py"},
    "psycopg": {"engines/postgres/", "ledger/postgres.py", "ledger/postgres_server.py", "server/store/postgres.py"},
    "sqlalchemy": {"dbapi/sqlalchemy.py"},
    "sqlglot": {"query/sql/", "server/postgres_wire/catalogue/"},
    "matplotlib": {"plots/"},
    "fastapi": {"server/app.py", "server/access.py", "server/api/", "server/pages/"},
    "starlette": {"agents/streamable.py", "server/app.py", "server/pages/"},
    "pydantic": {"server/api/bodies.py", "agents/results.py", "agents/tools.py"},
    "mcp": {"agents/tools.py", "agents/streamable.py"},
    "mcp_types": {"agents/tools.py"},
    "uvicorn": {"server/listen.py"},
    "argon2": {"server/store/secret.py"},
    "jinja2": {"server/pages/"},
    "markupsafe": {"server/pages/"},
    "authlib": {"server/oidc.py"},
    "httpx": {"server/oidc.py"},
    "joserfc": {"server/oidc.py"},
    "attrs": {""},
    "numpy": {""},
    "torch": {"algorithms/marginals/gpu.py"},
}
# Imports inside functions: heavy things that load on first use, so that `import discreet` stays quick. Each is a declared door.
DOORS = {
    "algorithms/marginals/device.py": {"discreet.algorithms.marginals.gpu"},
    "__init__.py": {"discreet.notebook"},
    "session/session.py": {
        "discreet.session.estimate.estimate",
        "discreet.session.estimate.request",
        "discreet.session.feeds.feed",
        "discreet.session.feeds.request",
        "discreet.session.interactive.conversation",
        "discreet.session.interactive.request",
        "discreet.session.profile.request",
        "discreet.session.synthesize.request",
        "discreet.session.synthesize.synthetic",
        "discreet.session.watch.request",
        "discreet.session.watch.watch",
    },
    "session/estimate/functions.py": {"pandas", "polars"},
    "session/first_step.py": {"discreet.query.sql.without"},
    "session/query.py": {"discreet.engines.duckdb.engine", "discreet.query.sql.read"},
    "session/exported.py": {"pyarrow", "pyarrow.parquet"},
    "session/exporting.py": {"pandas", "polars"},
    "session/released.py": {"discreet.plots.figure"},
    "session/synthesize/report.py": {"discreet.plots.fidelity"},
    "session/synthesize/synthetic.py": {"discreet.plots.synthetic"},
    "session/connect.py": {"discreet.session.project", "discreet.session.remote.session"},
    "engines/choose.py": {"discreet.engines.duckdb.engine", "discreet.engines.postgres.engine", "discreet.engines.spark.engine"},
    "cli/demo.py": {"discreet.engines.postgres.load"},
    "cli/backup.py": {"discreet.server.backup", "discreet.server.datasets", "discreet.server.settings"},
    "cli/grant.py": {"discreet.server.settings", "discreet.server.store.accounts", "discreet.server.store.database"},
    "cli/restore.py": {"discreet.server.restore", "discreet.server.datasets", "discreet.server.settings"},
    "cli/mcp.py": {
        "discreet.agents.agent",
        "discreet.agents.limits",
        "discreet.agents.sessions",
        "discreet.agents.stdio",
        "discreet.server.clock",
    },
    "cli/serve.py": {"discreet.server.listen", "discreet.server.settings", "discreet.server.setup"},
    "server/api/agents.py": {"discreet.agents.streamable"},
    "server/api/answers.py": {"pyarrow"},
    "server/server.py": {"discreet.server.oidc"},
    "server/store/database.py": {"discreet.server.store.postgres"},
    "ledger/ledger.py": {"discreet.ledger.postgres"},
    "ledger/migrate.py": {"discreet.ledger.migrate_postgres"},
    "query/fluent.py": {"discreet.query.sql.pieces"},
}
COINS = {"urandom", "getrandom", "secrets", "random"}  # names that make or import randomness
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "base", "core", "misc", "manager", "handler", "impl", "factory"}
LONGEST = 350  # most files have 100 to 300 lines

FILES = sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def floor_of(module: str) -> tuple[int, int]:
    """The floor of a dotted module below `discreet`, and its place there."""
    top = module.split(".")[0]
    return next((i, rooms.index(top)) for i, rooms in enumerate(FLOORS) if top in rooms)


def imports(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """All modules imported anywhere below a node; `from a import b` counts as a.b where that is a module of ours."""
    found: list[tuple[str, ast.AST]] = []
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            found += [(alias.name, child) for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative import"
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                is_module = (ROOT.parent / (inner.replace(".", "/") + ".py")).exists() or (ROOT.parent / inner.replace(".", "/")).is_dir()
                found.append((inner if is_module else str(child.module), child))
    return found


def own_module(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def violations(path: Path, source: ast.Module) -> list[str]:
    """Every house rule that a file breaks."""
    here, name, broken = own_module(path), room(path), []
    for module, _ in imports(source):
        top = module.split(".")[0]
        if top == "discreet":
            inner = module.removeprefix("discreet").removeprefix(".")
            if not inner:
                if floor_of(here) < floor_of("cli"):
                    broken.append(f"{name}: imports the package root")
            elif floor_of(inner) > floor_of(here):
                broken.append(f"{name}: imports {module} from its right or above")
        elif module in DOORS.get(name, set()):
            continue
        elif top not in sys.stdlib_module_names and not any(name.startswith(place) for place in ROOMS.get(top, set())):
            broken.append(f"{name}: {top} has no room here")
        if top in COINS and name != "noise/bits.py":
            broken.append(f"{name}: imports randomness")
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside = {f"{module}" for module, _ in imports(node)}
            if inside - DOORS.get(name, set()):
                broken.append(f"{name}: imports inside a function")
        spelled = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if spelled in COINS and name != "noise/bits.py":
            broken.append(f"{name}: touches {spelled}")
        if spelled == "reveal" and not name.startswith("mechanisms/"):
            broken.append(f"{name}: opens a private value")
        if isinstance(node, ast.ImportFrom) and any(a.name == "reveal" for a in node.names) and not name.startswith("mechanisms/"):
            broken.append(f"{name}: imports reveal")
    if "_value" in {n.attr for n in ast.walk(source) if isinstance(n, ast.Attribute)} and name != "private.py":
        broken.append(f"{name}: reaches into Private")
    if FORBIDDEN & set(Path(name).with_suffix("").parts):
        broken.append(f"{name}: a name that says nothing")
    return broken


@pytest.mark.parametrize("path", FILES, ids=room)
def test_rules(path: Path) -> None:
    assert violations(path, tree(path)) == []


@pytest.mark.parametrize("path", FILES, ids=room)
def test_one_idea_per_file(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_no_import_cycle() -> None:
    graph = {
        own_module(path): {
            m.removeprefix("discreet.") for m, _ in imports(tree(path)) if m.startswith("discreet.") and m != f"discreet.{own_module(path)}"
        }
        for path in FILES
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"cycle: {' → '.join((*trail, module))}"
        if module not in done:
            for below in graph.get(module, ()):
                visit(below, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def classes() -> list[tuple[str, ast.ClassDef]]:
    return [(room(p), n) for p in FILES for n in tree(p).body if isinstance(n, ast.ClassDef)]


def test_abstract_or_final() -> None:
    """Every class is abstract, a protocol, a named tuple, an error, or final; values are frozen."""
    for name, node in classes():
        bases = {ast.unparse(b).split("[")[0] for b in node.bases}
        decorators = {ast.unparse(d).split("(")[0] for d in node.decorator_list}
        if bases & {"ABC", "Protocol", "NamedTuple", "threading.local", "TypedDict", "BaseModel"} or name in (
            "errors.py",
            "dbapi/errors.py",
        ):
            continue
        assert "final" in decorators, f"{name}: {node.name} is neither abstract nor final"


def mechanism_classes() -> list[tuple[str, ast.ClassDef]]:
    return [
        (name, node)
        for name, node in classes()
        if name.startswith("mechanisms/") and any(ast.unparse(b).startswith("Mechanism[") for b in node.bases)
    ]


def test_mechanisms_state_their_theorem() -> None:
    found = mechanism_classes()
    assert len(found) >= 12
    for name, node in found:
        text = ast.get_docstring(node) or ""
        assert "Theorem (" in text, f"{name}: {node.name} states no theorem"
        assert "Accuracy." in text, f"{name}: {node.name} states no accuracy"
        decorators = [ast.unparse(d) for d in node.decorator_list]
        assert any(d.startswith("frozen") for d in decorators), f"{name}: {node.name} is not frozen"


# ── the rules themselves can fail ────────────────────────────────────────────────────────────────────────────────────

BAD = {
    "noise/bad.py": {
        "import discreet.loss.loss": "right or above",
        "import scipy": "no room",
        "import random": "randomness",
        "import os\nx = os.urandom(3)": "urandom",
        "import numpy\nx = numpy.random.default_rng()": "random",
        "def f():\n    import math": "inside a function",
        "import discreet": "package root",
    },
    "loss/bad.py": {
        "from discreet.private import reveal": "reveal",
        "import discreet.private\nx = discreet.private.reveal(y)": "opens",
        "x = p._value": "reaches",
        "import cryptography": "no room",
    },
    "noise/utils.py": {"x = 1": "says nothing"},
}


@pytest.mark.parametrize(("where", "source", "why"), [(w, s, y) for w, cases in BAD.items() for s, y in cases.items()])
def test_a_broken_rule_is_seen(where: str, source: str, why: str) -> None:
    assert any(why in v for v in violations(ROOT / where, ast.parse(source)))
