"""One question and its answer: asked again where that is safe, and honest where it is not.

Nothing here touches a socket or a clock. Each operation is a generator that yields what it wants
done, and is sent what came of it; the clients do that, one with `httpx.Client`, the other with
`httpx.AsyncClient`.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx

from .errors import HomeError, OutcomeUnknown, error_for
from .exact import dumps, loads

#: Of this package.
VERSION = "2.0.0"

TIMEOUT = 15.0
RETRIES = 4
MAX_WAIT = 60.0

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Retry:
    #: Why it is asked again.
    error: HomeError
    #: Seconds until then.
    wait: float
    #: 1 before the second try.
    tries: int


class Options(TypedDict, total=False):
    """Where a home is, and how it is asked: as the constructors of the clients say."""

    url: str | None
    timeout: float | None
    retries: int | None
    max_wait: float | None
    on_retry: Callable[[Retry], object] | None


class Call(TypedDict, total=False):
    """What every call takes."""

    #: Seconds that one try of this call may take.
    timeout: float | None
    #: Called with each response, for its status and its headers: the client reads its body.
    response: Callable[[httpx.Response], object] | None


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    #: Text, or bytes.
    headers: Mapping[str, Any]
    #: Bytes, or an iterable of them.
    content: Any
    #: Seconds until the answer has begun and, unless it is a stream, is whole.
    timeout: float
    #: Seconds that each piece of a stream may take; None: no stream is wanted.
    idle: float | None
    response: Callable[[httpx.Response], object] | None


@dataclass(frozen=True)
class Send:
    """Wants the Answer to a request. Raises Unsent or Lost."""

    request: Request


@dataclass(frozen=True)
class Take:
    """Wants the next piece of a stream; None at its end. Raises Lost."""

    stream: Any


@dataclass(frozen=True)
class Drop:
    """Wants a stream closed."""

    stream: Any


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Ask:
    """Wants what a function of the caller returns or, to an async client, awaits."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Give:
    """The items of a list, page by page."""

    items: list[Any]


Effect = Send | Take | Drop | Sleep | Ask | Give
Op = Generator[Effect, Any, T]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    #: Of a success, where one was wanted.
    stream: Any = None


class Unsent(Exception):
    """No connection was made, so it did nothing."""


class Lost(Exception):
    """It may have arrived, and no answer came, or not all of it."""


class TooLarge(Exception):
    """The answer is longer than is bearable."""

    def __init__(self, status: int) -> None:
        self.status = status


#: A batch of a hundred memories, all of their characters escaped, is shorter.
MOST_BYTES = 16 * 1024 * 1024


def backoff(tries: int, first: float, most: float) -> float:
    """Seconds: longer with every try, and by chance, so that those who met do not meet again."""
    return random.random() * min(most, first * 2.0**tries)


def _backoff(tries: int) -> float:
    return backoff(tries, 0.2, 5.0)


def call(function: Callable[..., Any], *arguments: Any) -> Op[Any]:
    return (yield Ask(function, arguments))


def sleep(seconds: float) -> Op[None]:
    yield Sleep(seconds)


def collected(op: Op[Any]) -> Op[list[Any]]:
    """The items that an operation gives, as a list."""
    found: list[Any] = []
    result: Any = None
    failure: BaseException | None = None
    while True:
        try:
            effect = op.throw(failure) if failure else op.send(result)
        except StopIteration:
            return found
        result, failure = None, None
        if isinstance(effect, Give):
            found.extend(effect.items)
            continue
        try:
            result = yield effect
        except Exception as error:
            failure = error


