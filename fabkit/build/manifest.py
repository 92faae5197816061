"""``manifest.json``: the files written into a folder, with hashes of their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from fabkit import __version__
from fabkit.core.errors import InputError, escape, quote
from fabkit.core.formats import NewerSchemaError, json_text, read_json
from fabkit.core.hashes import digest, sha256
from fabkit.core.staging import external_errors
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import SETTINGS, Profile, Setting

MANIFEST = "manifest.json"
#: The packages that reports depend on.
_PACKAGES = (
    "build", "core", "drawing", "mesh", "model", "output", "printing", "profiles", "puzzles",
    "sets", "solid", "solve", "verify",
)  # fmt: skip
#: The libraries that reports depend on.
_LIBRARIES = (
    "cadquery", "cadquery-ocp", "ezdxf", "fonttools", "jinja2", "lib3mf", "manifold3d", "numba",
    "numpy", "pillow", "python-sat", "rectpack", "reportlab", "shapely", "spyrrow", "trimesh",
)  # fmt: skip
_FileName = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9-]+/)*[A-Za-z0-9][A-Za-z0-9._-]{0,79}\.[a-z0-9]+$")
]


class PieceNotes(BaseModel):
    """Notes on a piece."""

    model_config = ConfigDict(frozen=True, extra="allow")
    magnets_mm: list[list[float]]
    poles: list[str] = []
    pause_height_mm: float | None
    cap_height_mm: float | None = None
    copies: int = 1


class ManifestEntry(BaseModel):
    """A file in the manifest.

    Attributes:
        sha256: of its bytes.
        recipe: the hash of its inputs; empty for files that are always rebuilt.
        kind: the kind of a set's file, such as ``stl``; empty for reports and others.
        files: how many files were made by the same recipe.
        about: of a report, the folder of the files it covers, and their hash.
        pieces: the pieces in it.
        challenges: of a page, the challenges on it.
        notes: of a page, its warnings.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    sha256: str
    recipe: str
    kind: str = ""
    files: int = 1
    about: str = ""
    pieces: dict[str, PieceNotes] = {}
    challenges: list[str] = []
    notes: list[str] = []

    def is_in(self, path: Path) -> bool:
        """Whether a file exists with the same content.

        Raises:
            ExternalError: when it cannot be read.
        """
        with external_errors(f"cannot read {escape(str(path))}"):
            return path.is_file() and sha256(path) == self.sha256


class Manifest(BaseModel):
    """The files that fabkit has written into a folder.

    Attributes:
        set: the name of its owner, which is a set's as a rule.
        fabkit: the version that wrote it.
        inputs: hashes of the set's file and of the profile.
        files: by their paths in the folder.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    set: str
    fabkit: str = ""
    inputs: dict[str, str] = {}
    files: dict[_FileName, ManifestEntry] = {}

    def text(self) -> str:
        """The file."""
        entries = sorted(self.files.items())
        files = {name: entry.model_dump(exclude_defaults=True) for name, entry in entries}
        return json_text({**self.model_dump(exclude={"files"}), "files": files})

    def digest_of(self, folder: str) -> str:
        """The `ManifestEntry.about` of a report on the files in a folder; empty for none."""
        names = sorted(name for name in self.files if folder and name.startswith(f"{folder}/"))
        parts = [part for name in names for part in (name, self.files[name].sha256)]
        return f"{folder}/{digest(*parts)}" if folder else ""


def read_manifest(folder: Path, owner: str, force: bool = False) -> Manifest:
    """Read the manifest of a folder; an empty one if there is none, or, with force, if it is
    broken.

    Args:
        owner: the name of the set whose folder it is, or of what else it holds.

    Raises:
        InputError: when the manifest is broken or newer, or the folder has another owner.
        ExternalError: when it cannot be read.
    """
    path = folder / MANIFEST
    name = escape(str(path))
    try:
        with external_errors(f"cannot read {name}"):
            if not path.exists():
                return Manifest(set=owner)
            document = read_json(path)
        manifest = Manifest.model_validate(document, strict=True)
    except NewerSchemaError:
        raise
    except (InputError, ValidationError) as error:
        if force:
            return Manifest(set=owner)
        fault = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            place, message = ".".join(map(str, first["loc"])), first["msg"]
            fault = f"{name}: is not a fabkit manifest ({escape(f'{place}: {message}')})"
        raise InputError.of("", f"{fault}; rebuild everything with --force") from None
    if manifest.set != owner:
        other_owner = f"holds the set {quote(manifest.set)}, not {quote(owner)}"
        raise InputError.of(escape(str(folder)), f"{other_owner}; choose another folder with -o")
    return manifest


def input_digests(puzzle: PuzzleSet, profile: Profile) -> dict[str, Any]:
    """What a manifest records of its inputs: hashes of set and profile, and fabkit's version."""
    digests = {"set": puzzle.digest, "profile": profile_digest(profile)}
    return {"fabkit": __version__, "inputs": digests}


def profile_digest(profile: Profile, key_prefixes: Sequence[str] = ()) -> str:
    """A hash of the numbers that shape the pieces, and of those whose keys have one of the
    prefixes.
    """
    settings = [
        setting
        for setting in SETTINGS
        if setting.affects_shape or setting.key.startswith(tuple(key_prefixes))
    ]
    return digest(*_numbers(profile, settings))


def _numbers(profile: Profile, settings: Sequence[Setting]) -> list[str]:
    return [f"{setting.key}={getattr(profile, setting.attribute)}" for setting in settings]


@cache
def generator_digest(packages: tuple[str, ...], libraries: tuple[str, ...]) -> str:
    """A hash of the code that makes files: packages of fabkit, its fonts, and libraries."""
    return digest(
        *(f"{name} {_version(name)}" for name in libraries), *map(_package_digest, packages)
    )


#: Suffixes of files that Python and numba write beside the code.
_COMPILED = (".pyc", ".nbc", ".nbi")


@cache
def _package_digest(name: str) -> str:
    package = Path(__file__).resolve().parent.parent
    parts: list[str | bytes] = []
    for path in sorted((package / name).rglob("*")):
        if path.is_file() and path.suffix not in _COMPILED:
            parts += [path.relative_to(package).as_posix(), path.read_bytes()]
    return digest(*parts)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # not installed, or from another distribution, such as conda's
        return "unknown"


def report_recipe(
    puzzle: PuzzleSet | None, profile: Profile, *more: str, exclude_keys: tuple[str, ...] = ()
) -> str:
    """The recipe of a report: a hash of its inputs besides the files it covers.

    Args:
        puzzle: the set; None for what is made for any.
        more: further inputs, such as a budget.
        exclude_keys: prefixes of the profile's keys that do not matter.
    """
    numbers = _numbers(
        profile, [setting for setting in SETTINGS if not setting.key.startswith(exclude_keys)]
    )
    code = generator_digest(_PACKAGES, _LIBRARIES)
    return digest(puzzle.digest if puzzle else "", code, profile.name, *numbers, *more)


def pieces_in(entries: Mapping[str, ManifestEntry]) -> dict[str, dict[str, Any]]:
    """The notes on the pieces in files."""
    return {
        piece: notes.model_dump()
        for entry in entries.values()
        for piece, notes in entry.pieces.items()
    }
