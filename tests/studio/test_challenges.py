"""Challenges in the studio: generated, chosen into the set file, played on the set's page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.core.parsing import parse_toml
from fabkit.model.entry import LEVELS
from fabkit.puzzles.entries import gather
from fabkit.sets.library import shipped_folder
from fabkit.studio import playing
from fabkit.studio.project import Project, call_checked
from tests.output.test_play_accessibility import violations
from tests.support import browser
from tests.support.studios import RunningStudio, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

COUNT = 5
#: The machine may be busy with other things.
TIMEOUT_MS = 120_000
#: Solves the challenge that is open on a play page, as a player does, except for the pointer.
SOLVE = """() => {
  const { session, entry } = fabkitPlay.page;
  for (const [piece, orientation, ...at] of entry.solution) {
    if (session.game.fixed.has(piece)) continue;
    session.select(piece);
    session.drop({ orientation, at });
  } }"""


def ignore(*_: Any) -> None:
    """Takes events and progress."""


def octominoes() -> dict[str, Any]:
    """The document of a set with one board, and no challenges and no catalog of its own."""
    document = parse_toml((shipped_folder() / "iqblock.toml").read_text(), "iqblock.toml")
    del document["challenge"]
    document["set"]["name"] = "mine"
    return document


def project_of(document: dict[str, Any], room: Path) -> Project:
    return Project("mine.toml", tomli_w.dumps(document), room, room=room / "made")


def generate(project: Project, **changed: Any) -> Any:
    arguments = {"project": project, "count": COUNT, "levels": LEVELS, "seconds": 300.0} | changed
    return call_checked(playing.generate, arguments, emit=ignore, progress=ignore)


def challenges(project: Project, *more: dict[str, Any]) -> Any:
    arguments = {"project": project, "more": more}
    return call_checked(playing.challenges, arguments, emit=ignore, progress=ignore)


def page_data(project: Project, page: str) -> Any:
    """Return the data that a made page loads."""
    script = (project.room / page).with_name("data.js").read_text()
    return json.loads(script.partition("=")[2].rstrip(";\n"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mine")


@pytest.fixture(scope="module")
def made(folder: Path) -> Any:
    """Five challenges of a set that has none."""
    return generate(project_of(octominoes(), folder))


# --- generated --------------------------------------------------------------------------------


@pytest.mark.integration
def test_challenges_are_those_of_the_command(
    made: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "mine.toml"
    file.write_text(tomli_w.dumps(octominoes()))
    command = ["challenges", str(file), "--count", str(COUNT), "-o", str(folder / "out"), "--json"]
    assert main(command) == 0
    expected = json.loads(capsys.readouterr().out)["challenges"]
    for document in expected:
        del document["file"]
    assert [*made["challenges"].values()] == expected
    assert made["missing"] == ""


@pytest.mark.integration
def test_no_name_is_used_twice_and_no_challenge_is_new_twice(
    made: dict[str, Any], folder: Path
) -> None:
    kept = made["challenges"]["start-002"]
    again = generate(project_of(octominoes() | {"challenge": [kept]}, folder))["challenges"]
    assert [*again] == ["start-001", "start-003", "start-004", "start-005", "start-006"]
    places = [document["given"] for document in again.values()]
    assert kept["given"] not in places


@pytest.mark.integration
def test_a_challenge_of_the_set_keeps_its_name(folder: Path) -> None:
    def clues(text: str) -> dict[str, Any]:
        project = Project("iqstars.toml", text, folder, room=folder / "made")
        return generate(project, count=2, clues="cells")["challenges"]

    text = (shipped_folder() / "iqstars.toml").read_text()
    first, second = clues(text).values()
    document = parse_toml(text, "iqstars.toml") | {"challenge": [{**second, "id": "mine"}]}
    assert [*clues(tomli_w.dumps(document)).values()] == [first, {**second, "id": "mine"}]


@pytest.mark.integration
def test_clues_levels_and_numbers_are_chosen(folder: Path) -> None:
    text = (shipped_folder() / "iqstars.toml").read_text()
    project = Project("iqstars.toml", text, folder, room=folder / "made")
    (clued,) = generate(project, count=1, clues="colours", given="6")["challenges"].values()
    assert sum(len(clue["cells"]) for clue in clued["clue"]) == 6
    assert all("colour" in clue for clue in clued["clue"])
    started = generate(project, count=2, levels=["expert"], given="2")["challenges"].values()
    assert [document["result"]["level"] for document in started] == ["expert", "expert"]
    assert [len(document["given"]) for document in started] == [2, 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"count": 0}, "request: count: Input should be greater than or equal to 1"),
        ({"levels": ["hard"]}, '"hard" is not a valid value; did you mean "wizard"?'),
        ({"clues": "letters"}, '"letters" is not a valid value'),
        ({"seconds": 0.0}, "request: seconds: Input should be greater than 0"),
        ({"given": "12"}, "--given: expected minimal, or a whole number from 1 to 7"),
        ({"board": "6x10"}, 'mine has no board "6x10"; its boards are square'),
        ({"of": "square", "clues": "cells"}, "--of: excludes --clues; choose one"),
        ({"colour": "red"}, "request: colour: Unexpected keyword argument"),
    ],
)
def test_unsuitable_requests_are_refused(
    folder: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        generate(project_of(octominoes(), folder), **changed)


# --- listed -----------------------------------------------------------------------------------


def test_the_list_and_its_page_show_what_booklet_and_page_show(
    made: dict[str, Any], folder: Path
) -> None:
    kept, tried, *_ = made["challenges"].values()
    project = project_of(octominoes() | {"challenge": [kept]}, folder)
    listing = challenges(project, tried)
    entries = {entry.challenge.id: entry for entry in gather(project.puzzle)}
    assert entries.keys() == {"square", kept["id"]}
    assert listing["facts"].keys() == {"square", kept["id"], tried["id"]}
    data = page_data(project, listing["page"])
    assert data["name"] == "mine"
    assert {entry["id"]: entry["level"] for entry in data["entries"]} == {
        "square": "wizard",
        kept["id"]: kept["result"]["level"],
        tried["id"]: tried["result"]["level"],
    }
    score = kept["result"]["difficulty"]["score"]
    assert listing["facts"][kept["id"]] == {"solutions": 1, "complete": True, "score": score}
    board = listing["facts"]["square"]
    assert board["solutions"] == entries["square"].result.count


@pytest.mark.integration
def test_the_same_challenges_have_the_same_page(made: dict[str, Any], folder: Path) -> None:
    kept, other, *_ = made["challenges"].values()
    project = project_of(octominoes() | {"challenge": [kept]}, folder)
    first = challenges(project)["page"]
    assert challenges(project)["page"] == first
    assert challenges(project, other)["page"] != first


def test_challenges_without_a_solution_are_named(made: dict[str, Any], folder: Path) -> None:
    impossible = {"id": "corner", "pieces": ["0", "1"], "rows": ["XXXXXXXX", "XXXXXXXX"]}
    listing = challenges(project_of(octominoes() | {"challenge": [impossible]}, folder))
    assert listing["notes"] == ["corner has no solution; skipped"]
    assert "corner" not in listing["facts"]


def test_a_set_without_anything_to_solve_says_what_to_do(folder: Path) -> None:
    document = octominoes()
    del document["board"]
    with pytest.raises(InputError, match="mine: has no challenge and no board"):
        challenges(project_of(document, folder))


# --- in the browser ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.started() as running_browser:
        yield running_browser


def until(page: Page, expression: str) -> None:
    """Waits until something is so; as a function, which the page's policy allows."""
    page.wait_for_function(f"() => {expression}")


