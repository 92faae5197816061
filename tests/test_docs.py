"""What README and documentation say exists and works: commands, options, files, numbers, examples.

Every command in a block runs, page by page and in order, in one folder per page with the page's own
TOML files: the README's quick ones by default, all of them with --integration.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.cli.main import parser
from fabkit.core.errors import install_hint
from fabkit.output.theme import DARK, FAMILY, LIGHT
from fabkit.profiles.profile import SETTINGS
from fabkit.profiles.profile_file import load_profile, preset_names
from fabkit.sets.catalog import catalog_records
from fabkit.sets.library import load_set, shipped_names
from fabkit.solve.engines import ENGINES
from scripts.docs_site import build_site
from tests.conftest import ROOT
from tests.support import browser
from tests.support.docpages import EVERYTHING, PAGES, README, WRITTEN, Command, DocPage


def names_in(table: str) -> list[str]:
    """What is in backticks in the first column."""
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall("`([^`]+)`", row)]


#: Every command that there is, with its options.
OPTIONS = {
    name: {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for name, command in parser().commands.items()
}
#: The options of the program itself.
PROGRAM_OPTIONS = {option for one in parser().params for option in one.opts}
#: Results that one command counts: what a table says, and the command.
COUNTED = sorted(
    set(
        re.findall(
            r"^\|[^|]*\| ([^|]*) \| `(fabkit solve \S+(?: \S+)? --count)`", EVERYTHING, re.MULTILINE
        )
    )
)
#: Commands of which each takes a second or two, unless they read what others write.
QUICK = ("sets", "show", "profiles", "solve", "certify", "bom", "export-svg")
#: The keys of JSON documents, by the command whose block is before their table.
DOCUMENTED = {
    command: names_in(rows)
    for command, rows in re.findall(
        r"```sh\n(fabkit .*? --json).*\n```\n\n((?:\|.*\n)+)",
        DocPage("docs/reference/json.md").text,
    )
}
#: What files of a set's output folder are called.
FILE_NAMES = "|".join(
    re.sub("ID|RUN", r"[\\w-]+", re.escape(name)).replace("SET", r"[\w-]+").replace("N", r"\d+")
    for name in names_in(DocPage("docs/reference/files.md").text.partition("Three folders")[0])
    if "." in name
)
RUNNABLE = [page for page in WRITTEN if page.commands]
#: The page that proves which snowflakes there are.
SLOW = "docs/tutorials/snowflakes.md"


def is_quick(one: Command) -> bool:
    return one.words[1] in QUICK and not re.search("output/|proofs/", one.line)


def run_steps(
    page: DocPage, folder: Path, capsys: pytest.CaptureFixture[str], commands: list[Command]
) -> str:
    """Some commands of a page, one after the other in a folder, since some read what others wrote.

    Returns what the last one printed.
    """
    output = ""
    for step in page.steps:
        if isinstance(step, tuple):
            (folder / step[0]).write_text(step[1])
        elif step in commands:
            expected = 1 if "exit code 1" in step.comment else 0
            line, _, into = step.line.partition(" > ")
            capsys.readouterr()
            code = main(shlex.split(line)[1:])
            output, err = capsys.readouterr()
            assert code == expected, (step.line, err)
            shown = page.outputs.get(step, "").splitlines()
            assert [text for text in shown if text not in output + err] == [], step.line
            if into:
                (folder / into).write_text(output)
            if keys := DOCUMENTED.get(step.line):
                assert json.loads(output).keys() == {"schema", *keys}, step.line
    return output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)  # the studio ends at once
    return tmp_path


def test_a_page_that_shows_another_output_is_noticed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = DocPage("docs/how-to/cards-and-challenges.md")
    ((command, shown),) = page.outputs.items()
    run_steps(page, folder, capsys, [command])
    monkeypatch.setitem(page.outputs, command, shown.replace("exactly one", "two"))
    with pytest.raises(AssertionError, match="two solution"):
        run_steps(page, folder, capsys, [command])


@pytest.mark.integration
def test_quick_commands_run_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = [one for one in README.commands if is_quick(one)]
    assert len(quick) > 3
    run_steps(README, folder, capsys, quick)


@pytest.mark.every(3)
@pytest.mark.integration
@pytest.mark.usefixtures("docs")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.long] * (page.name == SLOW))
        for page in RUNNABLE
    ],
)
def test_commands_run_in_order(
    page: DocPage, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_steps(page, folder, capsys, page.commands)
    for output in (one.parent for one in (folder / "output").glob("*/manifest.json")):
        names = [path.relative_to(output).as_posix() for path in output.rglob("*.*")]
        if output.name not in ("coupon", "site"):
            unknown = [one for one in names if not re.fullmatch(rf"{FILE_NAMES}|page/.*", one)]
            assert [one for one in unknown if (output / one).is_file() and ".lock" not in one] == []


def test_default_values_in_prose_are_those_of_the_profile() -> None:
    """Written as (`key`, 1.5 mm)."""
    profile, found = load_profile(), 0
    keys = {setting.key: setting for setting in SETTINGS}
    for page in PAGES:
        for key, value_mm in re.findall(r"\(`([a-z_.]+)`, ([\d.]+) mm\)", page.text):
            assert getattr(profile, keys[key].attribute) == float(value_mm), (page.name, key)
            found += 1
    assert found


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `scripts/docs` and the wheel build it."""
    folder = tmp_path_factory.mktemp("site")
    assert build_site(ROOT, folder) == []
    return folder


