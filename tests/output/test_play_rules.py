"""Families, open cells, blockers, clues and marks on the page, in a real browser."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from fabkit.model.clues import ClueFilter
from fabkit.model.entry import solution_error
from fabkit.model.piece import orientations
from fabkit.model.puzzle import Challenge, Entry, Result
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from tests.conftest import ROOT
from tests.support import browser
from tests.support.playpages import Pages, Player, entries_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = browser.needed

Opens = Callable[..., AbstractContextManager[Player]]
PEGS = str(ROOT / "tests" / "sets" / "pegs.toml")
#: Finds members on the page by their ids, solves them, and places the solution: the cells of each
#: piece.
SOLVED = """(ids) => ids.map((id) => {
  const entry = fabkitPlay.findEntry(FABKIT, id);
  const game = new fabkitPlay.Game(FABKIT, entry);
  const answer = fabkitPlay.solve(game, game.given, 5000);
  if (!answer) return answer;
  for (const [piece, orientation, ...at] of answer.solution) game.place(piece, { orientation, at });
  const cells = answer.solution.map(([piece]) => [FABKIT.pieces[piece].id, game.cells(piece)]);
  return [game.evaluate().solved, entry.title, Object.fromEntries(cells)];
})"""


@pytest.fixture
def plays(chromium: Browser, pages: Pages) -> Opens:
    @contextmanager
    def play(name: str, only: str, member: str = "", day: str = "") -> Iterator[Player]:
        """Opens a page with some challenges, at one of them or at a member of a family."""
        puzzle, entries = entries_of(name, only)
        url = pages.url(puzzle, entries)
        context = chromium.new_context(viewport=browser.DESKTOP, reduced_motion="reduce")
        page = context.new_page()
        complaints = browser.watched(page)
        if day:
            page.clock.set_fixed_time(f"{day}T12:00:00")
        browser.visit(page, url + (f"#{quote(member)}" if member else ""))
        page.evaluate(browser.SEEN)
        yield Player(page, puzzle, entries[0])
        context.close()
        assert complaints == []

    return play


def title(page: Page) -> str:
    return page.locator("#play-title").inner_text()


def solve_by_hints(player: Player) -> None:
    for _ in range(30):
        if not player.solved:
            player.do("hint")
    assert player.solved


def choose(page: Page, texts: Sequence[str]) -> None:
    """Chooses from the lists of a family, in order."""
    lists = page.locator(".family select")
    for number, text in enumerate(texts):
        lists.nth(number).select_option(label=text)


def test_a_calendar_has_today_beside_it_and_any_date_is_picked(plays: Opens) -> None:
    with plays("calendar", "start-001", day="2027-03-09") as player:
        page = player.page
        assert page.evaluate("fabkitPlay.page.entry.id") == "start-001"
        page.locator(".today").click()
        assert title(page) == "Mar 9"
        assert page.locator(".today strong + span").inner_text() == "Mar 9"
        choose(page, ["jan", "25"])
        assert title(page) == "Jan 25"
        assert page.url.endswith("#jan-25")
        shown = page.locator("#play-board .on-open").all_text_contents()
        assert shown == ["Jan", "25"]
        choose(page, ["feb", "30"])
        assert title(page) == "Feb 25"  # the last date that there is
        assert "do not go together" in page.locator(".family p").inner_text()
        page.locator(".family [value=today]").click()
        assert title(page) == "Mar 9"
        page.locator("[data-do=next]").first.click()
        assert title(page) == "Mar 10"
        page.locator("[data-do=previous]").first.click()
        page.locator("[data-do=previous]").first.click()
        assert title(page) == "Mar 8"
        browser.visit(page, page.url.split("#")[0] + "#DEC-31")
        assert title(page) == "Dec 31"


@pytest.mark.parametrize("day", ["2026-07-07", "2026-12-29", "2027-02-28", "2028-02-29"])
def test_days_are_not_taken_for_months_of_other_languages(plays: Opens, day: str) -> None:
    """A Tuesday is "mar" in Italian, and "mar." in French."""
    with plays("calendar", "start-001", day=day) as player:
        year, month, number = map(int, day.split("-"))
        name = f"{date(year, month, number):%b} {number}"
        assert player.page.locator(".today strong + span").inner_text() == name


@pytest.mark.parametrize(
    "months",
    [
        "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez",
        "jan feb march apr may june july aug sept oct nov dec",
    ],
)
def test_other_abbreviations_are_months_too_and_prefixes_may_have_dashes(
    plays: Opens, tmp_path: Path, months: str
) -> None:
    file = tmp_path / "year.toml"
    rows = ", ".join(f'"{" ".join(months.split()[first : first + 4])}"' for first in (0, 4, 8))
    file.write_text(
        'set = { name = "year", lattice = "square", moves = "rotations" }\n'
        f'board = [{{ id = "b", size = [3, 4], open = 1, labels = [{rows}] }}]\n'
        f'family = [{{ id = "month", prefix = "my-month", groups = ["{months}"] }}]\n'
        'piece = [{ id = "L", rows = ["XXXX", "XXXX", "XXX."] }]\n'
        '[[challenge]]\nid = "c"\nrows = ["XXXX", "XXXX", "XXX."]\n'
    )
    with plays(str(file), "c", day="2026-07-08") as player:
        player.page.locator(".today").click()
        assert title(player.page) == f"My month {months.split()[6]}"
        eighth = months.split()[7]
        browser.visit(player.page, f"{player.page.url.split('#')[0]}#my-month-{eighth.lower()}")
        player.page.evaluate(browser.SEEN)
        assert player.page.evaluate("fabkitPlay.page.entry.id") == f"my-month-{eighth}"


def test_families_of_numbers_are_no_calendars(plays: Opens, tmp_path: Path) -> None:
    file = tmp_path / "sixteen.toml"
    file.write_text(
        'set = { name = "sixteen", lattice = "square", moves = "rotations" }\n'
        'board = [{ id = "b", size = [4, 4], open = 1, labels = ["1 2 3 4", "5 6 7 8", '
        '"9 10 11 12", "13 14 15 16"] }]\n'
        'family = [{ id = "cell", groups = ["1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"] }]\n'
        'piece = [{ id = "I", rows = ["XXX"], count = 5 }]\n'
        '[[challenge]]\nid = "c"\nboard = "b"\nopen = 1\n'
    )
    with plays(str(file), "c", day="2026-07-08") as player:
        assert title(player.page) == "C"
        assert not player.page.locator(".family [value=today]").count()


def test_a_date_is_played_and_its_open_cells_stay_open(plays: Opens) -> None:
    with plays("calendar", "start-001", member="feb-29") as player:
        member = player.puzzle.find_member("feb-29")
        assert member is not None
        encoded = to_exact_cover(player.puzzle, member)
        solution = encoded.decode(solve(encoded, "first", None, Budget(60.0)).solutions[0])
        entry = Entry(member, "challenge", result=Result("solved", solution))
        by_hand = Player(player.page, player.puzzle, entry)
        first, *others = by_hand.free
        by_hand.lay(first)
        # Onto the open cell of February, in the second column of the upper row.
        places = [player.puzzle.lattice.row_col(cell) for cell in solution[first]]
        top, left = (min(values) for values in zip(*places, strict=True))
        in_top = min(column for row, column in places if row == top) - left
        by_hand.drag(first, (1.0 - in_top, 0.0))
        assert "covers a cell that stays open" in by_hand.announced
        assert by_hand.page.locator("#play-board .piece.wrong").count() == 1
        by_hand.drag(first, by_hand.wanted_place(first))
        for piece in others:
            by_hand.lay(piece)
        assert by_hand.solved


def test_dice_are_rolled_and_blockers_lie_on_the_board(plays: Opens) -> None:
    with plays("dicesquare", "start-001") as player:
        page = player.page
        page.locator(".family [value=any]").click()
        rolled = page.evaluate("fabkitPlay.page.entry.id")
        assert player.puzzle.find_member(rolled).id == rolled
        assert title(page) == rolled.replace("roll-", "Roll ").replace("-", " ")
        assert page.locator("#play-board .blocker").count() == 7
        lists = page.locator(".family select").evaluate_all(
            "lists => lists.map((list) => list.selectedOptions[0].text)"
        )
        assert f"roll-{'-'.join(lists)}" == rolled
        solve_by_hints(player)


@pytest.mark.parametrize(("name", "family"), [("calendar", "date"), ("dicesquare", "roll")])
def test_members_made_on_the_page_are_those_of_the_set_and_all_are_solved(
    plays: Opens, name: str, family: str
) -> None:
    with plays(name, "start-001") as player:
        (described,) = (one for one in player.puzzle.families if one.id == family)
        choices = random.Random(name).sample(list(described.choices()), 40)
        members = [described.member(chosen) for chosen in choices]
        answers = player.page.evaluate(SOLVED, [member.id for member in members])
        for member, (solved, _, layout) in zip(members, answers, strict=True):
            assert solved, member.id
            cells = {one: frozenset(map(tuple, flat)) for one, flat in layout.items()}
            entry = Entry(member, "challenge", result=Result("solved", cells))
            assert not solution_error(entry, player.puzzle), member.id
        assert player.page.evaluate("fabkitPlay.findEntry(FABKIT, 'feb-30') ?? null") is None


def test_a_dot_of_colour_is_a_clue(plays: Opens) -> None:
    with plays("iqstars", "clue-020", member="clue-020") as player:
        page, challenge = player.page, player.entry.challenge
        dots = page.locator("#play-board circle.clue")
        assert sorted(dots.evaluate_all("all => all.map((one) => one.getAttribute('fill'))")) == (
            sorted(clue.colour for clue in challenge.clues for _ in clue.cells)
        )
        assert f"{len(challenge.clues)}\N{NO-BREAK SPACE}clue" in player.text("facts")
        texts = page.locator("#play-clues li").all_text_contents()
        assert len(texts) == dots.count()
        owner = next(
            one for one, cells in player.solution.items() if challenge.clues[0].cells <= cells
        )
        other = next(one for one in player.free if one != owner and contradicts(player, one))
        box = dots.first.bounding_box()
        assert box
        # Any other piece over the dot is wrong.
        player.drag(other, player.wanted_place(owner))
        moved = page.evaluate("[...fabkitPlay.page.session.game.evaluate().against].length")
        assert ("contradicts a clue" in player.announced) == bool(moved)
        player.do("reset")
        player.lay_all()


def contradicts(player: Player, piece_id: str) -> bool:
    """Whether a piece may not be where the first clue is."""
    challenge = player.entry.challenge
    piece = player.puzzle.piece(piece_id)
    clues = ClueFilter(player.puzzle.lattice, piece, challenge.clues, challenge.flips)
    return not clues.allows(challenge.clues[0].cells)


def test_pegs_need_holes_of_their_colour(plays: Opens) -> None:
    with plays(PEGS, "two-pegs-1", member="two-pegs-1") as player:
        assert player.page.locator("#play-board .hole.clue").count() == 2
        marks = (piece.marks for piece in player.puzzle.pieces)
        marked = sum(len(shown) for shown in marks if "o" in dict(shown).values())
        assert player.page.locator("#play-tray .hole").count() == marked - 2  # two crosses
        solve_by_hints(player)


@pytest.mark.parametrize("name", ["hexiamonds", "tetrahexes", "pentominoes", "tangram"])
def test_pieces_turn_all_the_way_round_and_are_dragged(plays: Opens, name: str) -> None:
    """Triangles and hexagons turn by sixths, squares by quarters."""
    start = max(shipped_entries(load_set(name), "start"), key=lambda entry: len(entry.solution))
    with plays(name, start.challenge.id, member=start.challenge.id) as player:
        turns = len(player.puzzle.lattice.moves(False))
        assert turns == (6 if name in ("hexiamonds", "tetrahexes") else 4)
        piece = max(player.free, key=lambda one: orientation_count(player, one))
        player.seen(piece).focus()
        before, looks = player.look(piece), set()
        for _ in range(turns):
            player.press("r")
            looks.add(player.look(piece))
        assert player.look(piece) == before
        assert len(looks) == orientation_count(player, piece)
        player.lay_all()


def open_as_own(page: Page) -> None:
    """Opens the link to a challenge of one's own: what lies on the board is given."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-do=menu]").click()
    page.locator("[data-do=share]").click()
    page.get_by_role("button", name="My own challenge").click()
    page.locator("#play-say", has_text="Copied").wait_for(state="attached")
    browser.visit(page, page.evaluate("navigator.clipboard.readText()"))
    assert "shared starting position" in title(page)


