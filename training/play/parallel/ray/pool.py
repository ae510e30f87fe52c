"""A pool of processes managed by Ray: started on this machine, or in a running cluster.

Ray carries out a call again if its process or its machine is lost meanwhile (`max_retries`); calls are functions of their
arguments, so that nobody can tell from the results. An error in a call is no loss: it comes back and is raised here.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import pickle
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import current_thread, main_thread
from typing import Any, Final, Generic, TypeVar

import ray
from parlour.envs.core import ParlourError, accept, check_from
from parlour.policies.llm.model import Model
from parlour.training.play.parallel.executor import sendable, unpacked
from ray import cloudpickle
from ray.exceptions import RayError, RayTaskError

LOCAL: Final = "local"
RETRIES: Final = 10
"""How often Ray carries out a call again whose process was lost."""
_LIMITS: Final = ("max_dollars", "max_calls", "max_seconds")
_PATIENCE: Final = 5.0
"""Seconds in which a cluster must take a connection."""
_LOOK: Final = 1.0
"""Seconds between two looks at how many cores the cluster has."""
_STORE: Final = 256 * 2**20
"""Bytes of Ray's store on this machine; what is in it at a time are a few tables and transcripts."""
_VARIABLES: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_server_port_wait_time_s": "3",  # tries to connect, of some seconds each; 20 by default
}
"""Environment variables while Ray starts."""

R = TypeVar("R")
T = TypeVar("T")


@contextmanager
def connect(address: str, workers: int | None = None, model: Model | None = None) -> Iterator[RayPool]:
    """The pool at an address. When this is left, however it is left, nothing of it runs any more.

    A session of Ray that this process has already is used as it is, and stays.

    Args:
        address: `"local"` starts processes on this machine; `"auto"` or `HOST:PORT` is a cluster that is running.
        workers: How many processes; None for as many as there are cores. In a cluster: how many calls at once.
        model: Whose usage in the processes is added to what it used here.

    Raises:
        ParlourError: There is no cluster, it cannot be used, or the model has limits, which each process would keep for
            itself.
    """
    if workers is not None:
        check_from("ray workers", workers, 1)
    _refuse_limits(model)
    if ray.is_initialized():
        yield RayPool(workers, model)
        return
    _begin(address, workers)
    try:
        pool = RayPool(None if address == LOCAL else workers, model)
        for _ in range(pool.ahead // 2):
            pool.submit(_get_ready)
        with _remembered_interrupts(pool):
            yield pool
    finally:
        ray.shutdown()


@contextmanager
def _remembered_interrupts(pool: RayPool) -> Iterator[None]:
    """An interrupt that was swallowed, because it came within a finaliser, is raised again at the pool's next call."""
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        pool.interrupted = True
        before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class RayPool:
    """Satisfies `parlour.training.play.parallel.executor.Pool`.

    Args:
        at_once: Calls that may be under way; None for twice as many as the cluster has cores.
        model: See `connect`.
    """

    def __init__(self, at_once: int | None = None, model: Model | None = None) -> None:
        self.model = model
        self.interrupted = False
        """Whether the process was interrupted since the pool was made."""
        self._at_once = at_once
        self._cores, self._looked = 1, float("-inf")

    @property
    def ahead(self) -> int:
        if self.interrupted:
            raise KeyboardInterrupt
        if self._at_once is not None:
            return self._at_once
        if time.monotonic() > self._looked + _LOOK:  # nodes come and go
            self._cores = max(1, int(ray.cluster_resources().get("CPU", 0)))
            self._looked = time.monotonic()
        return 2 * self._cores

    def submit(self, function: Callable[..., R], /, *arguments: Any) -> Future[R]:
        """Have a call carried out; cancelling the future stops it."""
        return _Pending(_task().remote(_version(), function, *arguments))

    def share(self, value: T) -> RayShared[T]:
        """Give a value to all processes. Raises `ParlourError` if it cannot be sent."""
        try:
            packed = cloudpickle.dumps(value)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ParlourError(f"this cannot be sent to other machines: {error}; accepted: what pickle takes") from None
        ref = ray.put(packed)
        return RayShared(ref.hex(), (ref,))


@dataclass(frozen=True)
class RayShared(Generic[T]):
    """A value in Ray's store."""

    key: str
    refs: tuple[Any, ...]
    """One, in a tuple: Ray would put the value in the place of a bare reference in every call."""

    def get(self) -> T:
        """This process's copy. It is unpickled, because arrays that Ray hands out cannot be written to."""
        value: T = unpacked(self.key, lambda: ray.get(self.refs[0]))
        return value

    def sendable(self, error: Exception) -> Exception:
        return sendable(error, cloudpickle.dumps)


class _Pending(Future[R]):
    """A call under way."""

    def __init__(self, ref: Any) -> None:
        super().__init__()
        self._ref = ref
        ref.future().add_done_callback(self._settle)

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled:
            ray.cancel(self._ref)
        return cancelled

    def _settle(self, done: Future[tuple[R, Exception | None]]) -> None:
        """Called by a thread of Ray's."""
        if not self.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is not None:
            self.set_exception(_told(error))
            return
        result, raised = done.result()
        if raised is not None:
            self.set_exception(raised)
        else:
            self.set_result(result)


# -- in the processes --------------------------------------------------------------------------------------------


@cache
def _task() -> Any:
    """What Ray carries out: `_carry_out`, one core for each call."""
    return ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_carry_out)


