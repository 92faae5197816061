"""One way to write files into a folder: say what is stale, make it, move it into place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from fabkit.build.manifest import MANIFEST, Entry, Manifest, inputs, profile_digest, read_manifest
from fabkit.core.errors import InputError, OutsideError, printable
from fabkit.core.files import (
    Staging,
    folder_lock,
    json_text,
    outside_failures,
    remove_leftovers,
    sha256,
)
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Called with the number of files done, of files in all, and what comes next.
Progress = Callable[[int, int, str], None]
#: Where the file of a name in the folder is to be written; keywords are kept in its `Entry`.
Place = Callable[..., Path]
_MOST_NAMED = 5


def with_report(
    report: str, document: dict[str, Any], write: Callable[[Place], object]
) -> Callable[[Place], None]:
    """What writes files, and beside them a JSON report that names each with its SHA-256."""

    def make(place: Place) -> None:
        files: dict[str, Path] = {}

        def keep(name: str) -> Path:
            files[name] = place(name)
            return files[name]

        write(keep)
        document["files"] = {name: sha256(path) for name, path in files.items()}
        place(report).write_bytes(json_text(document).encode())

    return make


def silent(done: int, total: int, name: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True)
class Target:
    """Files that are made together.

    Attributes:
        names: their paths in the folder, with slashes. One that ends with a slash or a
            hyphen means all that begin so, since their number shows when they are made.
        recipe: the hash of all that goes into them; empty for what is always made again.
        make: writes them where it is told to. Until it first asks where, nothing is touched, and
            the folder is free.
        prepare: what may be refused, before anything at all is made.
        kind: of a set's files; see `fabkit.build.manifest.Entry`.
        about: of a report, the folder of the files that it speaks of.
        always: whether they are made again whatever there is.
        edited_as: where one goes that somebody has changed; empty to refuse to write over it.
    """

    names: tuple[str, ...]
    recipe: str
    make: Callable[[Place], object]
    prepare: Callable[[], object] = lambda: None
    kind: str = ""
    about: str = ""
    always: bool = False
    edited_as: str = ""

    def owns(self, name: str) -> bool:
        """Whether a file is one of these."""
        return any(name == one or (one[-1] in "/-" and name.startswith(one)) for one in self.names)

    def files(self, manifest: Manifest) -> dict[str, Entry]:
        """Those that were made by this recipe, and speak of the files that are there now."""
        about = manifest.about(self.about)
        return {
            name: entry
            for name, entry in manifest.files.items()
            if self.owns(name) and entry.recipe == self.recipe and entry.about == about
        }

    def is_fresh(self, manifest: Manifest, folder: Path) -> bool:
        """Whether they would come out just so again, and are there as they were written.

        Raises:
            OutsideError: when one cannot be read.
        """
        files = self.files(manifest) if self.recipe and not self.always else {}
        return bool(files) and all(
            entry.files == len(files) and entry.is_in(folder / name)
            for name, entry in files.items()
        )


@dataclass
class Built:
    """What `build` did.

    Attributes:
        files: of all targets.
        made: those that were made now.
        written: the names of those whose bytes are new; the others were there already.
        warnings: what deserves a look, in sentences.
    """

    files: dict[str, Entry] = field(default_factory=dict)
    made: dict[str, Entry] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)


def build(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    targets: Sequence[Target],
    force: bool = False,
    progress: Progress = silent,
    accounted: bool = False,
    lenient: bool = False,
) -> Built:
    """Brings files in a folder up to date: all that are stale, or none.

    Args:
        force: makes everything again, and writes over files of others.
        accounted: whether the manifest also says what set and profile were read.
        lenient: leaves a manifest alone that is broken or of another set, and writes all the same.

    Raises:
        InputError: before anything is touched, when a target cannot be made, the folder belongs
            to another set, or a file would be written over that fabkit has not written.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of(printable(str(folder)), "is a file; expected a folder")
    remove_leftovers(folder)
    built = Built()
    try:
        manifest = read_manifest(folder, puzzle, force)
    except InputError as error:
        if not lenient:
            raise
        built.warnings.append(f"{MANIFEST} was left as it is: {error}")
        manifest, force = Manifest(set=""), True
    account = inputs(puzzle, profile) if accounted else {}
    stale = [one for one in targets if force or not one.is_fresh(manifest, folder)]
    gone = any(not (folder / name).is_file() for name in manifest.files)
    if stale or (accounted and (gone or manifest.model_copy(update=account) != manifest)):
        names = {
            name
            for one in stale
            for name in one.names
            if not one.edited_as and (name == one.names[0] or name in manifest.files)
        }
        _refuse(folder, names, manifest, force)
        for one in stale:
            one.prepare()
        doing = f"cannot write in {printable(str(folder))}"
        with ExitStack() as held, outside_failures(doing):

            @cache
            def staging() -> Staging:
                held.enter_context(folder_lock(folder))
                if manifest.set and read_manifest(folder, puzzle, force) != manifest:
                    raise OutsideError(
                        f"the files in {printable(str(folder))} changed meanwhile; nothing was "
                        "written. Give the command again"
                    )
                return held.enter_context(Staging(folder))

            for done, one in enumerate(stale):
                progress(done, len(stale), one.names[0])
                built.made |= _make(one, profile, manifest, staging)
                if one.edited_as:
                    _keep_edited(one, folder, manifest, staging(), built)
            progress(len(stale), len(stale), "")
            manifest = _commit(staging(), stale, manifest, account, force, built)
    for one in targets:
        now = {name: entry for name, entry in built.made.items() if one.owns(name)}
        built.files |= now or one.files(manifest)
    return built


