"""Records that count only if this user has written them."""

from __future__ import annotations

import hmac
from typing import Self

from pydantic import BaseModel, ConfigDict


class Sealed(BaseModel):
    """A record with the HMAC of all its other fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seal: str = ""

    def sealed(self, key: bytes) -> Self:
        """This record with its seal."""
        return self.model_copy(update={"seal": self._seal(key)})

    def is_genuine(self, key: bytes) -> bool:
        """Whether the seal is the one that ``key`` gives."""
        return hmac.compare_digest(self.seal, self._seal(key))

    def _seal(self, key: bytes) -> str:
        content = self.model_dump_json(exclude={"seal"}).encode()
        return hmac.new(key, content, "sha256").hexdigest()
