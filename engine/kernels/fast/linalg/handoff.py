"""The hand-over of shards between threads in compiled code, without the interpreter and its lock.

Workers sit in :func:`worker` and sleep on a futex; :func:`leader` publishes the shards of a call, takes some
itself and returns when all are done. Shards are taken by compare-and-swap on a ticket that holds the number
of the call next to the next shard: a worker that wakes up late finds another number there, and discards the
values that it read of the former call. Linux only; elsewhere the pool hands over in Python.
"""

from __future__ import annotations

import atexit
import ctypes
import platform
import sys
import threading
from typing import Any

from llvmlite import ir

from engine.kernels.fast.compiler import function
from engine.kernels.fast.vectors import I64, POINTER, Builder, Local, Value
from resources import threads

# Places in the shared state, in 64-bit integers. Words of different threads are 128 bytes apart.
_SYSCALL, _NUMBER, _CALLED, _WITH = 0, 1, 2, 3  # set by Python: libc's syscall, futex's number, the next call
_FUNCTION, _ARGS, _COUNT, _PARTS = 16, 17, 18, 19  # the call that is published
_TICKET = 32  # number of the call << 32 | next shard
_DONE, _WAITS = 48, 49  # shards that are done; whether the leader sleeps
_WAKE, _SLEEPERS = 64, 65  # counts the times of waking; workers that may sleep
_KEEP = 80  # workers from this number on leave
_WORDS = 96

_CLOSED = 0x7FFFFFFF  # no shard has this number: a call is being published
_SLEEP, _WAKE_UP = 128, 129  # FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE
_FUTEX = {"x86_64": 202, "aarch64": 98}
# Looks at the ticket before a worker sleeps, and at the last shards before the leader does: some 50 us, as
# the interpreter and small operators need between two calls. To sleep and to be woken takes more of the time
# of both threads: with 8 us a step of LeNet took 1.04 ms of two threads, with 24 us 0.94, with 50 us 0.90.
_LOOKS = 2000