def orientation_count(player: Player, piece: str) -> int:
    """How many ways a piece can be turned."""
    puzzle = player.puzzle
    return len(orientations(puzzle.lattice, puzzle.piece(piece), flips=False))


def test_a_shared_position_keeps_its_rules(plays: Opens) -> None:
    with plays("dicesquare", "start-001") as player:
        page = player.page
        browser.visit(page, page.url.split("#")[0] + "#roll-A1-A2-C3-E1-A4-E4-F1")
        player.do("hint", "hint", "hint")
        assert player.placed_count == 1
        open_as_own(page)
        assert page.locator("#play-board .blocker").count() == 7
        assert page.locator("#play-board .given").count() == 1


def test_a_start_of_balls_is_shared(plays: Opens) -> None:
    """Its pieces cover more or fewer cells, by the side on which they lie."""
    with plays("iqfit", "start-001", member="start-001") as player:
        page = player.page
        player.do("hint", "hint", "hint")
        placed = player.placed_count
        open_as_own(page)
        assert page.locator("#play-board .given").count() == placed


def test_a_solution_for_a_challenge_that_has_none_is_not_found(plays: Opens) -> None:
    """A cell that only one piece may cover, and that this piece cannot reach."""
    with plays("iqstars", "clue-020") as player:
        answer = player.page.evaluate(
            """() => {
              const entry = { ...FABKIT.entries[0], solution: undefined };
              const [clue] = entry.clues, spots = FABKIT.entries[0].clues.flatMap((one) => one.spots);
              entry.clues = FABKIT.pieces.slice(0, 2).map((_, piece) => ({ piece, spots }));
              const game = new fabkitPlay.Game(FABKIT, entry);
              return fabkitPlay.solve(game, game.given, 5000);
            }"""
        )
        assert answer is None
        challenge: Challenge = player.entry.challenge
        assert len(challenge.clues) > 1