def address_of(url: str | None) -> str:
    """Raises ValueError without the address, which may hold credentials."""
    if not url:
        raise ValueError("url is missing: pass it, or set AGENT_HOME_URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        parts, host, port = urlsplit(""), None, None
    if not parts.scheme or not host:
        raise ValueError("url must be an address, such as https://home.example")
    if parts.scheme not in ("http", "https"):
        raise ValueError("url must be http or https")
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must hold no credentials")
    named = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{named}" + ("" if port is None else f":{port}")
    return origin + parts.path.rstrip("/")


def require_token(token: str) -> str:
    """A header with anything else in it would be quoted in somebody's error."""
    if re.fullmatch(r"[\x21-\x7e]*", token):
        return token
    raise ValueError("token must be visible ASCII characters alone")


def run_of(run: str | None) -> bytes:
    """As a header has it: empty if none is told. Raises ValueError."""
    told = (os.environ.get("AGENT_HOME_RUN") or "" if run is None else run).strip()
    if len(told) <= 80 and (told == "" or told.isprintable()):
        return told.encode()
    raise ValueError("run must have 1 to 80 visible characters")


def token_of(token: str | None) -> str:
    token = os.environ.get("AGENT_HOME_TOKEN") if token is None else token
    if not token:
        raise ValueError("token is missing: pass it, or set AGENT_HOME_TOKEN")
    return token


Settled = tuple[Literal["made"], Any] | Literal["not made", "unknown"]
"""What became of a change whose answer was lost, where a later refusal lets it be found out."""

Settle = Callable[[HomeError], Op[Settled]]

Query = Mapping[str, str | int | bool | None]


@dataclass(frozen=True)
class Asked:
    #: Below /api/agents.
    path: str
    method: Literal["GET", "POST", "PATCH", "DELETE"] = "GET"
    query: Query = field(default_factory=dict)
    #: Sent as JSON.
    body: Mapping[str, Any] | None = None
    #: Sent as it is, JSON already.
    upload: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: It changes nothing, whatever its method.
    reads: bool = False
    #: Repeated it would be made twice: it is not, once it may have arrived.
    once: bool = False
    #: But it is repeated after all where the home knows the Idempotency-Key of an append.
    keyed: bool = False
    #: Can be sent only once: a stream that was read is gone.
    spent: bool = False
    #: Asked when a refusal follows a lost answer.
    settle: Settle | None = None
    #: Seconds that each piece may take, where a stream is wanted.
    idle: float | None = None


@dataclass(frozen=True)
class _Failure:
    kind: Literal["refused", "unsent", "lost"]
    error: HomeError


def _is_json(answer: Answer) -> bool:
    kind = answer.headers.get("content-type", "")
    return re.match(r"application/(problem\+)?json\b", kind) is not None


def _foreign(status: int) -> HomeError:
    detail = f"This is not an answer from an Agent Home (status {status}). Is the address right?"
    return HomeError(status=status, code=f"http_{status}", detail=detail)


def _no_answer(detail: str, cause: BaseException | None) -> HomeError:
    error = HomeError(status=0, code="no_answer", detail=detail)
    error.__cause__ = cause
    return error


def cut_off(cause: BaseException | None) -> HomeError:
    return _no_answer("The connection broke before the answer was complete.", cause)


def _seconds_in(header: str | None) -> int | None:
    return int(header) if header and re.fullmatch(r"[0-9]{1,6}", header) else None


#: The home says so, or a proxy before it that cannot know.
_MAY_HAVE_HAPPENED = re.compile(r"outcome_unknown|http_50[234]")


def _passes(error: HomeError) -> bool:
    """Refusals that time heals: room for more is not made by waiting."""
    return error.status in (429, 503) and not error.code.endswith("_quota_reached")


class Transport:
    """Where a home is and who asks; what is asked again, and how often."""

    def __init__(
        self,
        token: str,
        *,
        url: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        max_wait: float | None = None,
        on_retry: Callable[[Retry], object] | None = None,
        run: bytes = b"",
    ) -> None:
        self.address = address_of(os.environ.get("AGENT_HOME_URL") if url is None else url)
        self._token = require_token(token)
        self._run = run
        self._timeout = TIMEOUT if timeout is None else timeout
        self._retries = RETRIES if retries is None else retries
        self._max_wait = MAX_WAIT if max_wait is None else max_wait
        self._on_retry = on_retry
        #: Whether the home knows the Idempotency-Key of an append: asked once an answer was lost.
        self._knows_keys: bool | None = None

    def ask(self, asked: Asked, options: Call | None = None) -> Op[Any]:
        """The JSON of the answer, or its stream. Raises HomeError and OutcomeUnknown."""
        is_lost = False
        tries = 0
        while True:
            failed = None
            try:
                if is_lost and asked.keyed:
                    yield from self._require_keys()
                answer = yield Send(self._request_of(asked, options or {}))
                return self._value_in(answer, asked)
            except (Unsent, Lost, TooLarge, HomeError) as error:
                failed = _failure_of(error)
            is_lost = is_lost or failed.kind == "lost"
            pause = self._pause_after(asked, failed, tries) if tries < self._retries else None
            if pause is None:
                return (yield from _conclude(asked, failed, is_lost))
            tries += 1
            if self._on_retry:
                self._on_retry(Retry(error=failed.error, wait=pause, tries=tries))
            yield Sleep(pause)

    def _require_keys(self) -> Op[None]:
        """Homes before 2.1 would append again. Raises HomeError."""
        if self._knows_keys is None:
            asked = Asked("/preview")
            preview = self._value_in((yield Send(self._request_of(asked, {}))), asked)
            self._knows_keys = "appendKeys" in preview.get("limits", {})
        if not self._knows_keys:
            detail = "The home did not answer, and it is too old to be asked again."
            raise HomeError(status=0, code="no_answer", detail=detail)

    def _request_of(self, asked: Asked, options: Call) -> Request:
        given = {name: value for name, value in asked.query.items() if value is not None}
        words = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in given.items()
        }
        query = f"?{urlencode(words, errors='replace')}" if words else ""
        content = asked.upload if asked.body is None else dumps(asked.body).encode()
        timeout = options.get("timeout")
        return Request(
            method=asked.method,
            url=f"{self.address}/api/agents{asked.path}{query}",
            headers={
                "user-agent": f"agent-home-client-python/{VERSION}",
                **({"authorization": f"Bearer {self._token}"} if self._token else {}),
                **({"agent-run": self._run} if self._run else {}),
                **({} if content is None else {"content-type": "application/json"}),
                **asked.headers,
            },
            content=content,
            timeout=self._timeout if timeout is None else timeout,
            idle=asked.idle,
            response=options.get("response"),
        )

    def _value_in(self, answer: Answer, asked: Asked) -> Any:
        if not 200 <= answer.status < 300:
            raise self._refusal_in(answer)
        if asked.idle is not None:
            return answer.stream
        if not _is_json(answer):
            raise _foreign(answer.status)
        return _parsed(answer.body.decode(errors="replace"))

    def _refusal_in(self, answer: Answer) -> HomeError:
        status = answer.status
        if 300 <= status < 400:
            detail = (
                "The home is at another address. The token was not sent there: "
                "set url to the new address."
            )
            return HomeError(status=status, code="redirected", detail=detail)
        if not _is_json(answer):
            return _foreign(status)
        text = answer.body.decode(errors="replace")
        # A proxy may echo it.
        problem = _parsed(text.replace(self._token, "…") if self._token else text)
        if not (
            isinstance(problem, dict)
            and isinstance(problem.get("code"), str)
            and isinstance(problem.get("detail"), str)
        ):
            return _foreign(status)
        return error_for(status, problem, _seconds_in(answer.headers.get("retry-after")))

    def _pause_after(self, asked: Asked, failed: _Failure, tries: int) -> float | None:
        """None: it is not asked again."""
        if asked.spent:
            return None
        if failed.kind == "lost":
            return None if asked.once and not asked.keyed else _backoff(tries)
        if failed.kind == "unsent":
            return _backoff(tries)
        seconds = failed.error.retry_after
        if not _passes(failed.error) or seconds is None or seconds > self._max_wait:
            return None
        # Those who were told the same second do not come back in the same moment.
        return seconds + _backoff(0)


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        raise Lost(str(error)) from None