def _make(
    one: Target, profile: Profile, manifest: Manifest, staging: Callable[[], Staging]
) -> dict[str, Entry]:
    """Makes the files of a target."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}

    def place(name: str, **more: Any) -> Path:
        found[name] = staging().path(name), more
        return found[name][0]

    one.make(place)
    return {
        name: Entry(
            sha256=sha256(path),
            recipe=one.recipe,
            profile=profile_digest(profile),
            kind=one.kind,
            files=len(found),
            about=manifest.about(one.about),
            **more,
        )
        for name, (path, more) in found.items()
    }


def _commit(
    staging: Staging,
    stale: Sequence[Target],
    manifest: Manifest,
    account: dict[str, Any],
    force: bool,
    built: Built,
) -> Manifest:
    """Moves what is new into place, the manifest last; returns that."""
    folder = staging.target
    for name, entry in built.made.items():
        if not force and entry.is_in(folder / name):
            staging.discard(name)
        else:
            built.written.add(name)
    edited = {name for one in stale if one.edited_as for name in one.names}
    _refuse(folder, built.written - edited, manifest, force)
    outdated = {name for name in manifest.files if any(one.owns(name) for one in stale)}
    outdated -= built.made.keys()
    kept = {
        name: entry
        for name, entry in manifest.files.items()
        if name not in outdated and (folder / name).is_file()
    }
    after = manifest.model_copy(update={**account, "files": kept | built.made})
    if manifest.set and after != manifest:
        staging.path(MANIFEST).write_bytes(after.text().encode())
    staging.commit()
    for name in outdated:  # a plate that is not needed must not be printed
        if manifest.files[name].is_in(folder / name):
            (folder / name).unlink()
    return after


def _keep_edited(
    one: Target, folder: Path, manifest: Manifest, staging: Staging, built: Built
) -> None:
    """Keeps a file that somebody has changed, by another name."""
    (name,) = one.names
    path, entry = folder / name, manifest.files.get(name)
    if path.is_file() and not built.made[name].is_in(path) and not (entry and entry.is_in(path)):
        staging.path(one.edited_as).write_bytes(path.read_bytes())
        kept = printable(str(folder / one.edited_as))
        built.warnings.append(
            f"{name} had been changed by hand; it is kept, and used when passed with -p {kept}"
        )


def _refuse(folder: Path, names: Iterable[str], manifest: Manifest, force: bool) -> None:
    """Refuses to write over what fabkit has not written, or through a link to elsewhere.

    Raises:
        InputError: naming the files.
    """
    names = sorted(names)
    parents = {parent for name in names for parent in PurePosixPath(f"{name}x").parents}
    for parent in sorted(map(str, parents - {PurePosixPath()})):
        if (folder / parent).is_symlink():
            message = "is a symbolic link, and nothing is written through it; remove the link, or "
            message += "choose another folder with -o"
            raise InputError.of(printable(str(folder / parent)), message)
    files = manifest.files
    foreign = [
        name
        for name in names
        if (folder / name).is_file() and not (name in files and files[name].is_in(folder / name))
    ]
    if foreign and not force:
        more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
        message = (
            f"was not written by fabkit, or has been changed since: "
            f"{', '.join(foreign[:_MOST_NAMED])}{more}; move it away, choose another folder with "
            "-o, or write over it with --force"
        )
        raise InputError.of(printable(str(folder)), message)
