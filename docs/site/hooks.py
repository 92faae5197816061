"""MkDocs hooks: the site has files from outside the documentation folder.

They are the pictures of ``output/gallery``, fabkit's fonts, and pages of the checkout's top level.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside the documentation folder."""
    root = Path(config.docs_dir).parent
    pictures = sorted((root / "output/gallery").glob("*.[ps][nv]g"))
    fonts = sorted((root / "fabkit/output/fonts").glob("OpenSans*"))
    outside = {f"gallery/{path.name}": path for path in pictures}
    outside |= {f"assets/{path.stem}{path.suffix.lower()}": path for path in fonts}
    outside |= {name: root / name for name in _PAGES if (root / name).is_file()}
    for name, path in outside.items():
        if name not in files.src_uris:
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links: pages use the paths of a checkout, the site has its own."""
    if page.file.src_uri in _PAGES:
        return re.sub(r"\]\((?:docs|output)/", "](", markdown)
    outside = "|".join(map(re.escape, _PAGES))
    return re.sub(rf"\.\./(?:output/(gallery/)|({outside}))", r"\1\2", markdown)