def supported() -> bool:
    """Whether this system has a futex whose number is known."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


class Crew:
    """Threads that run compiled code, and the state that they share with the caller."""

    def __init__(self) -> None:
        self._leader, self._worker = function("handoff leader", leader), function("handoff worker", worker)
        self._threads: list[threading.Thread] = []
        libc = ctypes.CDLL(None)
        libc.aligned_alloc.restype = ctypes.c_void_p
        # Never freed: a worker may look at it until the process ends.
        self.address: int = libc.aligned_alloc(ctypes.c_size_t(128), ctypes.c_size_t(_WORDS * 8))
        self._words = (ctypes.c_int64 * _WORDS).from_address(self.address)
        for n in range(_WORDS):
            self._words[n] = 0
        self._syscall = libc.syscall
        self._words[_SYSCALL] = ctypes.cast(libc.syscall, ctypes.c_void_p).value or 0
        self._words[_NUMBER] = _FUTEX[platform.machine()]
        self._words[_TICKET] = _CLOSED
        atexit.register(self.resize, 0)  # before the compiled code goes

    @property
    def ready(self) -> bool:
        """Whether the code is compiled."""
        return self._leader.address is not None and self._worker.address is not None

    def wait(self, seconds: float) -> bool:
        """Wait for the code; returns whether it is available."""
        return self._leader.wait(seconds) and self._worker.wait(seconds)

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self._threads)

    def resize(self, count: int) -> None:
        """Set the number of workers. Not during a call."""
        leaving = self._threads[count:]
        del self._threads[count:]
        self._words[_KEEP] = count
        if leaving:
            self._words[_WAKE] += 1
            place = ctypes.c_void_p(self.address + 8 * _WAKE)
            number = ctypes.c_long(self._words[_NUMBER])
            self._syscall(number, place, ctypes.c_long(_WAKE_UP), ctypes.c_long(1 << 30), None)
            for thread in leaving:
                thread.join()
        for n in range(len(self._threads), count):
            name = f"compiled-kernels-{n + 1}"
            thread = threading.Thread(
                target=self._worker.call, args=(self.address, n, 0), name=name, daemon=True
            )
            threads.start(thread)
            self._threads.append(thread)

    def call(self, address: int, args: int, parts: int, count: int) -> None:
        """The function at ``address`` over the shards [0, count) in ``parts``; one call at a time."""
        words = self._words
        words[_CALLED], words[_WITH] = address, args
        self._leader.call(self.address, parts, count)


class _Writer:
    """One of the two functions while it is written."""

    def __init__(self, module: ir.Module, name: str) -> None:
        kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64])
        self.function = ir.Function(module, kind, name)
        self.function.attributes.add("nounwind")
        self.state, self.begin, self.end = self.function.args
        self.builder: Builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.module = module

    def block(self, name: str) -> Any:
        return self.function.append_basic_block(name)

    def at(self, slot: int) -> Value:
        place = self.builder.add(self.builder.ptrtoint(self.state, I64), I64(8 * slot))
        return self.builder.inttoptr(place, I64.as_pointer())  # atomic operations ask llvmlite for the type

    def get(self, slot: int) -> Value:
        return self.builder.load_atomic(self.at(slot), "seq_cst", 8, typ=I64)

    def put(self, slot: int, value: Value) -> None:
        self.builder.store_atomic(value, self.at(slot), "seq_cst", 8)

    def add(self, slot: int, value: int) -> Value:
        """Add to a word; returns its former value."""
        return self.builder.atomic_rmw("add", self.at(slot), I64(value), "seq_cst")

    def futex(self, slot: int, what: int, value: Value) -> None:
        kind = ir.FunctionType(I64, [I64], var_arg=True)
        called = self.builder.inttoptr(self.get(_SYSCALL), kind.as_pointer())
        place = self.builder.ptrtoint(self.at(slot), I64)
        self.builder.call(called, [self.get(_NUMBER), place, I64(what), value, I64(0), I64(0), I64(0)])

    def pause(self) -> None:
        if platform.machine() == "x86_64":
            name = "llvm.x86.sse2.pause"
            found = self.module.globals.get(name)
            if found is None:
                found = ir.Function(self.module, ir.FunctionType(ir.VoidType(), []), name)
            self.builder.call(found, [])
        else:
            self.builder.fence("seq_cst")

    def look_again(self, looks: Local, again: Any, otherwise: Any) -> None:
        """After a short pause go to ``again`` while there are ``looks`` left, of which this takes one."""
        b = self.builder
        looks.set(b.sub(looks.get(), I64(1)))
        self.pause()
        b.cbranch(b.icmp_signed(">", looks.get(), I64(0)), again, otherwise)

    def take(self, none: Any) -> None:
        """Take a shard and do it, and come here again; to ``none`` where there is no shard to take."""
        b = self.builder
        head, read, mine, last, again = (
            self.block(name) for name in ("take", "read", "mine", "last", "again")
        )
        b.branch(head)
        b.position_at_end(head)
        ticket = self.get(_TICKET)
        shard = b.and_(ticket, I64(0xFFFFFFFF))
        parts = self.get(_PARTS)
        b.cbranch(b.icmp_signed("<", shard, parts), read, none)
        b.position_at_end(read)
        address, args, count = self.get(_FUNCTION), self.get(_ARGS), self.get(_COUNT)
        took = b.cmpxchg(self.at(_TICKET), ticket, b.add(ticket, I64(1)), "seq_cst", "seq_cst")
        b.cbranch(b.extract_value(took, 1), mine, again)
        b.position_at_end(again)
        b.branch(head)
        b.position_at_end(mine)
        start = b.sdiv(b.mul(count, shard), parts)
        stop = b.sdiv(b.mul(count, b.add(shard, I64(1))), parts)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64])
        b.call(b.inttoptr(address, kind.as_pointer()), [b.inttoptr(args, POINTER), start, stop])
        done = b.add(self.add(_DONE, 1), I64(1))
        waits = b.icmp_signed("!=", self.get(_WAITS), I64(0))
        b.cbranch(b.and_(b.icmp_signed("==", done, parts), waits), last, again)
        b.position_at_end(last)
        self.futex(_DONE, _WAKE_UP, I64(1))
        b.branch(again)


def worker(module: ir.Module, name: str) -> ir.Function:
    """``void worker(state, number, unused)``: does shards until ``state[_KEEP]`` is not above its number."""
    w = _Writer(module, name)
    b = w.builder
    top, none, look, sleep, deep, out = (w.block(n) for n in ("top", "none", "look", "sleep", "deep", "out"))
    looks = Local(b, I64(0))
    b.branch(top)
    b.position_at_end(top)
    looks.set(I64(_LOOKS))
    spin = w.block("spin")
    b.branch(spin)
    b.position_at_end(spin)
    w.take(none)
    b.position_at_end(none)
    b.cbranch(b.icmp_signed(">", w.get(_KEEP), w.begin), look, out)
    b.position_at_end(look)
    w.look_again(looks, spin, sleep)
    # It counts itself among the sleepers before it looks for the last time: either it sees the work that the
    # leader publishes, or the leader sees that a worker has to be woken.
    b.position_at_end(sleep)
    w.add(_SLEEPERS, 1)
    before = w.get(_WAKE)
    shard = b.and_(w.get(_TICKET), I64(0xFFFFFFFF))
    idle = b.icmp_signed(">=", shard, w.get(_PARTS))
    stays = b.icmp_signed(">", w.get(_KEEP), w.begin)
    b.cbranch(b.and_(idle, stays), deep, top)
    b.position_at_end(deep)
    w.futex(_WAKE, _SLEEP, b.and_(before, I64(0xFFFFFFFF)))
    b.branch(top)
    b.position_at_end(out)
    b.ret_void()
    return w.function


def leader(module: ir.Module, name: str) -> ir.Function:
    """``void leader(state, parts, count)``: the function and arguments in ``state`` over [0, count)."""
    w = _Writer(module, name)
    b = w.builder
    looks = Local(b, I64(_LOOKS))
    number = b.shl(b.add(b.lshr(w.get(_TICKET), I64(32)), I64(1)), I64(32))
    w.put(_TICKET, b.or_(number, I64(_CLOSED)))
    for slot, value in (
        (_FUNCTION, w.get(_CALLED)),
        (_ARGS, w.get(_WITH)),
        (_COUNT, w.end),
        (_PARTS, w.begin),
        (_DONE, I64(0)),
        (_WAITS, I64(0)),
    ):
        w.put(slot, value)
    w.put(_TICKET, number)
    call, work, none, look, wait, deep, out = (
        w.block(n) for n in ("wake", "work", "none", "look", "wait", "deep", "out")
    )
    sleepers = b.atomic_rmw("xchg", w.at(_SLEEPERS), I64(0), "seq_cst")  # they are woken once
    b.cbranch(b.icmp_signed(">", sleepers, I64(0)), call, work)
    b.position_at_end(call)
    w.add(_WAKE, 1)
    w.futex(_WAKE, _WAKE_UP, b.sub(w.begin, I64(1)))
    b.branch(work)
    b.position_at_end(work)
    w.take(none)
    b.position_at_end(none)
    b.cbranch(b.icmp_signed("==", w.get(_DONE), w.begin), out, look)
    b.position_at_end(look)
    w.look_again(looks, none, wait)
    b.position_at_end(wait)
    w.put(_WAITS, I64(1))
    done = w.get(_DONE)
    b.cbranch(b.icmp_signed("==", done, w.begin), out, deep)
    b.position_at_end(deep)
    w.futex(_DONE, _SLEEP, done)
    b.branch(wait)
    b.position_at_end(out)
    b.ret_void()
    return w.function