def _carry_out(version: str | None, function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """A call's result, or what it raised, in a form that can be sent back."""
    try:
        if version is not None and _version() not in (None, version):
            raise ParlourError(
                f"{socket.gethostname()} has parlour {_version()}; accepted: {version}, as on the machine that asks"
            )
        return function(*arguments), None
    except Exception as error:
        return None, sendable(error, cloudpickle.dumps)


@cache
def _version() -> str | None:
    try:
        return importlib.metadata.version("parlour")
    except importlib.metadata.PackageNotFoundError:
        return None  # on the path, without having been installed


def _get_ready() -> None:
    """Import what games need, while the first ones are put together elsewhere."""
    import parlour.training.play.parallel.blocks  # noqa: F401


# -- the cluster -------------------------------------------------------------------------------------------------


def _begin(address: str, workers: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(_VARIABLES)
    try:
        if address == LOCAL:
            own = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _STORE}
            ray.init(address=LOCAL, **own, **quiet)
        else:
            _knock(address)
            ray.init(address=address, **quiet)
    except ParlourError:
        raise
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, RayError) as error:
        ray.shutdown()
        raise ParlourError(f"no Ray at {address!r}: {_line(error)}; accepted: {_ACCEPTED}") from None
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_ACCEPTED: Final = "local, auto, or HOST:PORT of a cluster that `ray start --head` began"


# RFC 9113, section 3.4: what a client says first, an empty frame of settings at its end; a server's first frame is of settings
_SETTINGS: Final = b"\x04"
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)


def _knock(address: str) -> None:
    """Whether anybody is there who speaks HTTP/2, as Ray does: Ray itself would ask for minutes."""
    if address == "auto":
        return
    match = re.fullmatch(r"\[?([^\[\]/]+)\]?:(\d{1,5})", address)
    if match is None or not 0 < int(match[2]) < 2**16:
        raise accept("ray address", address, _ACCEPTED)
    try:
        with socket.create_connection((match[1], int(match[2])), _PATIENCE) as line:
            if os.environ.get("RAY_USE_TLS", "0") != "0":
                return
            line.sendall(_PREFACE)
            answer = line.recv(9, socket.MSG_WAITALL)  # the head of a frame
    except OSError as error:
        raise ConnectionError(error.strerror or str(error)) from None
    if answer[3:4] != _SETTINGS:
        raise ConnectionError("who answers is not Ray")


def _told(error: BaseException) -> Exception:
    """What Ray says of a call that it could not carry out, in one line."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    if "failed to import on the worker" in str(cause):
        return ParlourError("a node of the cluster cannot import parlour; accepted: nodes on which it is installed")
    return ParlourError(
        f"Ray gave a call up, after carrying it out again up to {RETRIES} times: {_line(cause)}; "
        "accepted: nodes that stay, and have memory enough"
    )


def _line(error: BaseException) -> str:
    return f"{type(error).__name__} {' '.join(str(error).split())[:300]}".strip()


def _refuse_limits(model: Model | None) -> None:
    settings = {} if model is None else model.settings()
    given = [name for name in _LIMITS if settings.get(name) is not None]
    if given:
        raise ParlourError(
            f"{', '.join(given)} cannot be kept with Ray, where each process would count for itself; accepted: no limits"
        )