def _failure_of(error: Unsent | Lost | TooLarge | HomeError) -> _Failure:
    if isinstance(error, Unsent):
        detail = "There is no answer from this address."
        return _Failure("unsent", _no_answer(detail, error.__cause__))
    if isinstance(error, Lost):
        return _Failure("lost", _no_answer("The home did not answer.", error.__cause__))
    if isinstance(error, TooLarge):
        detail = f"The answer is longer than {MOST_BYTES} bytes and was not read."
        too_large = HomeError(status=error.status, code="answer_too_large", detail=detail)
        return _Failure("refused", too_large)
    is_unsure = error.status >= 300 and _MAY_HAVE_HAPPENED.fullmatch(error.code)
    return _Failure("lost" if is_unsure else "refused", error)


def _conclude(asked: Asked, failed: _Failure, is_lost: bool) -> Op[Any]:
    """What the caller is told in the end. `is_lost`: an answer was lost on the way."""
    if not is_lost or asked.method == "GET" or asked.reads:
        raise failed.error
    settled: Settled = "unknown"
    if failed.kind == "refused" and asked.settle:
        try:
            settled = yield from asked.settle(failed.error)
        except HomeError:
            settled = "unknown"
    if settled == "not made":
        raise failed.error
    if settled != "unknown":
        return settled[1]
    raise OutcomeUnknown from failed.error
