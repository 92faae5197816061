"""Incremental builds of files in a folder: find stale targets, make them, move them into place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from fabkit.build.manifest import MANIFEST, Manifest, ManifestEntry, pieces_in, read_manifest
from fabkit.core.errors import ExternalError, InputError, escape, library_failures
from fabkit.core.formats import json_text
from fabkit.core.hashes import sha256
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.core.staging import Staging, external_errors, folder_lock, remove_leftovers

#: Returns where to write a file of the folder; keywords are stored in its `ManifestEntry`.
OutputPath = Callable[..., Path]
_MAX_NAMED = 5


def with_json_report(
    report: str, write: Callable[[OutputPath], dict[str, Any]]
) -> Callable[[OutputPath], None]:
    """Return a function that writes files, and `write`'s JSON report with their SHA-256."""

    def make(output_path: OutputPath) -> None:
        files: dict[str, Path] = {}

        def keep(name: str) -> Path:
            files[name] = output_path(name)
            return files[name]

        document = write(keep)
        document["files"] = {name: sha256(path) for name, path in files.items()}
        output_path(report).write_bytes(json_text(document).encode())

    return make


@dataclass(frozen=True)
class Target:
    """Files that are made together.

    Attributes:
        names: their paths in the folder, with slashes. One that ends with a slash or a hyphen means
            all files with this prefix, since their number is known only when they are made.
        recipe: the hash of their inputs; empty for files that are always rebuilt.
        make: writes them to the paths that it requests. Until its first request nothing is touched,
            and the folder is not locked.
        prepare: checks that may fail, before anything is made.
        begin: begins to make them on another core, once everything is prepared and what they need
            is made.
        needs: the first names of targets that are made before it begins.
        kind: of a set's files; see `fabkit.build.manifest.ManifestEntry`.
        about: of a report, the folder of the files it covers.
        always: whether they are rebuilt even if up to date.
        edited_as: the new name of an edited file; empty to refuse to overwrite it.
    """

    names: tuple[str, ...]
    recipe: str
    make: Callable[[OutputPath], object]
    prepare: Callable[[], object] = lambda: None
    begin: Callable[[], object] = lambda: None
    needs: frozenset[str] = frozenset()
    kind: str = ""
    about: str = ""
    always: bool = False
    edited_as: str = ""

    def owns(self, name: str) -> bool:
        """Whether a file belongs to the target."""
        return any(
            name == owned or (owned[-1] in "/-" and name.startswith(owned)) for owned in self.names
        )

    def files(self, manifest: Manifest) -> dict[str, ManifestEntry]:
        """The files made by this recipe, about the current files."""
        about = manifest.digest_of(self.about)
        return {
            name: entry
            for name, entry in manifest.files.items()
            if self.owns(name) and entry.recipe == self.recipe and entry.about == about
        }

    def is_current(self, manifest: Manifest, folder: Path) -> bool:
        """Whether the files are up to date and unchanged.

        Raises:
            ExternalError: when one cannot be read.
        """
        files = self.files(manifest) if self.recipe and not self.always else {}
        return bool(files) and all(
            entry.files == len(files) and entry.is_in(folder / name)
            for name, entry in files.items()
        )


@dataclass
class BuildResult:
    """The result of `build`, which all commands report that write into a folder.

    Attributes:
        folder: the output folder.
        files: those of all targets.
        made: those rebuilt now.
        written: the names of those with new content; the others were up to date.
        warnings: as sentences.
    """

    folder: Path
    files: dict[str, ManifestEntry] = field(default_factory=dict)
    made: dict[str, ManifestEntry] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The number of files ``written``, and ``files``: the hash of each, and whether it was."""
        files = {
            name: {"sha256": entry.sha256, "written": name in self.written}
            for name, entry in self.files.items()
        }
        return {"written": len(self.written), "files": files}

    @property
    def pieces(self) -> dict[str, dict[str, Any]]:
        """The notes on the pieces in the files; see `fabkit.build.manifest.PieceNotes`."""
        return pieces_in(self.files)


def build(
    folder: Path,
    owner: str,
    targets: Sequence[Target],
    force: bool = False,
    progress: Progress = no_progress,
    inputs: Mapping[str, Any] = MappingProxyType({}),
    lenient: bool = False,
) -> BuildResult:
    """Bring files in a folder up to date: all stale ones, or none.

    Args:
        owner: the name of the set whose folder it is, or of what else it holds.
        force: rebuild everything, and overwrite foreign files.
        inputs: from `fabkit.build.manifest.input_digests`, for the manifest; empty to keep it as it
            is.
        lenient: write even if the manifest is damaged or of another owner, and leave it unchanged.

    Raises:
        InputError: before anything is touched, when a target cannot be made, the folder has another
            owner, or a foreign file would be overwritten.
        ExternalError: when the folder is in use or cannot be written; nothing has changed then.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of(escape(str(folder)), "is a file; expected a folder")
    remove_leftovers(folder)
    built = BuildResult(folder)
    try:
        manifest = read_manifest(folder, owner, force)
    except InputError as error:
        if not lenient:
            raise
        built.warnings.append(f"{MANIFEST} was left unchanged: {error}")
        manifest = Manifest(set="")
        force = True
    stale = [target for target in targets if force or not target.is_current(manifest, folder)]
    gone = any(not (folder / name).is_file() for name in manifest.files)
    if stale or (inputs and (gone or manifest.model_copy(update=inputs) != manifest)):
        names = {
            name
            for target in stale
            for name in target.names
            if not target.edited_as and (name == target.names[0] or name in manifest.files)
        }
        _refuse(folder, names, manifest, force)
        for target in stale:
            with library_failures(partial(str, target.names[0])):
                target.prepare()
        numbers = {target.names[0]: number for number, target in enumerate(stale)}
        order = TopologicalSorter(
            {
                number: {numbers[name] for name in stale[number].needs & numbers.keys()}
                for number in numbers.values()
            }
        )
        order.prepare()
        with ExitStack() as held, external_errors(f"cannot write in {escape(str(folder))}"):

            @cache
            def staging() -> Staging:
                held.enter_context(folder_lock(folder))
                if manifest.set and read_manifest(folder, owner, force) != manifest:
                    raise ExternalError(
                        f"the files in {escape(str(folder))} changed in the meantime; nothing was "
                        "written. Run the command again"
                    )
                return held.enter_context(Staging(folder))

            ready: list[int] = []
            for done in range(len(stale)):
                for number in order.get_ready():
                    stale[number].begin()
                    heappush(ready, number)
                target = stale[number := heappop(ready)]
                counted(progress, done, len(stale), target.names[0])
                built.made |= _make(target, manifest, staging)
                if target.edited_as:
                    _keep_edited(target, folder, manifest, staging(), built)
                order.done(number)
            progress(1.0, "")
            manifest = _commit(staging(), stale, manifest, inputs, force, built)
    for target in targets:
        now = {name: entry for name, entry in built.made.items() if target.owns(name)}
        built.files |= now or target.files(manifest)
    return built


