"""``certificates/statements.lock``: what the theorems say, as accepted by a person.

A proof can be right and its statement useless: a hypothesis that is never true, a ``pool`` that is zero. So
the lock holds the statement of every audited theorem, with a digest of all that it means, and a digest of
every declaration that the statements need. A change of any of them fails the check until it is accepted,
and shows in the diff of a pull request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from maskpool_verify.errors import StaleError
from maskpool_verify.files import disk_faults, write_whole
from maskpool_verify.lean.properties import ROOT, Property
from maskpool_verify.report import TheoremReport

SCHEMA: Literal["maskpool-verify/statements/1"] = "maskpool-verify/statements/1"
PATH = f"{ROOT}/statements.lock"
ADVICE = "review it, and run maskpool-verify accept"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)


class Statement(_Model):
    """What one theorem says; ``digest`` covers all that it means."""

    property: Property
    statement: str
    digest: str


class Lock(_Model):
    """The accepted statements by the names of their theorems, and the declarations they need."""

    schema_version: Literal["maskpool-verify/statements/1"] = Field(alias="schema")
    statements: dict[str, Statement]
    definitions: dict[str, str]


EMPTY = Lock(schema=SCHEMA, statements={}, definitions={})


def of_reports(reports: Iterable[TheoremReport], definitions: Mapping[str, str]) -> Lock:
    """The statements of theorems that were found in the artifacts."""
    statements = {
        r.name: Statement(property=r.property, statement=r.statement, digest=r.digest)
        for r in reports
        if r.digest
    }
    return Lock(schema=SCHEMA, statements=statements, definitions=dict(definitions))


def read(root: Path) -> Lock:
    """The lock of the project at ``root``; an empty one if there is none.

    Raises:
        StaleError: it is malformed.
    """
    path = root / PATH
    with disk_faults("read", path):
        if not path.exists():
            return EMPTY
        text = path.read_bytes()
    try:
        return Lock.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise StaleError(
            f"{PATH} is malformed at {where} ({first['msg']}); restore it from version control."
        ) from None


def write(root: Path, lock: Lock) -> None:
    """Replace the lock of the project at ``root``.

    Raises:
        EnvironmentFault: it cannot be written.
    """
    path = root / PATH
    with disk_faults("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (lock.model_dump_json(indent=1) + "\n").encode())


def merged(old: Lock, new: Lock, wanted: Collection[str]) -> Lock:
    """``old`` with the statements of ``new``, and without those that are neither in ``new`` nor ``wanted``.

    ``wanted`` are the theorems that the whole manifest asks for; ``new`` may cover some kernels only, whose
    declarations are then added to the old ones.
    """
    statements = {name: s for name, s in old.statements.items() if name in wanted} | new.statements
    complete = set(new.statements) >= set(wanted)
    definitions = new.definitions if complete else old.definitions | new.definitions
    return Lock(
        schema=SCHEMA,
        statements=dict(sorted(statements.items())),
        definitions=dict(sorted(definitions.items())),
    )


def differences(old: Lock, new: Lock) -> list[str]:
    """How the statements of ``new`` differ from the accepted ones, a sentence each.

    Theorems that are in ``old`` alone are not mentioned: see :func:`disappeared`.
    """
    changed = _changed_definitions(old.definitions, new.definitions)
    found: list[str] = []
    for name, now in new.statements.items():
        was = old.statements.get(name)
        if was is None:
            found.append(f"{name} is not accepted yet")
        elif was.statement != now.statement:
            found.append(
                f"{name} states something else.\n  accepted: {was.statement}\n  now:      {now.statement}"
            )
        elif was.property != now.property:
            found.append(f"{name} was accepted as {was.property}, and is {now.property} now")
        elif was.digest != now.digest:
            found.append(f"{name} reads the same, but means something else")
    if changed:
        found.append(f"these declarations have changed: {', '.join(changed)}")
    if not found and (unlisted := [name for name in new.definitions if name not in old.definitions]):
        found.append(f"these declarations are not listed: {', '.join(unlisted)}")
    return found


def _changed_definitions(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [name for name, digest in new.items() if name in old and old[name] != digest]


def disappeared(old: Lock, wanted: Collection[str]) -> list[str]:
    """The accepted theorems that the manifest does not ask for any more."""
    return [name for name in old.statements if name not in wanted]
