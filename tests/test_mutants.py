"""The faults that scripts/mutants draws: the same for a seed, each of them one line that parses."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT


@pytest.fixture
def mutation(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the script is made of."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from mutation import draw, mutant, operators, runs

    return SimpleNamespace(
        draw=draw.draw, Mutant=mutant.Mutant, plant=mutant.plant, read_listed=mutant.read_listed,
        Source=operators.Source, run_tests=runs.run_tests,
    )  # fmt: skip


def mutants_of(mutation: SimpleNamespace, body: str) -> list[str]:
    """The lines that edits of a function make of its body."""
    source = mutation.Source(f"def function():\n{indent(body, '    ')}\n")
    (name,) = [name for name in source.functions if name.startswith("function:")]
    edits = source.edits(name)
    for edit in edits:
        lines = [*source.lines]
        lines[edit.line - 1] = source.apply(edit)
        ast.parse("\n".join(lines))
    return [source.apply(edit).strip() for edit in edits]


#: A line, and what becomes of it.
EDITS = [
    ("a < b", {"a <= b"}),
    ("a <= b > c >= d", {"a < b > c >= d", "a <= b >= c >= d", "a <= b > c > d"}),
    ("(a) == (b)", {"(a) != (b)"}),
    ("a != b", {"a == b"}),
    ("a in b", {"a not in b"}),
    ("a not in b", {"a in b"}),
    ("a is None", {"a is not None"}),
    ("a is not  None", {"a is  None"}),
    ("é, a = 'é', b + c * d", {"é, a = 'é', b - c * d", "é, a = 'é', b + c / d"}),
    ("a // (b / c) % d", {"a / (b / c) % d", "a // (b * c) % d", "a // (b / c) // d"}),
    ("a | b & c ^ d", {"a & b & c ^ d", "a | b | c ^ d", "a | b & c | d"}),
    ("a = 'text' + b % c", {"a = 'text' + b // c"}),
    ("a += b", {"a -= b"}),
    ("a |= b", {"a &= b"}),
    ("a and b or c", {"a or b or c", "a and b and c"}),
    ("a = not b", {"a = b"}),
    ("a = not(b)", {"a = (b)"}),
    ("a = -b", {"a = +b"}),
    ("a = 7", {"a = 8"}),
    ("a = -0.5", {"a = +0.5", "a = -1.5"}),
    ("a = 1e300", set()),
    ("a = True", {"a = False"}),
    ("a = min(b.max())", {"a = max(b.max())", "a = min(b.min())"}),
    ("a = b if c else d", {"a = b if not (c) else d"}),
    ("a = [b for b in c if d]", {"a = [b for b in c if not (d)]"}),
    ("call(a)", {"pass"}),
    ("return a", {"return None"}),
    ("return None", set()),
    ("return", set()),
    ("while a: break", {"while not (a): break", "while a: continue"}),
    ("for a in b: continue", {"for a in b: break"}),
    ("if a == b: c = d", {"if a != b: c = d"}),
    ("if not a: b = c", {"if a: b = c"}),
    ("if (a := b): c = d", {"if (not (a := b)): c = d"}),
]


@pytest.mark.parametrize(("line", "expected"), EDITS)
def test_a_line_has_these_mutants(mutation: SimpleNamespace, line: str, expected: set[str]) -> None:
    assert sorted(mutants_of(mutation, line)) == sorted(expected)


LEFT_OUT = [
    '"""A docstring: 1 < 2."""',
    "a: Annotated[int, 7 < 8] = b",
    'raise ValueError(f"{a < b} {1 + 1}")',
    "assert a < b",
    "a = f'{b < 1}'",
    "assert_never(a)",
    "logging.info(a)",
    "if TYPE_CHECKING: a = 1",
    "@decorate(7 < 8)\ndef inner(a: int = 7): pass",
    "a = lambda b=7: b",
]


@pytest.mark.parametrize("line", LEFT_OUT)
def test_some_parts_are_never_edited(mutation: SimpleNamespace, line: str) -> None:
    assert not mutants_of(mutation, line)


def test_only_functions_are_edited_and_none_that_is_for_people(mutation: SimpleNamespace) -> None:
    source = mutation.Source(
        "from __future__ import annotations\nA = 1\nclass B:\n    a = 1\n"
        "    def __repr__(self): return 1\n"
        "    def b(self):\n        def c(): return 2\n        return c\n"
    )
    assert [*source.functions] == ["B.b:6", "B.b.c:7"]
    assert [source.apply(edit) for edit in source.edits("B.b:6")] == ["        return None"]


def test_an_operator_on_a_line_of_its_own_is_found_beside_comments(
    mutation: SimpleNamespace,
) -> None:
    made = mutants_of(mutation, "a = (\n    b  # or this < that\n    and c\n)")
    assert made == ["or c"]


def test_the_same_seed_draws_the_same_and_more_draws_begin_with_them(
    mutation: SimpleNamespace,
) -> None:
    drawn = mutation.draw(ROOT, 12, 7, ["certify", "verify"])
    assert drawn == mutation.draw(ROOT, 12, 7, ["verify", "certify"])
    assert drawn == mutation.draw(ROOT, 15, 7, ["certify", "verify"])[:12]
    assert drawn != mutation.draw(ROOT, 12, 8, ["certify", "verify"])
    assert {mutant.package for mutant in drawn} == {"certify", "verify"}


def test_a_drawn_mutant_changes_one_line_of_code_and_parses(mutation: SimpleNamespace) -> None:
    drawn = mutation.draw(ROOT, 25, 3, ["certify", "studio"])
    assert len({(mutant.file, mutant.line, mutant.new) for mutant in drawn}) == 25
    for mutant in drawn:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        changed = mutant.apply(text)
        pairs = zip(text.split("\n"), changed.split("\n"), strict=True)
        differ = [number for number, (old, new) in enumerate(pairs, start=1) if old != new]
        assert differ == [mutant.line]
        assert docstrings(text) == docstrings(changed)


def docstrings(text: str) -> list[str | None]:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [ast.get_docstring(n) for n in ast.walk(ast.parse(text)) if isinstance(n, documented)]


def test_few_edits_are_drawn_until_none_is_left(mutation: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "fabkit" / "mesh").mkdir(parents=True)
    (tmp_path / "fabkit" / "mesh" / "a.py").write_text(
        "def f():\n    return a < 1\n\ndef g(): ...\n\nclass C:\n    def f(self):\n        g()\n"
    )
    drawn = mutation.draw(tmp_path, 100, 1, ["mesh"])
    assert sorted((mutant.line, mutant.new.strip(), mutant.what) for mutant in drawn) == [
        (2, "return None", "mesh: return a < 1 becomes return None, in f"),
        (2, "return a < 2", "mesh: 1 becomes 2, in f"),
        (2, "return a <= 1", "mesh: < becomes <=, in f"),
        (8, "pass", "mesh: g() becomes pass, in C.f"),
    ]


def test_planting_changes_the_file_and_removes_what_was_compiled(
    mutation: SimpleNamespace, tmp_path: Path
) -> None:
    folder = tmp_path / "fabkit" / "mesh"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "a.py").write_text("x < y\n@kernel_helper\nx < y\n")
    names = ["a.cpython-311.pyc", "a.f-1.py311.nbi", "b.cpython-311.pyc", "b.f-1.py311.1.nbc"]
    for name in names:
        (folder / "__pycache__" / name).touch()
    mutation.plant(tmp_path, mutation.Mutant("fabkit/mesh/a.py", 3, "x < y", "x <= y", "bound"))
    assert (folder / "a.py").read_text() == "x < y\n@kernel_helper\nx <= y\n"
    assert [path.name for path in (folder / "__pycache__").iterdir()] == ["b.cpython-311.pyc"]


def test_the_listed_faults_are_in_the_code(mutation: SimpleNamespace) -> None:
    listed = mutation.read_listed(ROOT / "scripts" / "mutants.toml", ROOT)
    for mutant in listed:
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert mutant.apply(text) == text.replace(mutant.old, mutant.new)
        if mutant.file.endswith(".py"):
            ast.parse(mutant.apply(text))


TESTS = """
import os, pytest
def test_a(): pass
@pytest.mark.parametrize("text", ["b - c", "d"])
def test_b(text): assert text != "d"
def test_c(): os._exit(0)
def test_d():
    while True: pass
"""


@pytest.mark.integration
def test_a_run_has_the_chosen_tests_and_names_the_one_that_catches(
    mutation: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    a, b, c = "test_it.py::test_a", "test_it.py::test_b[b - c]", "test_it.py::test_c"
    failing = "test_it.py::test_b[d]"
    run = mutation.run_tests(tmp_path, only=[a, b, failing])
    assert ([*run.seconds], run.failed, run.catches) == ([a, b, failing], (failing,), failing)
    assert mutation.run_tests(tmp_path, only=[a, b, failing], without=[failing]).catches == ""
    assert mutation.run_tests(tmp_path, only=["test_it.py::test_gone"]).catches == ""
    assert mutation.run_tests(tmp_path, only=[c]).catches == f"{c} (hangs, or ends the run)"
    monkeypatch.setattr("mutation.runs.LIMIT_S", 1.0)
    hangs = "test_it.py::test_d"
    assert mutation.run_tests(tmp_path, only=[hangs]).catches == f"{hangs} (hangs, or ends the run)"
    (tmp_path / "test_it.py").write_text("import gone")
    assert mutation.run_tests(tmp_path).catches == "test_it.py"
