"""What an HTTP client is told, and what is made of its answers."""

from __future__ import annotations

import http.cookiejar
import ssl
import time
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import httpx

from .calls import MOST_BYTES, Answer, Lost, Request, TooLarge, Unsent
from .connections import environment_of


class _NoCookies(http.cookiejar.DefaultCookiePolicy):
    """Cookies are not ours to send."""

    def set_ok(self, *_: Any) -> bool:
        return False


#: The home ends a connection that was idle for five seconds: what is sent on one by then is lost.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=3)


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes longer than most calls: all clients share them."""
    return httpx.create_ssl_context()


def settings_of(address: str) -> dict[str, Any]:
    """Of an HTTP client. No redirect is followed with a token."""
    cookies = http.cookiejar.CookieJar(_NoCookies())
    return {
        "cookies": cookies,
        "follow_redirects": False,
        "limits": _LIMITS,
        "verify": _certificates(),
        **environment_of(address),
    }


def timeout_of(request: Request) -> httpx.Timeout:
    """Seconds of each step; a client also bounds all of them."""
    read = request.timeout if request.idle is None else max(request.timeout, request.idle)
    return httpx.Timeout(request.timeout, read=read)


def failure_of(error: httpx.HTTPError, request: Request) -> Unsent | Lost | ValueError:
    """Without the error of httpx, which holds the request and its token."""
    if isinstance(error, httpx.LocalProtocolError):
        return ValueError("the value cannot be sent in a header")
    failure: Unsent | Lost
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        failure = Unsent()
    else:
        failure = Lost()
    if isinstance(error, httpx.TimeoutException):
        failure.__cause__ = TimeoutError(f"The home did not answer within {request.timeout} s.")
    else:
        failure.__cause__ = ConnectionError(type(error).__name__)
    return failure


class Body:
    """Of an answer that is read whole: never more than is bearable, and never for ever."""

    def __init__(self, request: Request) -> None:
        self._until = time.monotonic() + request.timeout
        self._bytes = bytearray()

    def take(self, piece: bytes, response: httpx.Response) -> None:
        self._bytes += piece
        if len(self._bytes) > MOST_BYTES:
            raise TooLarge(response.status_code)
        # What comes in time, piece by piece, may still never end.
        if time.monotonic() > self._until:
            raise httpx.ReadTimeout("")

    def answer(self, response: httpx.Response) -> Answer:
        return Answer(response.status_code, response.headers, bytes(self._bytes))


def awaited(content: Any) -> Any:
    """An iterable as an asynchronous one."""
    if content is None or isinstance(content, bytes) or hasattr(content, "__aiter__"):
        return content

    async def pieces() -> AsyncIterator[bytes]:
        for piece in content:
            yield piece

    return pieces()
