"""What a birth says, and who is born."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from . import wire

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class UserHome(Generic[T]):
    agent_id: str
    #: The agent's.
    home: T
    token: str = field(repr=False)
    #: Its operator's, which is your product.
    operator: T
    operator_token: str = field(repr=False)


@dataclass(frozen=True)
class _OfUser:
    """A home is found by the very birth that made it, so these never change."""

    name: str = "A user"
    purpose: str = "What a product remembers of one of its users."
    symbol: wire.SymbolId = "zerno"


OF_USER = _OfUser()


def birth_body(
    name: str,
    purpose: str,
    symbol: str,
    operator_consent: bool,
    email: str | None,
    password: str | None,
) -> dict[str, Any]:
    given = {
        "name": name,
        "purpose": purpose,
        "symbol": symbol,
        "operatorConsent": operator_consent,
        "email": email,
        "password": password,
    }
    return {member: value for member, value in given.items() if value is not None}
