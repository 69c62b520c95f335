"""What may occur in a catalogue statement: classes of the parser's nodes, functions, types, operators."""

from __future__ import annotations

from sqlglot import exp

_ROWS = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Order, exp.Ordered, exp.Having, exp.Limit, exp.Offset, exp.With, exp.CTE),
    *(exp.Subquery, exp.Union, exp.Intersect, exp.Except, exp.Table, exp.TableAlias, exp.Lateral, exp.Unnest, exp.Values, exp.Tuple),
)
_VALUES = (
    *(exp.Alias, exp.Column, exp.Identifier, exp.Star, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Dot, exp.Var, exp.Parameter),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike),
    *(exp.RegexpLike, exp.RegexpILike, exp.Any, exp.All, exp.Exists, exp.Case, exp.If, exp.Cast, exp.DataType, exp.Add, exp.Sub, exp.Mul),
    *(exp.Div, exp.Mod, exp.Neg, exp.DPipe, exp.Array, exp.Bracket, exp.Distinct, exp.Collate, exp.Operator),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Window, exp.WindowSpec, exp.ObjectIdentifier, exp.PseudoType, exp.DataTypeParam, exp.Filter, exp.BitwiseAnd, exp.Escape),
    *(exp.WithinGroup, exp.AtTimeZone, exp.ByteString, exp.Explode, exp.IntDiv),
)
_CALLS = (
    *(exp.Count, exp.Max, exp.Min, exp.Sum, exp.Avg, exp.ArrayAgg, exp.GroupConcat, exp.LogicalOr, exp.LogicalAnd, exp.RowNumber),
    *(exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Trim, exp.Left, exp.Right, exp.StrPosition, exp.SplitPart, exp.RegexpReplace),
    *(exp.Concat, exp.ConcatWs, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Abs, exp.Round, exp.Replace, exp.ArrayToString),
    *(exp.ArraySize, exp.GenerateSeries, exp.ExplodingGenerateSeries, exp.CurrentTimestamp, exp.CurrentDate, exp.Anonymous, exp.Format),
    *(exp.StringToArray, exp.CurrentSchemas, exp.ArrayAppend, exp.ArrayConcat),
)
_SESSION_NODES = tuple(
    found
    for name in (
        "CurrentUser",
        "SessionUser",
        "CurrentSchema",
        "CurrentDatabase",
        "CurrentCatalog",
        "CurrentVersion",
        "CurrentRole",
        "Version",
    )
    if isinstance(found := getattr(exp, name, None), type)
)
NODES: tuple[type[exp.Expr], ...] = tuple(dict.fromkeys((*_ROWS, *_VALUES, *_CALLS, *_SESSION_NODES)))

# functions and words that stand for something about the session: they become parameters of these names
SESSION = {
    **dict.fromkeys(("current_user", "session_user", "user", "current_role", "currentuser", "sessionuser", "currentrole"), "account"),
    **dict.fromkeys(("current_database", "current_catalog", "currentdatabase", "currentcatalog"), "dataset"),
    **dict.fromkeys(("current_schema", "currentschema"), "schema"),
    **dict.fromkeys(("version", "currentversion"), "version"),
    "pg_backend_pid": "process",
}
# functions that the parser has no class for, and what the empty database calls them
_SAME_NAMES = (
    *("strpos", "translate", "char_length", "unnest", "array_to_string", "now", "concat_ws", "bool_or", "bool_and", "generate_subscripts"),
    *("initcap", "btrim", "ltrim", "rtrim", "lpad", "rpad", "repeat", "starts_with", "cardinality", "array_length"),
)
FUNCTIONS = {
    **{name: name for name in _SAME_NAMES},
    "array_append": "list_append",
    "array_cat": "list_concat",
    "string_to_array": "string_split",
    "clock_timestamp": "now",
}
OPERATORS = {
    "~": (exp.RegexpLike, False),
    "!~": (exp.RegexpLike, True),
    "~*": (exp.RegexpILike, False),
    "!~*": (exp.RegexpILike, True),
    "=": (exp.EQ, False),
    "<>": (exp.NEQ, False),
    "~~": (exp.Like, False),
}
# types by their names in PostgreSQL, and what stands for them
TYPES = {
    **dict.fromkeys(("text", "name", "char", "varchar", '"char"', "bpchar", "cstring", "json", "jsonb", "regproc", "xid"), "varchar"),
    **dict.fromkeys(("regclass", "regtype", "regnamespace", "regrole", "regprocedure", "regoper", "regconfig"), "varchar"),
    **dict.fromkeys(("sql_identifier", "character_data", "yes_or_no", "cardinal_number"), "varchar"),
    **dict.fromkeys(("int2", "smallint"), "smallint"),
    **dict.fromkeys(("int4", "int", "integer"), "integer"),
    **dict.fromkeys(("int8", "bigint"), "bigint"),
    **dict.fromkeys(("float4", "float8", "float", "double", "real"), "double"),
    **dict.fromkeys(("numeric", "decimal"), "double"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("timestamp", "timestamptz"), "timestamp"),
    "oid": "uinteger",
    "date": "date",
}
# columns of pg_type that hold functions: numbers in PostgreSQL, names in the empty database
FUNCTION_COLUMNS = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze", "typsubscript")