def begin(page: Page) -> None:
    """Waits for the studio's first view."""
    page.set_default_timeout(TIMEOUT_MS)
    until(page, "window.fabkitStudio?.views.size")


def stated(page: Page) -> list[str]:
    """The ids of the challenges in the set file that is open."""
    ids: list[str] = page.evaluate("fabkitStudio.project.reading.challenges.map(({ id }) => id)")
    return ids


@browser.needed
def test_challenges_are_generated_chosen_and_played(
    chromium: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(tomli_w.dumps(octominoes()))
    with (
        running(tmp_path, "mine.toml") as studio,
        browser.opened(chromium, studio.url, studio.url) as page,
    ):
        begin(page)
        page.locator("#tab-challenges").click()
        cards = page.locator(".chall-card")
        cards.first.wait_for()
        assert cards.count() == 1  # the board
        form = page.locator(".chall-form")
        form.get_by_label("Number").fill("200")
        form.get_by_role("button", name="Generate").click()
        form.get_by_role("button", name="Stop").click()
        form.get_by_role("button", name="Generate").wait_for()
        assert form.get_by_role("status").text_content() == ""
        form.get_by_label("Number").fill(str(COUNT))
        form.get_by_role("button", name="Generate").click()
        form.get_by_role("button", name="Stop").wait_for()
        form.get_by_role("button", name="Generate").wait_for()
        assert form.get_by_role("status").text_content() == "5 challenges"
        assert cards.count() == COUNT
        # From easy to hard, or by what is to be placed, and only those of a level.
        names = ["Starter", "Junior", "Expert", "Master", "Wizard"]
        assert [text.split()[-1] for text in cards.locator("h3 + p").all_text_contents()] == names
        assert page.locator(".chall-card .picture svg").count() == COUNT
        _, level, order = page.locator(".chall-filters select").all()
        order.select_option("pieces")
        to_place = [
            int(text.split()[0]) for text in cards.locator("h3 + p + p").all_text_contents()
        ]
        assert to_place == sorted(to_place)
        level.select_option("expert")
        assert cards.count() == 1
        level.select_option("")
        # Ticked ones are in the file, until they are taken out, or that is undone.
        ids = cards.locator("h3").all_text_contents()
        for name in ids[:3]:
            page.get_by_label(f"In the set: {name}").check()
        until(page, "fabkitStudio.project.reading.challenges.length === 3")
        assert stated(page) == ids[:3]
        page.get_by_role("button", name=f"Remove: {ids[1]}").click()
        until(page, "document.querySelectorAll('.chall-card').length === 4")
        until(page, "fabkitStudio.project.reading.challenges.length === 2")
        assert cards.locator("h3").all_text_contents() == [ids[0], *ids[2:]]
        page.evaluate("fabkitStudio.project.undo()")
        page.get_by_label(f"In the set: {ids[1]}").wait_for()
        page.get_by_label(f"In the set: {ids[1]}").focus()
        page.keyboard.press("Space")
        until(page, "fabkitStudio.project.reading.challenges.length === 2")
        assert page.evaluate("document.activeElement.ariaLabel") == f"In the set: {ids[1]}"
        assert violations(page) == []

        # One that is not in the set is played to its end, on the set's own page.
        page.get_by_role("button", name=f"Play: {ids[3]}").click()
        frame = page.frame_locator("#view-play iframe")
        frame.locator("#play-how button").first.click()
        inner = next(frame for frame in page.frames if "/made/" in frame.url)
        assert inner.evaluate("fabkitPlay.page.entry.id") == ids[3]
        inner.evaluate(SOLVE)
        assert frame.locator("#play-board.solved").is_visible()
        saved = json.loads(page.evaluate("localStorage.getItem('fabkit/mine')"))
        assert [name.split()[0] for name, _ in saved["solved"]] == [ids[3]]
        # A page of a changed set has the same challenge open.
        page.locator("#tab-challenges").click()
        page.get_by_label(f"In the set: {ids[1]}").check()
        until(page, "fabkitStudio.project.reading.challenges.length === 3")
        page.locator("#tab-play").click()
        until(
            page, f"document.querySelector('iframe').contentWindow.location.href !== '{inner.url}'"
        )
        frame.locator("#play-board.solved").wait_for()
        assert inner.evaluate("fabkitPlay.page.entry.id") == ids[3]
        page.evaluate("fabkitStudio.project.undo()")
        until(page, "fabkitStudio.project.reading.challenges.length === 2")
        kept = stated(page)
        page.locator("[data-do=save]").click()
        until(page, "fabkitStudio.project.isSaved")
    # The commands know them.
    assert [table["id"] for table in parse_toml(file.read_text(), "mine.toml")["challenge"]] == kept
    assert kept == [ids[0], ids[2]]
    for name in kept:
        assert main(["show", str(file), "--challenge", name]) == 0
    capsys.readouterr()
    main(["solve", str(file), "--each", "--unique", "--json"])
    answers = json.loads(capsys.readouterr().out)["challenges"]
    unique = {answer["challenge"]: answer["unique"] for answer in answers}
    assert unique == dict.fromkeys(kept, True) | {"square": False}


@pytest.fixture(scope="module")
def iqblock(folder: Path) -> Iterator[RunningStudio]:
    with running(folder, "iqblock") as studio:
        yield studio


@browser.needed
@pytest.mark.parametrize(
    ("language", "width", "scheme"),
    [("de", 390, "dark"), ("fr", 1024, "light"), ("it", 390, "light")],
)
def test_both_views_fit_every_window_in_every_language(
    chromium: Browser, iqblock: RunningStudio, language: str, width: int, scheme: str
) -> None:
    window: dict[str, Any] = {"viewport": {"width": width, "height": 768}, "color_scheme": scheme}
    with browser.opened(chromium, iqblock.url, iqblock.url, **window) as page:
        begin(page)
        english = page.evaluate("FABKIT.translations.en")
        page.evaluate(
            "(code) => Object.assign(document.querySelector('#play-language'), { value: code })"
            ".dispatchEvent(new Event('change'))",
            language,
        )
        page.locator("#tab-challenges").click()
        page.locator(".chall-card").first.wait_for()
        texts = page.locator("#view-challenges").inner_text()
        for key in ("chall_explain", "chall_generate", "chall_catalog", "level_starter"):
            assert english[key] not in texts
        assert page.evaluate("document.querySelector('.chall').scrollWidth") <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
        page.locator("#tab-play").click()
        page.frame_locator("#view-play iframe").locator(f"html[lang={language}]").wait_for()
