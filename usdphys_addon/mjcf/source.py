# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a model, kept so that an export writes it again, and changes only what was edited."""

from __future__ import annotations

import os
import posixpath
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import InputError
from ..urdf import markup
from ..urdf.edit import TextEdits
from ..urdf.markup import Element
from . import read
from .values import Model

#: Attributes of the compiler that name a folder, with the elements whose files are in it.
_FOLDERS = {"meshdir": ("mesh", "hfield", "skin", "flexcomp"), "texturedir": ("texture",)}
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1")


@dataclass(slots=True)
class Source:
    """text, encoding: of the file. parts: texts of the files that it includes, by path relative to its folder.

    missing: names of files that were not found when the text was read.
    """

    name: str
    text: str
    encoding: str = "utf-8"
    parts: dict[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode(self.encoding, "surrogatepass")

    def flat(self) -> str:
        """One text with the content of included files in their places."""
        return self._flat(self.text, "", 0)

    def _flat(self, text: str, folder: str, depth: int) -> str:
        if depth > read.DEEPEST:
            raise InputError(f"'{self.name}' includes files more than {read.DEEPEST} levels deep.")
        root, text = markup.parse(text, self.name)
        made, at = [], 0
        for element in root.walk():
            if element.tag != "include":
                continue
            name = (element.get("file") or "").replace("\\", "/")
            path = self._part(name, folder)
            if path is None:
                raise InputError(f"'{self.name}' includes '{name}', which is not there (line {element.line}).")
            part = self._flat(self.parts[path], posixpath.dirname(path), depth + 1)
            made += [text[at : element.start], _inside(part, path)]
            at = element.end
        return "".join([*made, text[at:]])

    def _part(self, name: str, folder: str) -> str | None:
        """Path of the included file that a file in a folder names."""
        named = [posixpath.normpath(posixpath.join(one, name)) for one in (folder, "")]
        for path in named:
            if path in self.parts:
                return path
        for path in named:
            # A name may lead out of the folder of the model and back into it, as `../arm/parts.xml` does in `arm`.
            names = path.split("/")
            outside = names.count("..")
            for back in range(1, outside + 1):
                inside = "/".join([*names[: outside - back], *names[outside + back :]])
                if inside in self.parts:
                    return inside
        return None

    def is_whole_in(self, folder: Path) -> bool:
        """True if the included files are in a folder, with the same text."""
        try:
            return all(markup.text_of((folder / path).read_bytes()) == text for path, text in self.parts.items())
        except OSError:
            return False


def of_model(model: Model) -> Source:
    """The text of a model that was read from a file, and of the files that it includes."""
    path = model.path
    data = path.read_bytes()
    text = markup.text_of(data)
    found = (encoding for encoding in _ENCODINGS if _coded(text, encoding) == data)
    # A decoder may also replace what is no text: the file is then written in UTF-8.
    made = Source(path.name, text, next(found, "utf-8"))
    made.missing = frozenset(model.missing)
    folder = path.parent.resolve()
    for part in model.files[1:]:
        made.parts[os.path.relpath(part, folder).replace("\\", "/")] = markup.text_of(part.read_bytes())
    return made


def _coded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return b""


def _inside(text: str, name: str) -> str:
    """What is in the first element of a text."""
    root, text = markup.parse(text, name)
    return text[root.opened : text.rindex("</", root.start, root.end)] if root.end > root.opened else ""


def reaches(model: Model, target: Path) -> bool:
    """True if a reader finds all files of a model from a folder: each is in it, below it, or in a folder beside it."""
    top = target.resolve().parent
    return all(file.is_relative_to(top) for file in model.assets)


def move_files(root: Element, edits: TextEdits, folder: Path, target: Path) -> None:
    """Let the names of files lead to the same files from another folder."""
    if os.path.realpath(folder) == os.path.realpath(target):
        return
    _move_models(root, edits, folder, target)
    known = _folders(root)
    for word in _named_folders(root):
        _set_folder(root, edits, word, Path(os.path.relpath(folder / known[word], target)).as_posix())


def copy_files(root: Element, edits: TextEdits, folder: Path, target: Path, copies: Path) -> None:
    """Copy the files that a text names, and let their names lead to the copies.

    folder: of the files. target: folder of the new text. copies: where to; the text names it by its last part.
    """
    _move_models(root, edits, folder, target)
    known, taken = _folders(root), dict[Path, Path]()
    for word in _named_folders(root):
        for element in root.walk():
            for key in element.attributes if element.tag in _FOLDERS[word] else ():
                file = (element.get(key) or "").replace("\\", "/") if key.startswith("file") else ""
                short = posixpath.basename(file) if known["strippath"] == "true" else posixpath.normpath(file)
                path = read.file_of(folder / "model.xml", (), short, folder / known[word], folder) if file else None
                if path is None:
                    continue
                name = posixpath.basename(short) if short.startswith(("..", "/")) else short
                stem, end = posixpath.splitext(name)
                count = 1
                while taken.setdefault(copies / name, path) != path:
                    count += 1
                    name = f"{stem}_{count}{end}"
                (copies / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copies / name)
                if name != short:
                    edits.set(element, key, name)
        _set_folder(root, edits, word, copies.name)


def _move_models(root: Element, edits: TextEdits, folder: Path, target: Path) -> None:
    """Let the names of attached models lead to them from another folder."""
    for element in root.walk():
        if element.tag == "model" and (file := element.get("file")):
            edits.set(element, "file", Path(os.path.relpath(folder / file.replace("\\", "/"), target)).as_posix())


def _folders(root: Element) -> dict[str, str]:
    """What the compilers say about the folders of files, by attribute."""
    known: dict[str, str] = {}
    for child in root.children:
        if child.tag == "compiler":
            known.update(child.attributes)
    found = {word: known.get(word, known.get("assetdir", "")).replace("\\", "/") for word in _FOLDERS}
    return found | {"strippath": known.get("strippath", "")}


def _named_folders(root: Element) -> list[str]:
    """The attributes of the compiler that name a folder in which the text names files."""
    named = {element.tag for element in root.walk() if any(key.startswith("file") for key in element.attributes)}
    return [word for word, tags in _FOLDERS.items() if named.intersection(tags)]


def _set_folder(root: Element, edits: TextEdits, word: str, name: str) -> None:
    compilers = [child for child in root.children if child.tag == "compiler"]
    if compilers:
        edits.set(compilers[-1], word, name)
    else:
        edits.set_in(root, "compiler", word, name)
