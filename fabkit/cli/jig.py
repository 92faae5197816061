"""`fabkit jig`."""

from __future__ import annotations

from pathlib import Path

from fabkit.cli.context import WithForce, WithOutput, WithSettings
from fabkit.cli.options import argument
from fabkit.core.errors import pluralize
from fabkit.core.units import format_mm
from fabkit.sets.library import shipped_names


class Jig(WithForce, WithSettings, WithOutput):
    """Write a jig to press magnets in.

    A printed hand tool that holds each magnet with another one, glued in, and presses it to the
    right depth with the right pole outwards. Where poles alternate, there are two, marked N and S.
    """

    set: str = argument(
        "SET",
        "A shipped set (see `fabkit sets`) or a TOML file (default: any set).",
        "",
        shipped_names,
    )

    def run(self) -> None:
        from fabkit.build.jig import write_jigs

        report, profile = self.report, self.profile
        puzzle = self.puzzle if self.set else None
        folder = self.folder if self.set else self.output or Path("output") / "jig"
        with report.progress() as progress:
            made, is_new = write_jigs(profile, folder, puzzle, self.force, progress)
        for jig in made["jigs"]:
            shows = f"{jig['pole'] or 'either'} pole outwards"
            post = "no post, a flat tip"
            if jig["post_mm"]:
                post = f"a post of {jig['post_mm']:g} x {format_mm(jig['post_height_mm'])}"
            collar = format_mm(jig["collar_mm"])
            report.info(f"{jig['name']}: {shows}; {post}, and a collar of {collar}")
        report.info(*made["how"])
        report.wrote(pluralize(len(made["jigs"]), "jig"), folder / "jig", is_new)
        report.document(output=str(folder), **made)
