"""The wrong changes: small edits of a syntax tree, as mutmut and cosmic-ray make them, one at a time.

Left alone: docstrings, annotations, decorators, imports, blocks for type checkers, what `raise` says, the literal parts of
f-strings, and strings with a blank in them (wording is held by the golden playthroughs, not here).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

ORDERINGS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Div,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
TWINS = (
    ("min", "max"),
    ("any", "all"),
    ("lower", "upper"),
    ("lstrip", "rstrip"),
    ("startswith", "endswith"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("find", "rfind"),
    ("removeprefix", "removesuffix"),
    ("search", "match"),
    ("fullmatch", "match"),
    ("floor", "ceil"),
)
TWIN = {name: other for first, second in TWINS for name, other in ((second, first), (first, second))}
UNTOUCHED = (ast.Import, ast.ImportFrom, ast.Raise, ast.JoinedStr, ast.Global, ast.Nonlocal)
LEFT_ALONE = ("annotation", "returns", "decorator_list", "bases", "ctx", "pattern")
"""Fields that are left alone: types, decorators, and patterns of `match`."""
A_TYPE = re.compile(r"(Literal|Callable|Annotated|Mapping|Sequence|Union|dict|list|tuple|set|frozenset)\[|\w*TypeVar\(")
NONE = ast.Constant(None)


@dataclass(frozen=True)
class Edit:
    """One field (or element of a list field) of one node of a tree that gets another value."""

    kind: str
    node: ast.AST
    field: str
    index: int | None
    value: object
    within: tuple[ast.AST, ...]
    """The nodes around, outermost first, the node itself last."""

    def apply(self) -> None:
        if self.index is None:
            setattr(self.node, self.field, self.value)
        else:
            getattr(self.node, self.field)[self.index] = self.value

    @property
    def statement(self) -> ast.stmt:
        """The smallest statement around the change; of a statement with a body, its head is what changes."""
        return next(node for node in reversed(self.within) if isinstance(node, ast.stmt))


def _fields(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, i, part) for i, part in enumerate(value) if isinstance(part, ast.AST))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _wrong_constant(value: object) -> object:
    """The wrong constant in place of this one; the same where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and re.search(r"\w", value) and " " not in value:
        return f"XX{value}XX"
    return value


def _negated(test: ast.expr) -> ast.expr | None:
    """The other condition, unless the operators of this one are changed anyway."""
    if isinstance(test, ast.Compare | ast.BoolOp) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        return None
    return ast.UnaryOp(ast.Not(), test)


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Other nodes in place of this one."""
    match node:
        case ast.Constant(value) if _wrong_constant(value) != value:
            yield "constant", ast.Constant(_wrong_constant(value))
        case ast.BinOp(left, op, right) if not (_is_text(left) or _is_text(right)):
            yield "arithmetic", ast.BinOp(left, ARITHMETIC.get(type(op), type(op))(), right)
        case ast.BoolOp(op, values):
            yield "boolean", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand) | ast.UnaryOp(ast.USub(), operand):
            yield "sign", operand
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                changed = [*ops[:i], ORDERINGS[type(op)](), *ops[i + 1 :]]
                yield "comparison", ast.Compare(left, changed, comparators)
        case ast.Call(func, args, keywords):
            yield from _calls(node, func, args, keywords)
        case ast.Lambda(args, body) if not _is_none(body):
            yield "return", ast.Lambda(args, NONE)
        case ast.Break():
            yield "jump", ast.Continue()
        case ast.Continue():
            yield "jump", ast.Break()
        case ast.Expr(ast.Call() | ast.Await() | ast.Yield()):
            yield "statement", ast.Pass()
        case ast.AugAssign(target, op, value):
            yield "arithmetic", ast.AugAssign(target, ARITHMETIC.get(type(op), type(op))(), value)


def _is_none(node: ast.AST | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _calls(
    node: ast.Call, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]
) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(func, ast.Name) and func.id in TWIN:
        yield "twin", ast.Call(ast.Name(TWIN[func.id], ast.Load()), args, keywords)
    if isinstance(func, ast.Attribute) and func.attr in TWIN:
        yield "twin", ast.Call(ast.Attribute(func.value, TWIN[func.attr], ast.Load()), args, keywords)
    starred = any(isinstance(part, ast.Starred) for part in args)
    if len(args) == 2 and not starred:
        yield "argument", ast.Call(func, args[::-1], keywords)
    for i, part in enumerate(args):
        if not isinstance(part, ast.Starred) and not _is_none(part):
            yield "argument", ast.Call(func, [*args[:i], NONE, *args[i + 1 :]], keywords)
    for i, word in enumerate(keywords):
        if word.arg is not None:
            yield "argument", ast.Call(func, args, [*keywords[:i], *keywords[i + 1 :]])


def _own_fields(node: ast.AST) -> Iterator[tuple[str, str, int | None, object]]:
    """Other values of fields of this node."""
    match node:
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            if (other := _negated(test)) is not None:
                yield "condition", "test", None, other
        case ast.comprehension(ifs=ifs):
            for i, test in enumerate(ifs):
                if (other := _negated(test)) is not None:
                    yield "condition", "ifs", i, other
                yield "condition", "ifs", i, ast.Constant(True)
        case ast.Return(value) if not _is_none(value):
            yield "return", "value", None, NONE
        case ast.Assign(targets=[ast.Name()], value=value) if not _is_none(value):
            yield "assignment", "value", None, NONE
        case ast.Slice(lower, upper):
            for name, bound in (("lower", lower), ("upper", upper)):
                if bound is not None:
                    yield "slice", name, None, None


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_alias(node: ast.AST) -> bool:
    """A name for a type, or the list of names that a module offers."""
    if isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return "__all__" in names or bool(A_TYPE.match(ast.unparse(node.value)))
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)


def edits(tree: ast.Module) -> list[Edit]:
    """Every wrong change of a module, in the order of its text."""
    return list(_edits(tree, (tree,)))


def _edits(node: ast.AST, within: tuple[ast.AST, ...]) -> Iterator[Edit]:
    for kind, field, index, value in _own_fields(node):
        yield Edit(kind, node, field, index, value, within)
    for field, index, child in _fields(node):
        if _left_alone(node, field, child):
            continue
        inside = (*within, child)
        for kind, new in _replacements(child):
            yield Edit(kind, node, field, index, ast.copy_location(new, child), inside)
        yield from _edits(child, inside)


def _left_alone(node: ast.AST, field: str, child: ast.AST) -> bool:
    if field in LEFT_ALONE or isinstance(child, UNTOUCHED) or (isinstance(node, ast.ClassDef) and field == "keywords"):
        return True
    return _for_type_checkers(child) or _is_docstring(child) or _is_alias(child)
