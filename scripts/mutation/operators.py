"""The edits that turn a function into a mutant: one of the known faults at one place.

They are those of mutmut and Cosmic Ray, of which each place gets one. Every edit keeps to one line.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

#: What replaces an operator; words are tokens joined by spaces.
_COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"), ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"), ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}  # fmt: skip
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
#: Comparisons of which the replacement is the negation: negating the condition is the same fault.
_EXACT = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
#: Nodes without edits: messages, assertions, and parts of f-strings, which have no position of
#: their own before Python 3.12.
_LEFT_OUT = ast.Raise | ast.Assert | ast.JoinedStr
#: Calls that do nothing in a run without faults, or nothing that a test looks for.
_WITHOUT_EFFECT = re.compile(r"(assert_never|(logging|log|logger|_log|_logger)\.\w+)\(")
#: A place in a file: line, from 1, and character, from 0.
_Position = tuple[int, int]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Edit:
    """Some characters of one line, and what replaces them."""

    line: int
    begin: int
    end: int
    new: str


class Source:
    """The text of a file, with its functions and tokens."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.functions = dict(_functions(ast.parse(text), ""))
        self._encoded = [line.encode() for line in self.lines]
        self._tokens: list[tokenize.TokenInfo] = []

    @property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens, which only the files need of which a function is drawn."""
        if not self._tokens:
            lines = io.StringIO("\n".join(self.lines))
            self._tokens = list(tokenize.generate_tokens(lines.readline))
        return self._tokens

    def _token_at(self, position: _Position) -> int:
        """Return the index of the first token that begins there or later."""
        return bisect_left(self.tokens, position, key=lambda token: token.start)

    def begin(self, node: ast.expr | ast.stmt) -> _Position:
        """Return where a node begins; Python itself counts bytes."""
        return node.lineno, self._character(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> _Position:
        """Return where a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return node.end_lineno, self._character(node.end_lineno, node.end_col_offset)

    def _character(self, line: int, byte: int) -> int:
        return len(self._encoded[line - 1][:byte].decode())

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node, or of its first line."""
        (line, begin), (last, end) = self.begin(node), self.end(node)
        return self.lines[line - 1][begin : end if line == last else None]

    def edits(self, name: str) -> list[Edit]:
        """Return the edits of a function, each once, without those of the functions in it."""
        edits: set[Edit] = set()
        for statement in self.functions[name].body:
            for node in _nodes(statement):
                edits.update(self._edits_of(node))
        return sorted(edits)

    def apply(self, edit: Edit) -> str:
        """Return the line with the edit made."""
        line = self.lines[edit.line - 1]
        return line[: edit.begin] + edit.new + line[edit.end :]

    # --- edits of a node ------------------------------------------------------------------------

    def _edits_of(self, node: ast.AST) -> Iterator[Edit]:
        yield from self._of_operators(node)
        yield from self._of_values(node)
        yield from self._of_statements(node)
        for condition in _conditions(node):
            if not _negation_is_another_edit(condition):
                yield from self._whole(condition, f"not ({self.text(condition)})")

    def _of_operators(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                for operator, (one, other) in zip(
                    operators, pairwise([left, *others]), strict=True
                ):
                    yield from self._between(one, other, *_COMPARISONS[type(operator)])
            case ast.BoolOp(op=connective, values=values):
                words = ("and", "or") if isinstance(connective, ast.And) else ("or", "and")
                for one, other in pairwise(values):
                    yield from self._between(one, other, *words)
            case ast.BinOp(left=left, op=sign, right=right):
                if type(sign) in _ARITHMETIC and not _is_text(left) and not _is_text(right):
                    yield from self._between(left, right, *_ARITHMETIC[type(sign)])
            case ast.AugAssign(target=target, op=sign, value=value):
                if type(sign) in _ARITHMETIC and not _is_text(value):
                    old, new = _ARITHMETIC[type(sign)]
                    yield from self._between(target, value, f"{old}=", f"{new}=")

    def _of_values(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.UnaryOp(op=ast.USub()):
                line, begin = self.begin(node)
                yield Edit(line, begin, begin + 1, "+")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                line, begin = self.begin(node)
                if operand.lineno == line:
                    end = begin + len("not")
                    yield Edit(line, begin, end + (self.lines[line - 1][end] == " "), "")
            case ast.Constant(value=bool() as value):
                yield from self._whole(node, repr(not value))
            case ast.Constant(value=int() | float() as number):
                if number + 1 != number:
                    yield from self._whole(node, repr(number + 1))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as function):
                if name in _FUNCTIONS:
                    line, end = self.end(function)
                    yield Edit(line, end - len(name), end, _FUNCTIONS[name])

    def _of_statements(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Return(value=ast.expr() as value):
                if self.text(value) != "None":
                    yield from self._whole(node, "return None")
            case ast.Expr(value=ast.Call() | ast.Await()):
                if not _WITHOUT_EFFECT.match(self.text(node)):
                    yield from self._whole(node, "pass")
            case ast.Continue():
                yield from self._whole(node, "break")
            case ast.Break():
                yield from self._whole(node, "continue")

    def _whole(self, node: ast.expr | ast.stmt, new: str) -> Iterator[Edit]:
        """Replace a node that has a line of its own."""
        (line, begin), (last, end) = self.begin(node), self.end(node)
        if line == last:
            yield Edit(line, begin, end, new)

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Edit]:
        """Replace the operator between two operands, beside brackets and comments."""
        first, stop = self._token_at(self.end(left)), self._token_at(self.begin(right))
        between = self.tokens[first:stop]
        words = old.split()
        for number in range(len(between)):
            tokens = between[number : number + len(words)]
            if [token.string for token in tokens] == words:
                (line, begin), (last, end) = tokens[0].start, tokens[-1].end
                if line == last:
                    yield Edit(line, begin, end, new)
                return


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    """Yield the functions and methods by qualified name, also those inside of others."""
    for child in ast.iter_child_nodes(node):
        if _is_for_types_only(child):
            continue
        name = prefix
        if isinstance(child, ast.ClassDef):
            name = f"{prefix}{child.name}."
        elif isinstance(child, _Function):
            name = f"{prefix}{child.name}."
            if child.name != "__repr__":
                # Property and setter have one name; the line tells them apart.
                yield f"{prefix}{child.name}:{child.lineno}", child
        yield from _functions(child, name)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, without what is never edited."""
    if isinstance(node, _LEFT_OUT | _Function | ast.ClassDef):
        return
    if _is_for_types_only(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation" or isinstance(value, ast.arguments):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _nodes(child)


def _is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _is_text(node: ast.expr) -> bool:
    """Whether other arithmetic would fail at once, since this is a text."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _conditions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.comprehension(ifs=conditions):
            return conditions
        case ast.match_case(guard=ast.expr() as guard):
            return [guard]
    return []


def _negation_is_another_edit(condition: ast.expr) -> bool:
    match condition:
        case ast.UnaryOp(op=ast.Not()) | ast.Constant():
            return True
        case ast.Compare(ops=[operator]):
            return isinstance(operator, _EXACT)
    return False
