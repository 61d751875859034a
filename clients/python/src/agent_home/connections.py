"""Where a client's connections may be used: in one process and, if it awaits, in one event loop.

Two processes that share a socket after a fork read each other's answers, and a connection of a
closed loop fails after a change was sent. So each process and each loop opens its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import httpx

from .errors import HomeError

if TYPE_CHECKING:
    from typing_extensions import Self

H = TypeVar("H")
L = TypeVar("L")

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)

Process = tuple[int, int]


def this_process() -> Process:
    """Not the pid alone: in a new pid namespace, a child may have its parent's."""
    return os.getpid(), _forks


def _elsewhere(code: str, what: str, where: str) -> HomeError:
    return HomeError(
        status=0,
        code=code,
        detail=f"{what} belongs to another {where}, and nothing was sent. {_ADVICE[code]}",
    )


_ADVICE = {
    "other_process": "Start it again in the process that uses it.",
    "other_loop": "Start it again in the event loop that uses it.",
}


class Place(Generic[H, L]):
    """An HTTP client, and the process and event loop that may use it."""

    def __init__(
        self, http: H, waking: L, process: Process, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self.http = http
        #: A lock, held while the history is checked before the first call.
        self.waking = waking
        self.process = process
        self.loop = loop

    def is_ours(self) -> bool:
        return self.process == this_process()

    def is_here(self) -> bool:
        return self.is_ours() and (self.loop is None or self.loop is asyncio.get_running_loop())

    def require_here(self, what: str) -> None:
        """Raises HomeError."""
        if not self.is_ours():
            raise _elsewhere("other_process", what, "process")
        if not self.is_here():
            raise _elsewhere("other_loop", what, "event loop")


class Places(Generic[H, L]):
    """The HTTP client of this process and this event loop, made when it is first needed."""

    def __init__(
        self, make: Callable[[], H], make_lock: Callable[[], L], own_transport: object
    ) -> None:
        self._make = make
        self._make_lock = make_lock
        #: The caller's: it cannot be made anew.
        self._own_transport = own_transport
        #: Those of a parent process stay, untouched: closing them would end its connections.
        self._places: dict[tuple[Process, asyncio.AbstractEventLoop | None], Place[H, L]] = {}

    def here(self, loop: asyncio.AbstractEventLoop | None = None) -> Place[H, L]:
        """Raises HomeError where the caller's transport is in use elsewhere."""
        at = (this_process(), loop)
        place = self._places.get(at)
        if place is not None:
            return place
        if self._own_transport is not None:
            for other in list(self._places.values()):
                other.require_here("The transport")
        self._forget_closed_loops()
        # Without a lock, which another thread might hold in the moment of a fork.
        return self._places.setdefault(at, Place(self._make(), self._make_lock(), *at))

    def leave(self, loop: asyncio.AbstractEventLoop | None = None) -> Place[H, L] | None:
        """What is to be closed; the next call opens new connections."""
        return self._places.pop((this_process(), loop), None)

    def _forget_closed_loops(self) -> None:
        for at, place in list(self._places.items()):
            if place.is_ours() and place.loop is not None and place.loop.is_closed():
                self._places.pop(at, None)


class Handle:
    """What holds connections: its copy is itself, and no pickle takes its token along."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"an {name} is not pickled, because its token would be: make one in the other process, "
            "from AGENT_HOME_URL and AGENT_HOME_TOKEN"
        )


def _ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        # As the system reads 127.1, 0x7f.0.0.1 and 2130706433.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def is_loopback(address: str) -> bool:
    """Whether only this machine can be meant, as far as can be told without asking for names."""
    host = httpx.URL(address).raw_host.decode().strip("[]").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    ip = _ip_of(host)
    mapped = getattr(ip, "ipv4_mapped", None) or ip
    return mapped is not None and (mapped.is_loopback or mapped.is_unspecified)


def environment_of(address: str) -> dict[str, Any]:
    """Which settings of the environment an HTTP client takes: a proxy, but never to loopback.

    No proxy elsewhere has our loopback, and it would be given the token.
    """
    return {"trust_env": not is_loopback(address)}
