"""Whether the events of a vault can be trusted → when to look at it, and how often without them.

In: a `Watch`, the time, what looks found. Out: the next look, and a line for each thing that went wrong.
Deafness makes no sound, so it is looked for: by a root that is another folder, folders without a watch,
a probe without an echo, changes that no event told of. What a new watch does not mend, polling does.
"""

from __future__ import annotations

import errno
import random
import time
from dataclasses import dataclass
from pathlib import Path

from huimem.folders import identity
from huimem.vault import coverage
from huimem.vault.watch import Watch

EVENTS, POLLING, WAITING = "events", "polling", "waiting"
POLL_COST = 10  # polling takes at most a tenth of the time
MOST_WAITS = 5  # so often folders may lack a watch while events still stream in
DEAF = 2  # so many signs of deafness in a row, and polling takes over

_LIMITS = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}
_GONE = "the vault's folder is not there: nothing is changed until it is back"
_BACK = "the vault's folder is another one, or back again: looking at everything"
_DROPPED = "too many changes at once: the system dropped events; looked at everything"
_ENDED = "the thread that brings events had ended"
_SILENT = "events do not arrive"
_UNHEARD = "changes come without events"


@dataclass(frozen=True, slots=True)
class Pace:
    """How often what is done, in seconds.

    A look follows events after `quiet`, `burst` after the first at the latest; without any after
    `look`. `beat`: the root is looked at, the heart beats; `settle`: a new folder gets its watch;
    `probe`: events are tried, to come within `answer`; `poll`: at least between two looks without
    events; `again`: events are tried again; `backoff`: at most after a failure; `wait`: for the
    index; `lease`: for another watcher; `embed`: a slice of vectors; `tell`: between words of them.
    """

    quiet: float = 0.3
    burst: float = 2.0
    look: float = 60.0
    beat: float = 0.5
    settle: float = 1.0
    probe: float = 60.0
    answer: float = 2.0
    poll: float = 1.0
    again: float = 180.0
    backoff: float = 30.0
    wait: float = 2.0
    lease: float = 1.0
    embed: float = 20.0
    tell: float = 10.0