def _make(
    target: Target, manifest: Manifest, staging: Callable[[], Staging]
) -> dict[str, ManifestEntry]:
    """Make the files of a target."""
    staged: dict[str, tuple[Path, dict[str, Any]]] = {}

    def output_path(name: str, **more: Any) -> Path:
        staged[name] = staging().path(name), more
        return staged[name][0]

    with library_failures(lambda: next(reversed(staged), target.names[0])):
        target.make(output_path)
    return {
        name: ManifestEntry(
            sha256=sha256(path),
            recipe=target.recipe,
            kind=target.kind,
            files=len(staged),
            about=manifest.digest_of(target.about),
            **more,
        )
        for name, (path, more) in staged.items()
    }


def _commit(
    staging: Staging,
    stale: Sequence[Target],
    manifest: Manifest,
    inputs: Mapping[str, Any],
    force: bool,
    built: BuildResult,
) -> Manifest:
    """Move new files into place, the manifest last; return it."""
    folder = staging.target
    for name, entry in built.made.items():
        if not force and entry.is_in(folder / name):
            staging.discard(name)
        else:
            built.written.add(name)
    edited = {name for target in stale if target.edited_as for name in target.names}
    _refuse(folder, built.written - edited, manifest, force)
    outdated = {name for name in manifest.files if any(target.owns(name) for target in stale)}
    outdated -= built.made.keys()
    kept = {
        name: entry
        for name, entry in manifest.files.items()
        if name not in outdated and (folder / name).is_file()
    }
    after = manifest.model_copy(update={**inputs, "files": kept | built.made})
    if manifest.set and after != manifest:
        staging.path(MANIFEST).write_bytes(after.text().encode())
    staging.commit()
    for name in outdated:  # outdated plates must not be printed
        if manifest.files[name].is_in(folder / name):
            (folder / name).unlink()
    return after


def _keep_edited(
    target: Target, folder: Path, manifest: Manifest, staging: Staging, built: BuildResult
) -> None:
    """Keep an edited file under another name."""
    (name,) = target.names
    path = folder / name
    entry = manifest.files.get(name)
    if path.is_file() and not built.made[name].is_in(path) and not (entry and entry.is_in(path)):
        staging.path(target.edited_as).write_bytes(path.read_bytes())
        kept = escape(str(folder / target.edited_as))
        built.warnings.append(f"{name} was edited; your version is kept: use it with -p {kept}")


def _refuse(folder: Path, names: Iterable[str], manifest: Manifest, force: bool) -> None:
    """Refuse to overwrite files that fabkit has not written, or to write through a symbolic link.

    Raises:
        InputError: naming the files.
    """
    names = sorted(names)
    parents = {parent for name in names for parent in PurePosixPath(f"{name}x").parents}
    for parent in sorted(map(str, parents - {PurePosixPath()})):
        if (folder / parent).is_symlink():
            message = "is a symbolic link, and nothing is written through it; remove the link, or "
            message += "choose another folder with -o"
            raise InputError.of(escape(str(folder / parent)), message)
    files = manifest.files
    foreign = [
        name
        for name in names
        if (folder / name).is_file() and not (name in files and files[name].is_in(folder / name))
    ]
    if foreign and not force:
        more = f" and {len(foreign) - _MAX_NAMED} more" if len(foreign) > _MAX_NAMED else ""
        message = (
            f"was not written by fabkit, or has been changed since: "
            f"{', '.join(foreign[:_MAX_NAMED])}{more}; move it away, choose another folder with "
            "-o, or overwrite it with --force"
        )
        raise InputError.of(escape(str(folder)), message)
