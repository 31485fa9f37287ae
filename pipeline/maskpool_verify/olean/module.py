"""Modules: what one ``.olean`` file, or a set of three, holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .constants import ORIGINAL_KINDS, Constant, Kind
from .errors import OleanError
from .header import ACCEPTED_VERSIONS, Header
from .image import MAX_IMAGE, Image
from .names import Name, make_name

PARTS: Final = ("", ".server", ".private")
"""What is added to the name of a module's first file. The first holds what importers see: statements, and
values only where exposed. The last holds everything, proofs included."""

# Which module declares the extension changed during Lean 4.28.
_ORIGINAL_KINDS: Final = tuple(
    make_name("_private", "Lean", module, 0, "Lean", "privateConstKindsExt")
    for module in ("AddDecl", "OriginalConstKind")
)


@dataclass(frozen=True, slots=True)
class Import:
    """An import of ``module``; ``all``: with its private part."""

    module: Name
    all: bool
    exported: bool
    meta: bool


class ModuleData:
    """One file of a module. Constants are decoded when asked for, and once."""

    def __init__(self, image: Image, header: Header) -> None:
        words = image.words
        self.image: Final = image
        self.header: Final = header
        i = self._fields = image.constructor(header.root, 0, 5, 1)
        self.is_module: Final = image.flag(i, 5, 0) == 1
        """Whether the source file begins with ``module``; only then are there three files."""
        self.imports: Final = tuple([self._import(a) for a in image.array(words[i])])
        names, addresses = image.array(words[i + 1]), image.array(words[i + 2])
        if len(names) != len(addresses):
            image.fail("not as many names as constants", header.root)
        self.addresses: Final[dict[Name, int]] = {}
        for name_at, address in zip(names, addresses, strict=True):
            name, own = image.name(name_at), image.name(words[image.constant_parts(address)[2]])
            if own is not name:  # Lean looks constants up by the other list
                image.fail(f"the constant {own} is listed as {name}", address)
            if name in self.addresses:
                image.fail(f"the constant {name} is there twice", address)
            self.addresses[name] = address
        self._decoded: Final[dict[Name, Constant]] = {}
        self._kinds: dict[Name, Kind] | None = None

    def _import(self, address: int) -> Import:
        k = self.image.constructor(address, 0, 1, 3)
        flags = [self.image.flag(k, 1, j) == 1 for j in range(3)]
        return Import(self.image.name(self.image.words[k]), *flags)

    def get(self, name: Name) -> Constant | None:
        """The constant of this name, if it is in this file."""
        constant = self._decoded.get(name)
        if constant is None and (address := self.addresses.get(name)) is not None:
            constant = self._decoded[name] = self.image.constant(address)
        return constant

    def __iter__(self) -> Iterator[Constant]:
        for name, address in self.addresses.items():
            yield self.get(name) or self.image.constant(address)

    def agrees(self, name: Name, whole: ModuleData) -> bool:
        """Whether ``whole``, a later file of the same module, has the constant as this one shows it.

        The files share their objects, so this compares addresses. An axiom here can be of any kind there,
        with the same statement: its body is not shown. All else must be the same altogether.
        """
        image, here, there = self.image, self.addresses[name], whole.addresses.get(name)
        if there is None:
            return False
        index, other = image.constant_parts(here)[2], image.constant_parts(there)[2]
        statement = slice(index, index + 3), slice(other, other + 3)
        if image.words[statement[0]] != image.words[statement[1]]:
            return False
        content = image.constant_content(here)
        return content[0] == 0 or content == image.constant_content(there)

    def entries(self, extension: Name) -> memoryview | None:
        """Addresses of what an environment extension wrote; None if there is no such extension."""
        image = self.image
        for address in image.array(image.words[self._fields + 4]):
            pair = image.constructor(address, 0, 2)
            if image.name(image.words[pair]) is extension:
                return image.array(image.words[pair + 1])
        return None

    def pairs(self, extension: Name) -> Iterator[tuple[Name, int]]:
        """The entries of an extension that are pairs of a name and something, here its address."""
        image = self.image
        for address in self.entries(extension) or ():
            pair = image.constructor(address, 0, 2)
            yield image.name(image.words[pair]), image.words[pair + 1]

    @property
    def original_kinds(self) -> dict[Name, Kind]:
        """What the constants were declared as that are not of the same kind in this file.

        Lean writes a theorem without its proof as an axiom, and says here that it was a theorem.
        """
        if self._kinds is None:
            kinds: dict[Name, Kind] = {}
            for extension in _ORIGINAL_KINDS:
                for name, kind in self.pairs(extension):
                    if not kind & 1 or kind >> 1 >= len(ORIGINAL_KINDS):
                        self.image.fail(f"unknown kind {kind:#x} of the constant {name}", self.header.root)
                    kinds[name] = ORIGINAL_KINDS[kind >> 1]
            self._kinds = kinds
        return self._kinds


def decode(
    files: Sequence[bytes], path: Path | None = None, versions: Collection[str] = ACCEPTED_VERSIONS
) -> list[ModuleData]:
    """Read the files of one module, given in the order of :data:`PARTS`; one result for each.

    Raises:
        OleanError: they are malformed, or written by a Lean that is not one of ``versions``. The same
            can be raised later, for constants that are decoded later.
    """
    try:
        image = Image(files, path, versions)
        return [ModuleData(image, header) for header in image.headers]
    except OleanError as error:
        error.path = error.path or path
        raise


def load(path: Path, versions: Collection[str] = ACCEPTED_VERSIONS) -> list[ModuleData]:
    """Read ``path``, an ``.olean`` file, with ``.olean.server`` and ``.olean.private`` if they exist.

    Raises:
        OleanError: as :func:`decode`; also if a file cannot be read.
    """
    files: list[bytes] = []
    for part in PARTS:
        file = path.with_name(path.name + part)
        if part and not file.exists():
            continue
        try:
            if file.stat().st_size > MAX_IMAGE:
                raise OleanError("impossible size of a file", None, file)
            files.append(file.read_bytes())
        except OSError as error:
            raise OleanError(f"cannot be read ({error.strerror or error})", None, file) from None
    return decode(files, path, versions)
