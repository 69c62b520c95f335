"""Render pages: everything is escaped, unless it is a drawing of ours."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from discreet.plots.table import printable
from discreet.server.access import Caller, server_of
from discreet.server.pages.plain import plain

FOLDER = Path(__file__).parent
PART = "Discreet-Part"  # the header with which the script asks for a part of a page
STATIC: dict[str, bytes] = {
    path.name: path.read_bytes() for path in sorted((FOLDER / "static").iterdir()) if path.suffix in (".css", ".js", ".svg")
}


def versioned(name: str) -> str:
    """The address of a file that browsers may keep for ever: it changes with the contents."""
    return f"/static/{name}?{hashlib.sha256(STATIC[name]).hexdigest()[:12]}"


def when(at: float | str | None) -> str:
    """A time, to the minute, in UTC."""
    if at is None:
        return "–"
    moment = datetime.datetime.fromisoformat(at) if isinstance(at, str) else datetime.datetime.fromtimestamp(at, datetime.UTC)
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M}"


def clock(at: float) -> str:
    """A time of today, to the second, in UTC."""
    return f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%H:%M:%S}"


def amount(epsilon: Any) -> Markup:
    """An ε or a δ for people: few digits that stay on one line, ∞ where there is none.

    >>> amount(None), amount("0.125"), amount(1.5e-7)
    (Markup('∞'), Markup('0.125'), Markup('<span class="one">1.5e-7</span>'))
    """
    text = "∞" if epsilon is None else f"{float(epsilon):.4g}".replace("e-0", "e-")
    return Markup('<span class="one">{}</span>').format(text) if "e" in text else Markup(text)


def drawing(svg: str) -> Markup:
    """A drawing of ours, whose texts were escaped when it was drawn."""
    return Markup(svg)


_PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.filters |= {
    "when": when,
    "clock": clock,
    "amount": amount,
    "plain": plain,
    "printable": lambda text: printable(str(text)),
    "as_json": json.dumps,
}
_PAGES.globals |= {
    "style": versioned("console.css"),
    "script": versioned("console.js"),
    "icon": versioned("icon.svg"),
    "verbs": {"refine": "more spent on it", "bias": "how many are cut off", "dry_run": "made-up rows"},
}


def render(request: Request, template: str, caller: Caller | None, status: int = 200, **values: Any) -> HTMLResponse:
    """A page, or a part of one."""
    login = None if caller is None else caller.login
    known = {
        "account": None if caller is None else caller.account,
        "secret": "" if login is None else login.form,
        "path": request.url.path,
        "version": request.app.version,
        "names": [] if caller is None else [data.name for data in server_of(request).datasets.of(caller.account)],
    }
    return HTMLResponse(_PAGES.get_template(template).render(known | values), status)