class Hearing:
    """How far a vault's events can be trusted at the moment. All times are monotonic seconds.

    `why` says what keeps events away while polling. `noticed` gathers what is to be said once.
    """

    def __init__(self, root: Path, watch: Watch, pace: Pace) -> None:
        self._root, self._watch, self._pace = root, watch, pace
        self._identity = identity(root)
        self._polling = False
        self._signs = {_SILENT: 0, _ENDED: 0, _UNHEARD: 0}  # of deafness, in a row
        self._caught_up = False  # whether this observer has seen a look to its end
        self._look_at = 0.0  # the next look, whether events come or not
        self._again_at: float | None = None  # when events are tried again
        self._check_at: float | None = None  # when new folders must have their watch
        self._waits = 0
        self._probe_at = 0.0
        self._answer_by: float | None = None
        self._doubt: tuple[float, float] | None = None  # since when, until when an event may come late
        self.why = ""
        self.noticed: list[str] = []
        kind = coverage.far_file_system(root)
        if kind:
            self._poll(f"the vault lies on {kind}, where changes made elsewhere give no events", again=False)
        else:
            self._arm()

    @property
    def mode(self) -> str:
        """How changes are noticed: "events", "polling", or "waiting" for a root that is gone."""
        if self._identity is None:
            return WAITING
        return POLLING if self._polling else EVENTS

    @property
    def wrong(self) -> tuple[str, ...]:
        """What is not as it should be at the moment."""
        if self._identity is None:
            return (_GONE,)
        return (f"{self.why}: looking every second or so instead",) if self._polling else ()

    def turn(self) -> bool:
        """See whether all is well and mend what is not; whether it is time for a look.

        Then new folders have their watch already: what changes after the look is heard.
        """
        if not self._root_stands():
            return False
        now = time.monotonic()
        if self._watch.overflowed.is_set():
            self._watch.overflowed.clear()
            self.noticed.append(_DROPPED)
        if not self._polling:
            self._see_to_events(now)
        elif self._again_at is not None and now >= self._again_at and self._arm():
            self._cover()
        event = self._event_due()
        due = now >= self._look_at or (event is not None and now >= event)
        if due and not self._polling:
            self._arrange()
        return due

    def pause(self) -> float:
        """Seconds until something is to be done, `Pace.beat` at most."""
        now = time.monotonic()
        times = [self._check_at, self._answer_by, self._event_due(), self._look_at]
        if self._identity is None:
            return self._pace.beat
        return max(0.0, min(self._pace.beat, *(at - now for at in times if at is not None)))

    def looked(self, start: float, *, changed: bool, announced: bool, again: float | None = None) -> None:
        """A look that began at `start` has ended; whether it `changed` anything, and events came before.

        `again`: the seconds after which it wants to be taken again.
        """
        now = time.monotonic()
        usual = self._interval(now - start)
        self.look_in(usual if again is None else min(usual, again))
        if self._polling:
            return
        if changed and announced:
            self._signs[_UNHEARD] = 0
        elif changed and self._caught_up and self._doubt is None:
            self._doubt = (start, now + self._pace.settle)
        self._caught_up = True
        if changed or announced:
            self._cover()

    def look_in(self, seconds: float) -> None:
        """Look after so many seconds even if no event comes."""
        self._look_at = time.monotonic() + seconds

    def _interval(self, cost: float) -> float:
        if self._polling:
            return max(self._pace.poll, POLL_COST * cost)
        return self._pace.look * random.uniform(0.9, 1.1)

    def _event_due(self) -> float | None:
        return None if self._polling else self._watch.due(self._pace.quiet, self._pace.burst)

    def _root_stands(self) -> bool:
        """Whether the vault's folder is there; watched anew where it is another one or back again."""
        found, before = identity(self._root), self._identity
        self._identity = found
        if found is not None and found != before:
            self.noticed.append(_BACK)
            self._rearm()
        return self._identity is not None

    def _see_to_events(self, now: float) -> None:
        """Threads, watches, the probe, changes that no event told of: one of them at a time."""
        if not self._watch.alive:
            self._doubted(_ENDED)
        elif self._check_at is not None and now >= self._check_at:
            self._cover()
        elif self._doubt is not None and now >= self._doubt[1]:
            self._resolve(self._doubt[0])
        elif self._answer_by is not None:
            self._hear_echo(self._answer_by, now)
        elif now >= self._probe_at:
            self._probe_at = now + self._pace.probe
            self._answer_by = now + self._pace.answer if self._watch.probe() else None

    def _hear_echo(self, until: float, now: float) -> None:
        if self._watch.answered.is_set():
            self._answer_by = None
            self._signs |= {_SILENT: 0, _ENDED: 0}
        elif now >= until:
            self._doubted(_SILENT)

    def _resolve(self, since: float) -> None:
        """What a look found before any event: did one come late?"""
        self._doubt = None
        if self._watch.last_event is None or self._watch.last_event < since:
            self._doubted(_UNHEARD)

    def _doubted(self, why: str) -> None:
        """A sign of deafness: watch anew, and after the second in a row poll."""
        self._signs[why] += 1
        if self._signs[why] >= DEAF:
            self._poll(why)
            return
        self.noticed.append(f"{why}: watching anew")
        self._rearm()

    def _rearm(self) -> None:
        """Watch anew by whatever suits, and look at everything."""
        self._look_at = 0.0
        if not self._polling or self._again_at is not None:
            self._arm()

    def _arm(self) -> bool:
        """Watch by events; polling takes over where the system does not allow it."""
        try:
            self._watch.arm()
        except (FileNotFoundError, NotADirectoryError):
            self._identity = None  # back at the next turn, or gone
            return False
        except (OSError, RuntimeError) as error:
            self._poll(refusal(error))
            return False
        now = time.monotonic()
        self._polling, self.why, self._again_at, self._caught_up = False, "", None, False
        self._watch.uncovered()
        self._check_at, self._probe_at = now + self._pace.settle, now
        self._answer_by = self._doubt = None
        return True

    def _poll(self, why: str, *, again: bool = True) -> None:
        """Look by the clock from now on; events are tried `again` after a while."""
        self._watch.disarm()
        now = time.monotonic()
        self._polling, self.why, self._signs = True, why, dict.fromkeys(self._signs, 0)
        self._again_at = now + self._pace.again if again else None
        self._check_at = self._answer_by = self._doubt = None
        self._look_at = min(self._look_at, now)

    def _cover(self) -> None:
        """See that every folder has its watch; if not, watch anew, and poll if that does not help."""
        self._check_at = None
        missing = self._uncovered()
        if not missing or self._polling:
            self._waits = 0
            return
        if self._still_hearing() or not self._arm():
            return
        if self._uncovered():
            self._poll(limit_reached("max_user_watches"))
            return
        self.noticed.append(f"folders without a watch: {missing:,}; watching anew")
        self._look_at = 0.0

    def _still_hearing(self) -> bool:
        """Whether events stream in, among which that of a new folder may be; not believed for ever."""
        now = time.monotonic()
        streaming = self._watch.heard > now - self._pace.settle and self._waits < MOST_WAITS
        self._waits = self._waits + 1 if streaming else 0
        if streaming:
            self._check_at = now + self._pace.settle
        return streaming

    def _uncovered(self) -> int:
        before = self._watch.folders
        if self._arrange():
            self._look_at = 0.0
        if self._polling:
            return 0
        missing = self._watch.uncovered()
        if self._watch.folders != before:
            self._check_at = time.monotonic() + self._pace.settle
        return missing

    def _arrange(self) -> bool:
        """Whether folders got a watch that had none; polling takes over where the system gives none."""
        try:
            return self._watch.arrange()
        except (OSError, RuntimeError) as error:
            self._poll(refusal(error))
            return False


def limit_reached(name: str) -> str:
    """That the system gives no more watches, by the name of its limit and the present value."""
    value = coverage.limit(name)
    return f"the system's limit is reached (fs.inotify.{name} = {'unknown' if value is None else value})"


def refusal(error: Exception) -> str:
    """Why there are no events, from what the system answered."""
    number = error.errno if isinstance(error, OSError) else None
    name = _LIMITS.get(number or 0)
    return limit_reached(name) if name else f"the system gives no events ({error})"