@pytest.fixture
def docs(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site, where `fabkit docs` finds it."""
    monkeypatch.setattr("fabkit.build.docs.docs_folder", lambda: site)
    return site


def test_the_site_fetches_nothing_is_opened_and_copied(
    folder: Path, docs: Path, run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    pages = [*docs.rglob("*.html")]
    assert len(pages) == len({page.name for page in PAGES} - {"README.md"} | {"CHANGELOG.md"})
    for one in pages:
        used = re.findall(
            r"<(?:link|script|img|iframe)[^>]*?(?:href|src)=\"?(\S+)", one.read_text("utf-8")
        )
        assert used
        assert not [address for address in used if "//" in address], one
    assert run_json("docs") == {"schema": 1, "page": str(docs / "index.html")}
    assert opened == []
    assert main(["docs"]) == 0
    assert opened == [(docs / "index.html").as_uri()]
    first = run_json("docs", "-o", "copy")
    page = folder / first["page"]
    assert (
        first["written"] == len(first["files"]) == sum(path.is_file() for path in docs.rglob("*"))
    )
    assert run_json("docs", "-o", "copy")["written"] == 0
    text = page.read_text("utf-8")
    page.write_text("mine")
    assert main(["docs", "-o", "copy"]) == 2
    assert main(["docs", "-o", "copy", "--force", "--no-open"]) == 0
    assert page.read_text("utf-8") == text == (docs / "index.html").read_text("utf-8")
    (folder / "mine.txt").write_text("")
    assert run_json("docs", "-o", ".")["page"] == "docs/index.html"
    assert len(opened) == 1


@browser.needed
def test_the_search_works_from_the_disk(docs: Path) -> None:
    """Also without a network: a page that asks for one, or complains, fails the test."""
    from playwright.sync_api import TimeoutError

    url = (docs / "index.html").as_uri()
    with browser.started() as chromium, browser.opened(chromium, url) as page:
        query = page.locator("input[name=query]")
        for text, address in (
            ("self-intersection", "reference/rules.html"),
            ("tangram", "how-to/which-puzzles.html"),
        ):
            result = page.locator(f".md-search-result a[href*='{address}']").first
            for _ in range(60):  # what is typed before the index has been read is not heard
                query.fill("")
                query.press_sequentially(text)
                with suppress(TimeoutError):
                    result.wait_for(timeout=1000)
                    break
            assert result.is_visible()


def test_the_search_knows_every_shipped_set(docs: Path) -> None:
    """By name and by title, on a page about puzzles."""
    index = (docs / "search/search_index.js").read_text("utf-8")
    pages = json.loads(index[index.index("{") : index.rindex("}") + 1])["docs"]
    text = " ".join(page["text"] for page in pages if page["location"].startswith("reference/sets"))
    missing = [
        name
        for name in shipped_names()
        if not re.search(rf"\b{name}\b", text) or load_set(name).title not in text
    ]
    assert missing == []


def test_the_site_has_the_colours_and_the_type_of_fabkit(docs: Path) -> None:
    style = (docs / "assets/extra.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+)", block))
        for block in re.findall(r"\[data-md-color-scheme[^{]*\{([^}]*)\}", style)
    )
    sheet = (ROOT / "fabkit/output/web/static/fabkit.css").read_text("utf-8")
    accents = re.findall(r"--((?:on-)?accent): light-dark\((#\w+), (#\w+)\)", sheet)
    for place, (colours, theme) in enumerate(((light, LIGHT), (dark, DARK))):
        wanted = {
            role: getattr(theme, role) for role in ("paper", "ink", "quiet", "ground", "socket")
        }
        assert colours == wanted | {name: values[place] for name, *values in accents}
    assert f'--md-text-font: "{FAMILY}"' in style
    for name in re.findall(r"url\((.*?)\)", style):
        assert (docs / "assets" / name).is_file()


@pytest.mark.integration
def test_every_fault_of_the_pages_is_an_error(folder: Path) -> None:
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copytree(ROOT / "output/gallery", folder / "output/gallery")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    source = folder / "docs"
    links = "[a](nowhere.md) [b](reference/rules.md#no) ![c](../output/gallery/no.png)"
    (source / "index.md").write_text(f"# fabkit\n{links}\n")
    (source / "alone.md").write_text("# Alone")
    config = source / "site/mkdocs.yml"
    config.write_text(config.read_text().replace("\nnav:\n", "\nnav:\n  - gone.md\n"))
    faults = "\n".join(build_site(folder, folder / "site"))
    for fault in (
        "'nowhere.md', but the target is not found",
        "does not contain an anchor '#no'",
        "'gallery/no.png', but the target is not found",
        "alone.md",
        "A reference to 'gone.md' is included in the 'nav'",
    ):
        assert fault in faults
    assert not (folder / "site").exists()


def test_a_site_that_is_not_there_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fabkit.build.docs.__file__", str(tmp_path / "fabkit/build/docs.py"))
    assert main(["docs"]) == 3
    (tmp_path / "docs").mkdir()
    assert main(["docs"]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "fabkit: the documentation is missing; reinstall fabkit",
        "fabkit: the documentation is not built; build it with scripts/docs",
    ]


# --- the pages themselves -------------------------------------------------------------------------


def test_reference_pages_are_what_the_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change: scripts/docs."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    made = import_module("reference").pages()
    del sys.modules["reference"]
    for name, text in made.items():
        assert text == (ROOT / "docs/reference" / name).read_text("utf-8"), name
    assert {f"docs/reference/{name}" for name in made} == {
        page.name for page in PAGES if page not in WRITTEN
    }


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)", page.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"[\s-]+", "-", title) for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_exist(page: DocPage) -> None:
    """In the checkout, where pages are read, too; the site is tested by its build."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.prose):
        path, _, anchor = target.partition("#")
        if not re.match(r"\w+:", path):
            found = page.path.parent / path if path else page.path
            assert found.exists(), target
            assert not anchor or anchor in slugs(found), target


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_pages_look_the_same_in_the_site_and_in_a_repository(page: DocPage) -> None:
    """MkDocs wants four spaces below a list's item, and a blank line before a list or table."""
    assert re.findall(r"^ {1,3}(?:```|[-*] |\d+\. ).*", page.text, re.MULTILINE) == []
    assert re.findall(r"^[^\s|-].*\n(?:\||- ).*", page.prose, re.MULTILINE) == []


# --- what they name -------------------------------------------------------------------------------


def test_every_command_and_option_exists() -> None:
    """Commands named outside blocks: `fabkit COMMAND …` with their options."""
    assert [name for name in OPTIONS if not re.search(rf"\b{name}\b", EVERYTHING)] == []
    all_options = {option for options in OPTIONS.values() for option in options}
    for page in PAGES:
        for quoted in re.findall(r"`([^`\n]+)`", page.prose):
            words = quoted.split()
            options = [word.split("=")[0] for word in words if re.match("--?[a-z]", word)]
            if words[0] == "fabkit" and words[1:]:
                assert words[1] in {*OPTIONS, *PROGRAM_OPTIONS, "COMMAND", "--help"}, (
                    page.name,
                    quoted,
                )
                known = OPTIONS.get(words[1], PROGRAM_OPTIONS) | {"--help", "-h"}
                assert set(options) <= known, (page.name, quoted)
            elif quoted.startswith("-") and page.name != "CONTRIBUTING.md":  # which is on pytest
                known = {*all_options, *PROGRAM_OPTIONS, "--help", "-h", "--long", "--integration"}
                assert set(options) <= known, (page.name, quoted)


def test_every_engine_is_described() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", EVERYTHING, re.MULTILINE)
    assert set(ENGINES) <= {name for row in rows for name in re.findall("`([^`]+)`", row)}


def test_extras_are_installed_as_the_texts_say() -> None:
    """From a clone, by names that there are: no index holds fabkit."""
    there = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    sources = "".join(path.read_text() for path in (ROOT / "fabkit").rglob("*.py"))
    named = set(re.findall(r"install_hint\([\"'](\w+)", sources))
    assert named == {"engines", "cluster", "studio"} < there - {"nest"} < there
    for text in (EVERYTHING, sources):
        assert "fabkit-puzzles[" not in text
        for extras in re.findall(r"'\.\[([\w,]+)\]'", text):
            assert set(extras.split(",")) <= there
    commands = set(re.findall(r"`([\w./]*pip install [^`]*?)'\.\[[\w,]+\]'`", EVERYTHING))
    assert commands == {"pip install ", ".venv/bin/pip install -e "}
    assert install_hint("nest").endswith(
        ("pip install '.[nest]'", ".venv/bin/pip install -e '.[nest]'")
    )


def test_files_that_are_named_exist() -> None:
    scripts = set(re.findall(r"(?<![\w/])((?:scripts|\.ci)/[a-z_-]+(?:\.py)?)", EVERYTHING))
    assert {"scripts/fabkit", "scripts/test"} <= scripts
    paths = set(re.findall(r"`((?:fabkit|pieces|tests|docs)/[\w./-]+)`", EVERYTHING))
    assert [
        name
        for name in sorted(scripts | paths)
        if not (ROOT / name).exists() and not re.search("[A-Z]{3}", name)
    ] == []


def test_the_first_screen_has_what_it_must() -> None:
    first = "\n".join(README.text.splitlines()[:45])
    for text in (
        "scripts/fabkit export-stl fridgeiq",
        "scripts/test",
        "output/gallery/snowflake.png",
        "dangerous when swallowed",
        "No print has been made by this project",
        "print the coupon first",
        "output/fridgeiq/stl",
    ):
        assert text in first, text


# --- numbers and examples -------------------------------------------------------------------------


def test_the_counts_in_comments_are_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked = 0
    for page in WRITTEN:
        counts = [one for one in page.commands if "--count" in one.words and "solve" in one.words]
        for one in counts:
            if re.search(r"\d+ solutions", one.comment):
                assert one.comment in run_steps(page, folder, capsys, [one])
                checked += 1
    assert checked


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: shlex.split(row[1])[2])
def test_the_results_are_right(
    row: tuple[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, command = row
    for page in WRITTEN:
        run_steps(page, folder, capsys, [])
    assert main(shlex.split(command)[1:]) == 0
    number = re.findall(r"[\d,]+", found)[0]
    assert f": {number} solutions" in capsys.readouterr().out


def test_the_numbers_in_the_text_are_right() -> None:
    fridgeiq = load_set("fridgeiq")
    assert len(fridgeiq.challenges) == 41
    assert "41 box challenges" in EVERYTHING
    assert "21 magnets of 10 x 3 mm" in EVERYTHING
    assert len(COUNTED) >= 5
    entries = catalog_records(fridgeiq, "snowflake")
    turned = sum(not entry["flips"] for entry in entries)
    assert f"| {turned}, and no other on the infinite plane" in EVERYTHING
    assert f"| {len(entries)}, and no other |" in EVERYTHING


@pytest.mark.parametrize(
    "text",
    [
        text
        for page in WRITTEN
        for kind, text in page.blocks
        if kind == "python" and "fabkit.notebook" in text
    ],
)
def test_every_notebook_shows_something(text: str) -> None:
    """Each line that is an expression shows itself, as the last line of a cell would."""
    names: dict[str, object] = {}
    shown = 0
    for line in ast.parse(text).body:
        if isinstance(line, ast.Expr):
            value = eval(compile(ast.Expression(line.value), "docs", "eval"), names)
            assert value._repr_svg_().startswith("<svg")
            shown += 1
        else:
            exec(compile(ast.Module([line], []), "docs", "exec"), names)
    assert shown


@pytest.mark.parametrize("name", preset_names())
def test_tables_of_profiles_are_right(name: str) -> None:
    profile = load_profile([name])
    magnet = f"{profile.magnet_diameter_mm:g} x {profile.magnet_height_mm:g} mm"
    rows = [
        line
        for page in PAGES
        for line in page.text.splitlines()
        if line.startswith(f"| `{name}` |") and " mm |" in line
    ]
    assert rows
    for row in rows:
        for text in (f"{profile.unit_mm:g} mm", f"{profile.thickness_mm:g} mm", magnet):
            assert text in row


def test_every_set_is_described() -> None:
    assert [one for one in shipped_names() if f"| `{one}` |" not in EVERYTHING] == []
