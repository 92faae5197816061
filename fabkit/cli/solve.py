"""`fabkit solve`, and the files it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import drawings
from fabkit.cli.context import FAILURE_EXIT, OfSet
from fabkit.cli.each import solve_each
from fabkit.cli.options import argument, exclusive, flag, option, refuse, whole
from fabkit.core.errors import InputError, escape, join_or
from fabkit.core.formats import json_text
from fabkit.core.staging import write_atomically
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.sets.challenges import challenge_in_file, challenge_names, find_challenge, one_lattice
from fabkit.solve.engines import ENGINES

if TYPE_CHECKING:
    from fabkit.solve.answer import Answer
    from fabkit.solve.encoding import EncodedChallenge
    from fabkit.solve.engines.engine import Budget

#: No list is as long.
_MAX_LISTED = 10**9


class Solve(OfSet):
    """Find, count or list the solutions of a challenge.

    Exit code 1 if there is none; with --unique, if there is not exactly one.
    """

    challenge: str | None = argument(
        "CHALLENGE",
        "A challenge, a board or a member of a family (default: the set's first board); with "
        "--each, a family.",
    )
    file: Path | None = option(
        "--file FILE",
        "A challenge in this file: one challenge, a list, or a catalog; TOML or JSON.",
    )
    first: bool = flag("--first", "Find one solution (default).")
    count: bool = flag("--count", "Count all solutions.")
    all: bool = flag("--all", "List all solutions.")
    unique: bool = flag("--unique", "Check whether there is exactly one solution.")
    each: bool = flag(
        "--each", "Solve all challenges of the set, or all members of a family, in one run."
    )
    csv: bool = flag("--csv", "Print the answers as CSV, with --each.")
    resume: Path | None = option(
        "--resume DIR", "Checkpoint folder of a run to start or resume, with --each."
    )
    starts: bool = flag(
        "--starts", "Count the solutions with each placement, and with each piece on each cell."
    )
    difficulty: bool = flag("--difficulty", "Rate the difficulty for a person.")
    limit: int | None = option(
        "--limit N",
        "Maximum number of solutions to list, with --all (default: all).",
        read=whole(1, _MAX_LISTED),
    )
    leftover: bool = flag(
        "--leftover", "Leave open as many cells as the pieces do not cover, like `open` in a file."
    )
    engine: str | None = option(
        "--engine NAME",
        f"Engine: {join_or(list(ENGINES))} (default: selected automatically).",
        complete=lambda: ENGINES,
    )
    budget_s: float | None = option("--budget SECONDS", "Time limit (default: none).")
    certificate: Path | None = option(
        "--certificate FILE.json",
        "Write a proof of impossibility, uniqueness or the count, for `fabkit certify`.",
    )
    cnf: Path | None = option(
        "--cnf FILE.cnf",
        "Write the SAT formula, and its refutation FILE.drat if there is no solution.",
    )
    svg: Path | None = option("--svg FILE.svg", "Draw the challenge and a solution.")
    steps: Path | None = option("--steps FILE.svg", "Draw a solution step by step.")
    theme: str | None = drawings.THEME()

    def run(self) -> int:
        from fabkit.cli import answers
        from fabkit.solve.answer import IMPOSSIBLE, SOLVED
        from fabkit.solve.answer import solve as answer_to
        from fabkit.solve.encoding import to_exact_cover
        from fabkit.solve.engines.engine import Budget
        from fabkit.solve.rendering import document

        question = exclusive(self.options("first count all unique starts"))[2:] or "first"
        if question != "all":
            refuse(self.options("limit"), "requires --all; add it")
        if not (self.svg or self.steps):
            refuse(self.options("theme"), "requires a drawing; add --svg FILE.svg, or omit it")
        files = "certificate cnf svg steps"
        if self.each:
            others = self.options(f"file engine difficulty leftover {files}")
            refuse(others, "excludes --each; choose one")
            return solve_each(self, self.challenge, question, self.budget_s, self.resume, self.csv)
        refuse(self.options("csv resume"), "requires --each; add it")
        if question == "starts":
            others = self.options(f"engine {files} difficulty")
            refuse(others, "excludes --starts; choose one")
        if self.certificate and self.file and self.certificate.resolve() == self.file.resolve():
            raise InputError.of("--certificate", "is the challenge's own file; choose another one")
        report, puzzle = self.report, self.puzzle
        challenge = _challenge(puzzle, self.challenge, self.file)
        if self.leftover:
            challenge = _with_open_cells(puzzle, challenge)
        encoded = to_exact_cover(puzzle, challenge)
        with report.progress("of the search") as progress:
            budget = Budget(self.budget_s, progress, self.begin)
            if question == "starts":
                return answers.print_starts(encoded, budget, report)
            answer = answer_to(encoded, question, self.engine, budget, self.limit)
        rating = answers.rating(encoded, answer, self.budget_s) if self.difficulty else None
        answers.print_answer(encoded, question, answer, rating, report)
        if self.difficulty and rating is None and answer.status != IMPOSSIBLE:
            report.warn("the difficulty is unknown: no simulated attempt finished")
        if self.json:
            report.document(**document(encoded, answer, rating))
        # Print the answer before writing files: a proof may take longer, and fail.
        with report.progress("of the proof") as progress:
            budget = Budget(self.budget_s, progress)
            written = self._draw(encoded, answer, budget)
            written += self._prove(encoded, question, answer, budget)
        report.info(*(f"Wrote {path}" for path in written))
        kept = answer.unique if question == "unique" else answer.status == SOLVED
        complete = answer.count is not None or len(answer.solutions) == self.limit
        return 0 if kept and (complete or question not in ("count", "all")) else FAILURE_EXIT

    def _prove(
        self, encoded: EncodedChallenge, question: str, answer: Answer, budget: Budget
    ) -> list[Path]:
        """Write the formula and the certificate of an answer; return their paths."""
        from fabkit.solve.certificate import make_certificate
        from fabkit.solve.engines.engine import BudgetSpentError

        report, certificate = self.report, self.certificate
        written: list[Path] = []
        try:
            if self.cnf is not None:
                written += self._write_cnf(self.cnf, encoded, question, answer, budget)
            claim = _claim(question, answer)
            if certificate is not None and claim:
                write_atomically(
                    certificate, json_text(make_certificate(encoded, claim, budget), indent=None)
                )
                written.append(certificate)
            elif certificate is not None:
                report.warn(
                    f"{certificate} was not written: a certificate proves that a challenge is "
                    "impossible, that its solution is unique (--unique), or its count (--count)"
                )
        except BudgetSpentError:
            report.warn("time limit reached before the proof was complete; it was not written")
        return written

    def _draw(self, encoded: EncodedChallenge, answer: Answer, budget: Budget) -> list[Path]:
        """Write the drawings; return their paths."""
        svg, steps, theme = self.svg, self.steps, self.theme or drawings.AUTO
        if svg is None and steps is None:
            return []
        from fabkit.model.entry import entry_of
        from fabkit.output.challenge import challenge_sheet, steps_sheet
        from fabkit.solve.answer import SOLVED, solve
        from fabkit.solve.engines.engine import Budget
        from fabkit.solve.rendering import count_text

        solutions = answer.solutions
        if answer.status == SOLVED and not solutions:  # a count lists none
            solutions = solve(encoded, "first", budget=Budget(budget.left_s)).solutions
        solution = encoded.decode(solutions[0]) if solutions else None
        entry = entry_of(encoded.challenge).with_result(solution=solution)
        unit_mm = self.profile.unit_mm
        written = []
        if svg is not None:
            write_atomically(
                svg, challenge_sheet(encoded.puzzle, entry, unit_mm, count_text(answer), theme)
            )
            written.append(svg)
        if steps is not None and solutions:
            write_atomically(steps, steps_sheet(encoded.puzzle, entry, unit_mm, theme))
            written.append(steps)
        elif steps is not None:
            self.report.warn(f"{steps} was not written: there is no solution to assemble")
        return written

    def _write_cnf(
        self, path: Path, encoded: EncodedChallenge, question: str, answer: Answer, budget: Budget
    ) -> list[Path]:
        """Write the formula, and its refutation if the challenge (or a second solution) has one."""
        from fabkit.solve.engines.sat import refutation, to_cnf

        formula = to_cnf(encoded.problem, answer.solutions if answer.unique else ())
        proved = _claim(question, answer) in ("impossible", "unique")
        proof = refutation(formula, budget) if proved else None
        write_atomically(path, formula.dimacs())
        if answer.status == "unknown" or (question == "unique" and answer.unique is None):
            self.report.warn("the formula has no proof: the answer is unknown")
        if proof is None:
            return [path]
        write_atomically(path.with_suffix(".drat"), proof)
        return [path, path.with_suffix(".drat")]


def _challenge(puzzle: PuzzleSet, name: str | None, file: Path | None) -> Challenge:
    if file is None:
        return find_challenge(puzzle, name)
    challenge = one_lattice(challenge_in_file(file, puzzle, name), escape(str(file)), "its result")
    if challenge.id in challenge_names(puzzle):  # its certificate must not pass for the set's own
        return replace(challenge, id=f"file-{challenge.id}")
    return challenge


def _with_open_cells(puzzle: PuzzleSet, challenge: Challenge) -> Challenge:
    """Return the challenge with as many open cells as the pieces leave."""
    spare = puzzle.cells_to_spare(challenge)
    if spare is None:
        message = "the pieces may leave different numbers of cells open; state one: open = 2"
        raise InputError.of("--leftover", f"{message}, in a challenge file")
    return replace(challenge, open_count=spare)


def _claim(question: str, answer: Answer) -> str:
    """The claim that needs a proof; empty when the solution is proof enough."""
    if answer.status == "impossible":
        return "impossible"
    if question == "unique" and answer.unique:
        return "unique"
    return "count" if question in ("count", "all") and answer.count is not None else ""
