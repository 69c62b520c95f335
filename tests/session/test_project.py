"""Projects: a discreet.toml, and drafts of one."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from session.clinic import visits
from session.project import POLICY

from discreet.errors import EngineError, Invalid, PolicyError
from discreet.session.project import init, open_project, read_project

MISTAKES = """
colour = "red"
[budget]
epsilon = -1
[tables.visits]
source = "visits.parquet"
unit = "patient"
columns.cost.bounds = [500, 0]
columns.kost.bounds = [0, 1]
[tables.notes]
source = "notes.parquet"
link = { column = "visit", table = "visits", key = "visit_id" }
[tables.sites]
source = "nowhere.parquet"
public = true
[tables.rooms]
public = true
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    return path


@pytest.fixture
def project(data: Path) -> Path:
    path = data.parent / "discreet.toml"
    path.write_text(POLICY)
    return path


def test_init_looks_at_no_value(data: Path, tmp_path: Path) -> None:
    frame = polars.read_parquet(data)
    drafts = []
    for number, rows in enumerate((frame, frame.head(0), frame.reverse().head(10))):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows.write_parquet(folder / "visits.parquet")
        drafts.append(init([folder / "visits.parquet"]).read_text())
    assert len(set(drafts)) == 1


def test_init_slips(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="name the files"):
        init([])
    with pytest.raises(Invalid, match="same name"):
        init([data, data])
    with pytest.raises(Invalid, match="cannot be written"):
        init([data], tmp_path / "no" / "such" / "folder.toml")


def test_files_elsewhere_are_named_in_full(data: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    place = init([data], tmp_path / "sub")
    assert f'source = "{data}"' in place.read_text()
    open_project(place).close()


def test_what_is_wrong_is_listed_with_its_path(project: Path) -> None:
    project.write_text("[budget]\nepsilon = -1\n[tables.visits]\nunit = 'x'\n")
    with pytest.raises(PolicyError, match=r"budget\.epsilon"):
        open_project(project)
    project.write_text("[budget]\nepsilon = 1\n[tables.visits]\nunit = 'patient_id'\n")
    with pytest.raises(PolicyError, match=r"tables\.visits\.source: is missing"):
        open_project(project)
    with pytest.raises(PolicyError, match="discreet init"):
        read_project(project.parent / "nowhere")
    project.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="UTF-8"):
        open_project(project)


def test_ledger_and_witness_lie_where_the_policy_says(project: Path) -> None:
    (project.parent / "books").mkdir()
    project.write_text('ledger = { path = "books/a.ledger", witness = "books/a.witness" }\n' + project.read_text())
    with open_project(project) as db:
        db.sql("SELECT COUNT(*) AS n FROM visits").release(1)
    assert (project.parent / "books" / "a.ledger").exists()
    assert (project.parent / "books" / "a.witness").read_text()
    assert not (project.parent / "discreet.ledger").exists()


def test_mistakes_of_all_kinds_are_listed_at_once(project: Path) -> None:
    polars.DataFrame({"visit": [1]}).write_parquet(project.parent / "notes.parquet")
    project.write_text(MISTAKES)
    with pytest.raises(PolicyError) as caught:
        open_project(project)
    listed = sorted(line.split(": ")[0] for line in str(caught.value).splitlines())
    assert listed == [
        "budget.epsilon",
        "colour",
        "tables.notes.link.key",
        "tables.rooms.source",
        "tables.sites.source",
        "tables.visits.columns.cost.bounds",
        "tables.visits.columns.kost",
        "tables.visits.unit",
    ]


def test_a_mistake_is_listed_once(project: Path) -> None:
    project.write_text(project.read_text().replace("[0, 500]", "[500, 0]") + 'columns.cost.type = "real"\nkolour = 1\n')
    with pytest.raises(PolicyError) as caught:
        open_project(project)
    assert len(str(caught.value).splitlines()) == 2


def test_a_broken_file_does_not_hide_mistakes(project: Path, data: Path) -> None:
    data.write_bytes(b"PAR1 not really")
    with pytest.raises(EngineError):
        open_project(project)
    project.write_text("colour = 1\n" + project.read_text())
    with pytest.raises(PolicyError, match="colour"):
        open_project(project)
