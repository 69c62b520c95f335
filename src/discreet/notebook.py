"""Notebooks: `%load_ext discreet` adds the cell magic `%%dp`, which asks the question in a cell and shows its answer.

%%dp epsilon=0.1 db
SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept
"""

from __future__ import annotations

import ast
from typing import Any

from discreet.errors import Error, Invalid
from discreet.hints import suggest_and_list
from discreet.query.sql.written_price import written_price
from discreet.session.remote.session import RemoteSession
from discreet.session.session import Session

_PRICE = ("epsilon", "delta", "confidence", "error", "size")
_USAGE = "%%dp epsilon=0.1 [db] [plan] [into=name], and the question below it"


def load(shell: Any) -> None:
    """Add `%%dp` to a notebook."""

    def dp(line: str, cell: str | None = None) -> Any:
        """Ask the question in the cell at the price on the line, and show the answer: %%dp epsilon=0.1 [db]

        `db` is the variable that holds the session (db, if it is left out). With the word `plan` nothing is paid: the cell shows what
        would happen. `into=name` also keeps the release, or the plan, in a variable.
        """
        try:
            return ask(line, cell)
        except Error as error:
            shown = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
            error.__dict__["_render_traceback_"] = lambda: shown  # IPython shows this instead of a traceback through our files
            raise

    def ask(line: str, cell: str | None) -> Any:
        if cell is None:
            raise Invalid(f"dp is for whole cells: write {_USAGE}")
        session, price, plan, into = read_line(line)
        price = priced(price, cell)
        db = shell.user_ns.get(session)
        if not isinstance(db, Session | RemoteSession):
            raise Invalid(f"{session} is no session of discreet: connect first, as in db = discreet.connect(…), or name another variable")
        query = db.sql(cell)
        if plan and "error" in price:
            price = {"epsilon": query.price(price["error"], **{name: one for name, one in price.items() if name in ("size", "confidence")})}
        given = {name: one for name, one in price.items() if name != "size"} if plan else price
        found: Any = query.plan(**given) if plan else query.release(**price)
        if into is not None:
            shell.user_ns[into] = found
        return found

    shell.register_magic_function(dp, "cell", "dp")


def priced(price: dict[str, Any], cell: str) -> dict[str, Any]:
    """The price on the line, and what a comment in the cell states; Invalid if both state the same.

    >>> priced({"size": 100}, "/* epsilon=1/2 */ SELECT COUNT(*) FROM visits")
    {'size': 100, 'epsilon': Fraction(1, 2)}
    """
    stated = written_price(cell).comment
    if both := sorted(stated.keys() & price.keys()):
        raise Invalid(f"{both[0]} is stated after %%dp and in a comment: keep one")
    return price | stated


def read_line(line: str) -> tuple[str, dict[str, Any], bool, str | None]:
    """The session's variable, the price, whether only to plan, and the variable that keeps the result.

    >>> read_line("epsilon=0.1 clinic")
    ('clinic', {'epsilon': '0.1'}, False, None)
    >>> read_line("error={'n':5} size=100 plan into=found")
    ('db', {'error': {'n': 5}, 'size': 100}, True, 'found')
    """
    session, price, plan, into = None, dict[str, Any](), False, None
    for word in line.split():
        name, equals, text = word.partition("=")
        if not equals and name == "plan":
            plan = True
        elif not equals and session is None and name.isidentifier():
            session = name
        elif equals and name == "into" and text.isidentifier():
            into = text
        elif equals and name in _PRICE and text:
            price[name] = _literal(name, text) if name in ("error", "size") else text
        else:
            raise Invalid(f"{word[:50]!r} cannot be read: write {_USAGE}; {suggest_and_list(name[:50], _PRICE)}")
    return session or "db", price, plan, into


def _literal(name: str, text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise Invalid(f"{name} cannot be read: write it without spaces, as in error={{'visits':5}} size=1000") from None
