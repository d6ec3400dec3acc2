"""Workers that find no task: phases of fruitless rounds, sleep, and who wakes whom (model 4.15).

A round is a searching worker's probes (looks at queues) from one wait to the next. The rules list phases of rounds,
each with its number of rounds or its time, and its wait; after the last one the worker may sleep. A taker of a queue is
a worker that can take tasks from it. A queue is covered if one of its takers searches.

Interpretations of the model that are decided here:

- A worker sleeps only if it may take any task that it finds: not while a task of it waits in a join `own`, `strict` or
  `leapfrog`.
- A worker announces its sleep at the instant at which its search ends. From then on others may choose it as the sleeper
  to wake. A worker that is chosen during its last look at the queues searches on when the look ends.
- The actor that wakes a sleeper first pays the overhead that it owes; the wake-up time begins after this payment.
- A sleeper whose nested join ends is woken by the worker that ends the last awaited task.
- When a phase of the program begins, worker 0 wakes, one by one, the workers of its team that still sleep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from numasim.engine.observe.watch import Watched
from numasim.engine.reference.actors import Producer, Sleep, Worker
from numasim.engine.reference.clock import LOOK, POLL, WAKE
from numasim.engine.reference.liveness import Liveness
from numasim.engine.reference.memory.memory_system import MemorySystem
from numasim.engine.reference.run_state import Component, RunState
from numasim.engine.reference.sync.queue_lines import QueueLines
from numasim.schema.enumerations import Reach
from numasim.strategy.idle import BOUND_JOINS, NEVER_PS, Phase
from numasim.strategy.picking import candidates, in_force
from numasim.strategy.steal_plan import decode_levels

NO_TASK = 2**64 - 1  # in place of a task, in the record of the event at which a worker wakes


class Takers(NamedTuple):
    """The takers of a queue as bits: ``now`` those at present, ``sure`` those until the program's iteration ends."""

    sure: int
    now: int


class Resting(Component):
    """Applies the rules for idle workers of a plan."""

    def __init__(
        self,
        run: RunState,
        memory: MemorySystem,
        liveness: Liveness,
        lines: QueueLines | None,
        proceed: Callable[[Worker], None],
    ) -> None:
        """``proceed`` is called with a worker that searches again."""
        super().__init__(run)
        assert run.plan.idle is not None
        self._rule = rule = run.plan.idle
        self._activity_changed = memory.work.activity_changed
        self._liveness = liveness
        self._lines = lines
        self._proceed = proceed
        self._sleeps_in_joins = run.plan.join not in BOUND_JOINS
        self._everybody = Takers(*[(1 << len(run.workers)) - 1] * 2)
        # [queues] the takers as owners, then by each steal level; all empty if every worker takes from every queue
        own, *by_level = [
            [Takers(_bits(row == Reach.ALWAYS), _bits(row != Reach.NEVER)) for row in part] for part in rule.reach
        ] or [[]]
        self._owners = own
        self._levels = list(zip(decode_levels(run.plan.steal)[0], by_level, strict=False))
        by_searchers = rule.cap > 0 or rule.at in ("no-searcher", "uncovered") or rule.chain_by == "last-searcher"
        # whether workers count the searching ones in a shared word: some rule depends on their number
        self._counts = (rule.sleeps and by_searchers) or any(phase.crowded for phase in rule.phases)
        self._hidden = run.plan.steal.queues["hidden"].tolist()
        self._searching = 0  # bits of the workers that search
        self._covering = 0  # bits of the searching workers that may take every task
        self._sleepers: list[int] = []  # announced or asleep workers, in the order of announcements
        self._pushes = 0  # tasks put into queues that are not hidden
        self._joining: dict[int, int] = {}  # {task that waits in a join: the worker that sleeps in this join}
        self._on_checked = run.clock.reaction(self._checked)
        self._on_paid = run.clock.reaction(self._settle)
        self._on_woken = run.clock.reaction(self._woken)
        self._on_timeout = run.clock.reaction(self._timed_out)

    # ---- searching -------------------------------------------------------------------------------------------------

    def begin_search(self, w: Worker) -> None:
        """Let an idle worker search, unless it may sleep, too many workers search and it has no task to begin."""
        w.pushes_seen = -1
        w.timeouts = 0
        if not self._may_sleep(w) or self._has_room(w) or self._keeps_tasks(w):
            self._join(w)

    def _keeps_tasks(self, w: Worker) -> bool:
        return w.reserved >= 0 or (w.own is not None and self._queues.length[w.own] > 0)

    def may_search(self, w: Worker) -> bool:
        """Tell whether the worker is one of the searching workers."""
        return bool(self._searching >> w.id & 1)

    def _has_room(self, w: Worker) -> bool:
        rule, searchers = self._rule, self._searching.bit_count()
        if not rule.cap:
            return True
        if rule.cap_of == "count":
            return searchers < rule.cap
        some = len(self._workers) if rule.cap_of == "share" else sum(not each.idle for each in self._workers)
        return rule.cap * searchers < some

    def _may_sleep(self, w: Worker) -> bool:
        return self._rule.sleeps and not self._is_bound(w)

    def _is_bound(self, w: Worker) -> bool:
        """Tell whether a task waits on the worker's stack, in a join that allows only some tasks (`BOUND_JOINS`)."""
        return not self._sleeps_in_joins and bool(w.stack)

    def _join(self, w: Worker) -> None:
        """Count the worker among the searching workers."""
        if not self.may_search(w):
            self._count_in(w)
            self._write_pool(w)

    def _leave(self, w: Worker) -> None:
        self._count_out(w)
        self._write_pool(w)

    def _count_in(self, w: Worker) -> None:
        self._searching |= 1 << w.id
        if not self._is_bound(w):
            self._covering |= 1 << w.id

    def _count_out(self, w: Worker) -> None:
        self._searching &= ~(1 << w.id)
        self._covering &= ~(1 << w.id)

    def _write_pool(self, w: Worker) -> None:
        if self._lines and self._counts:
            self._lines.pool(w, writes=True)

    def end_search(self, w: Worker) -> None:
        """End the search of a worker that has found a task or whose join has ended. Unless woken workers wake others,
        it wakes ``chain`` takers of each queue that holds tasks and is not covered any more; if there is no such queue
        and the rule is `finder`, ``chain`` workers of all.
        """
        if not self.may_search(w):
            return
        self._leave(w)
        w.woken = False
        rule = self._rule
        if rule.chain_by == "woken":
            return
        uncovered = self._uncovered()
        for takers in uncovered or ([self._everybody] if rule.chain_by == "finder" else []):
            self._wake_some(w, takers, rule.chain)

    def _uncovered(self) -> list[Takers]:
        """Return the takers of each queue that holds tasks and is not covered, once for queues with equal takers. If
        every worker can take from every queue, return all workers, or nothing if one searches.
        """
        if not self._owners:
            return [] if self._searching else [self._everybody]
        found: dict[int, Takers] = {}
        for takers in (self._takers(q) for q, length in enumerate(self._queues.length) if length):
            if not self._cover(takers):
                found.setdefault(self._who_can_cover(takers), takers)
        return list(found.values())

    def _takers(self, q: int) -> Takers:
        if not self._owners:
            return self._everybody
        queues = self._queues
        sure, now = self._owners[q]
        for level, by_level in self._levels:
            if not in_force(level, queues):
                continue
            sure |= by_level[q].sure
            if queues.length[q] > level.leave and candidates(level, (q,), queues):
                now |= by_level[q].now if not level.gated else self._passing(by_level[q].now, level.index)
        return Takers(sure, sure | now)

    def _passing(self, workers: int, level: int) -> int:
        """Return the bits of those ``workers`` for which the gate of ``level`` (a limit on live subtrees) is open."""
        passes = (self._prober.passes_gate(w.id, level, self._queues) for w in self._workers)
        return workers & sum(each << at for at, each in enumerate(passes))

    def _who_can_cover(self, takers: Takers) -> int:
        """Return the bits of the takers that count for coverage: the sure ones if one of them sleeps, else all."""
        sleeps = any(takers.sure >> sleeper & 1 for sleeper in self._sleepers)
        return takers.sure if sleeps else takers.now

    def _cover(self, takers: Takers) -> bool:
        return bool(self._who_can_cover(takers) & self._covering)

    # ---- phases of rounds, naps ------------------------------------------------------------------------------------

    def wait_ps(self, w: Worker, probed: bool) -> int | None:
        """Count a fruitless round of the worker; return the wait in ps after it (perhaps a nap, asleep), or None if the
        worker's phases of rounds are over and it may sleep.
        """
        phase = self._phase(w)
        if phase is None and self._may_sleep(w):
            return None
        if phase is None and not self._rule.phases:
            wait_ps = self._waits.wait_ps(w.fails, probed)
        else:
            phase = phase or self._rule.phases[-1]
            wait_ps = phase.wait_ps * self._crowding() if phase.crowded else phase.wait_ps
            wait_ps = wait_ps if probed else max(wait_ps, self._tables.scan_ps)
        if phase is not None and phase.naps and wait_ps:
            w.naps = w.rests = True
            self._activity_changed()
            self._report_idle(w)
            w.asleep_ps += wait_ps
        else:
            w.idle_backoff_ps += wait_ps
        return wait_ps

    def _phase(self, w: Worker) -> Phase | None:
        """Return the phase of rounds to which the worker's last round belongs; None if all phases are over."""
        if w.fails == 1:
            w.phase = w.phase_rounds = 0
        for phase in self._rule.phases[w.phase :]:
            if not w.phase_rounds:
                w.phase_began = self._clock.now
            lasts = self._clock.now - w.phase_began < phase.for_ps or not w.phase_rounds
            if w.phase_rounds < phase.rounds if phase.rounds else lasts:
                w.phase_rounds += 1
                return phase
            w.phase += 1
            w.phase_rounds = 0
        return None

    def _crowding(self) -> int:
        """Return S / log2(S), at least 1, for S searching workers; logarithm and quotient are rounded down."""
        searchers = self._searching.bit_count()
        return max(1, searchers // max(1, searchers.bit_length() - 1))

    def end_nap(self, w: Worker) -> None:
        """End a nap: its timer has gone off, or the phase of the program has ended meanwhile."""
        w.naps = w.rests = False
        self._activity_changed()
        self._report_sleep(w, w.due - w.step_ps)

    def _forget(self, w: Worker) -> None:
        """Take the worker from the list of sleepers, if it is there."""
        if w.id in self._sleepers:
            self._sleepers.remove(w.id)
            self._tell_queue(w, sleeps=False)

    def _tell_queue(self, w: Worker, *, sleeps: bool) -> None:
        """Let levels with ``if: awake`` leave out the queue and the slot of a worker that is among the sleepers."""
        for q in (w.own, w.slot):
            if q is not None:
                self._queues.owner_sleeps(q, sleeps)

    # ---- falling asleep --------------------------------------------------------------------------------------------

    def lie_down(self, w: Worker) -> bool:
        """Let a worker at the end of its search announce its sleep, and sleep, perhaps after a last look at the queues.
        Return False if it makes one more round first, since tasks may have been pushed meanwhile.
        """
        rule, searched = self._rule, self.may_search(w)
        if rule.recheck == "events" and searched and w.pushes_seen != self._pushes:
            w.pushes_seen = self._pushes
            return False
        if searched:
            self._leave(w)
        w.sleep = Sleep.ANNOUNCED
        self._sleepers.append(w.id)
        self._tell_queue(w, sleeps=True)
        last = searched and not self._searching
        if rule.recheck == "each" or (rule.recheck == "last" and (last or self._owners)):
            self._look_again(w)
        else:
            self._settle(w)
        return True

    def _look_again(self, w: Worker) -> None:
        """Look, in one step, at every queue but the own one from which the worker can take, one after the other."""
        looked = [q for q in range(len(w.probe_ps)) if q != w.own and self._reaches(w, q)]
        if self._lines:
            for q in looked:
                self._lines.glance(w, q)
        step_ps = sum(w.probe_ps[q] for q in looked)
        w.idle_steal_ps += step_ps
        self._clock.schedule_idle(w, LOOK, step_ps)
        self._clock.instead(w, self._on_checked)

    def _reaches(self, w: Worker, q: int) -> bool:
        named = [self._owners, *(by_level for _, by_level in self._levels)]
        return not self._owners or any(takers[q].now >> w.id & 1 for takers in named)

    def _checked(self, w: Worker) -> None:
        """Search on if the look of `_look_again` can find a task, else sleep."""
        if w.sleep == Sleep.ANNOUNCED and self._liveness.can_find(w):
            self._forget(w)
            self._get_up(w)
        else:
            self._settle(w)

    def _settle(self, w: Worker) -> None:
        """Let the worker pay what it owes, then sleep; it searches on if it was chosen meanwhile, or its join ended."""
        if w.sleep == Sleep.CALLED or self._joins.is_over(w):
            self._forget(w)
            self._get_up(w)
        elif w.owed_ps:
            self._clock.schedule_idle(w, POLL, 0)
            self._clock.instead(w, self._on_paid)
        else:
            self._fall_asleep(w)

    def _fall_asleep(self, w: Worker) -> None:
        now, rule = self._clock.now, self._rule
        w.wakeups_useless += w.woken
        w.woken = False
        w.rests = True
        self._activity_changed()
        self._report_idle(w)
        w.began = w.slept_since = now
        w.asleep_ps -= now
        w.step_ps = 0
        if w.stack:
            self._joining[w.stack[-1]] = w.id
        if w.sleep == Sleep.WAKING:  # woken during its last look, by rules by which it sleeps all the same
            self._clock.schedule(w, WAKE, max(0, w.wake_ps - now))
            self._clock.instead(w, self._on_woken)
            return
        w.sleep = Sleep.ASLEEP
        if rule.first_ps:
            self._clock.schedule(w, WAKE, min(rule.first_ps * rule.factor ** min(w.timeouts, 62), rule.max_ps))
            self._clock.instead(w, self._on_timeout)
        else:
            w.waiting = True
            self._clock.expect(w, POLL, now)

    # ---- waking ----------------------------------------------------------------------------------------------------

    def pushed(self, actor: Worker | Producer, q: int, held: bool) -> None:
        """Wake takers of queue ``q``, if not hidden, after a push; ``held``: the queue held tasks before."""
        if self._hidden[q]:
            return
        self._pushes += 1
        if self._lines and self._rule.sleeps:
            self._lines.pool(actor, writes=False)
        if not self._sleepers:
            return
        takers = self._takers(q)
        covered = self._cover(takers)
        rests = {
            "every-push": False,
            "no-searcher": covered,
            "empty-queue": held and (covered or takers.sure != 0),
            "uncovered": covered and not held,
        }
        if not rests[self._rule.at]:
            self._wake_some(actor, takers, 1)

    def missed(self, w: Worker, q: int) -> None:
        """After a probe of queue ``q`` that failed because another worker has the lock, wake a taker by the rules."""
        if self._rule.missed:
            if self._lines:
                self._lines.pool(w, writes=False)
            self._wake_some(w, self._takers(q), 1)

    def subtree_ended(self, actor: Worker) -> None:
        """Wake a taker of each queue with tasks that is not covered and has no sure takers: a gate may be open now."""
        for takers in self._uncovered() if self._owners else ():
            if not takers.sure:
                self._wake_some(actor, takers, 1)

    def _wake_some(self, actor: Worker | Producer, takers: Takers, count: int) -> None:
        """Wake ``count`` sleepers among ``takers``, the sure ones first, or, by the rule `all`, every one of them."""
        for _ in range(count):
            there = [each for each in self._sleepers if takers.now >> each & 1]
            if not there:
                return
            if self._rule.whom != "all":
                there = [each for each in there if takers.sure >> each & 1] or there
            if self._rule.whom == "all":
                for sleeper in sorted(there):
                    self._wake(actor, self._workers[sleeper])
            elif self._rule.whom == "lowest":
                lowest = min(there)
                actor.owed_ps += (lowest + 1) * self._plan.costs.look_ps
                self._wake(actor, self._workers[lowest])
            else:
                self._wake(actor, self._workers[there[-1]])

    def _wake(self, actor: Worker | Producer, w: Worker) -> None:
        self._forget(w)
        w.wakeups += 1
        if self._lines:
            self._lines.pool(actor, writes=True)
        if self._rule.counted:
            self._count_in(w)
        if w.sleep == Sleep.ANNOUNCED and self._rule.cancels:
            w.sleep = Sleep.CALLED
            return
        actor.owed_ps += self._plan.costs.unpark_ps
        delay_ps = actor.owed_ps + self._waking_ps(actor, w)
        if w.sleep == Sleep.ASLEEP:
            if self._rule.first_ps:  # the sleep ends by itself if its timer goes off earlier
                self._clock.cancel(w)
                delay_ps = min(delay_ps, w.due - self._clock.now)
            w.waiting = False
            self._clock.schedule(w, WAKE, delay_ps)
            self._clock.instead(w, self._on_woken)
        w.sleep = Sleep.WAKING
        w.wake_ps = self._clock.now + delay_ps

    def _waking_ps(self, actor: Worker | Producer, w: Worker) -> int:
        """Return the ps until sleeper ``w`` runs: more from another node or after a long sleep, as costs say."""
        costs = self._plan.costs
        asleep = w.sleep == Sleep.ASLEEP and self._clock.now - w.slept_since > costs.deep_ps
        return self._tables.wake_ps[w.node != actor.node] + (costs.deep_wake_ps if asleep else 0)

    def _woken(self, w: Worker) -> None:
        w.timeouts = w.fails = 0
        w.woken = True
        self._end_sleep(w)
        self._get_up(w)

    def _timed_out(self, w: Worker) -> None:
        self._forget(w)
        w.timeouts += 1
        self._end_sleep(w)
        self._get_up(w)

    def _end_sleep(self, w: Worker) -> None:
        now = self._clock.now
        w.asleep_ps += now
        w.rests = False
        self._activity_changed()
        if w.stack:
            self._joining.pop(w.stack[-1], None)
        self._report_sleep(w, w.began)
        self._recorder.step(WAKE, w.id, NO_TASK, 0)

    def _report_idle(self, w: Worker) -> None:
        """Report to the watch the idle time since the last report; a sleep begins now."""
        if self._recorder.watch:
            probing_ps = w.idle_steal_ps - w.probing_before_ps
            self._recorder.watch.stretch(Watched.IDLE, w.id, w.began, self._clock.now, 0, 0, probing_ps)
            w.probing_before_ps = w.idle_steal_ps

    def _report_sleep(self, w: Worker, began_ps: int) -> None:
        if self._recorder.watch:
            self._recorder.watch.stretch(Watched.PARKED, w.id, began_ps, self._clock.now)
        w.began = self._clock.now

    def _get_up(self, w: Worker) -> None:
        """Let a worker that does not sleep any more, or will not sleep, go on: it searches if it is idle."""
        w.sleep = Sleep.AWAKE
        w.pushes_seen = -1
        if w.idle:
            self._join(w)
            if w.woken and self._rule.chain_by == "woken":
                self._wake_some(w, self._everybody, self._rule.chain)
        self._proceed(w)

    def join_ended(self, actor: Worker, task: int) -> None:
        """Wake the worker that sleeps in the join of ``task``, if there is one and the join has ended. The last child
        of ``task``, or the last task of one of its groups, has just ended; the join may wait for other tasks.
        """
        sleeper = self._workers[self._joining[task]] if task in self._joining else None
        if sleeper and self._joins.is_over(sleeper):
            del self._joining[task]
            if sleeper.sleep == Sleep.ASLEEP:
                self._wake(actor, sleeper)

    # ---- phases of the program -------------------------------------------------------------------------------------

    def retire(self, w: Worker) -> None:
        """End the worker's search or wait at the end of a phase of the program; a sleeper sleeps on."""
        self._count_out(w)
        self._forget(w)
        if w.rests and not w.naps:
            w.asleep_ps += self._clock.now
            self._report_sleep(w, w.began)
            w.step_ps = 0
            w.waiting = False
            self._clock.cancel(w)
            self._clock.expect(w, POLL, self._clock.now)
        w.sleep = Sleep.ASLEEP if w.sleep == Sleep.ASLEEP else Sleep.AWAKE
        self._joining.clear()

    def sit_out(self, w: Worker, time_ps: int) -> int:
        """Return for how many ps of a serial phase of ``time_ps`` a worker without a part in it slept."""
        between_ps = self._rule.between_ps
        if w.sleep == Sleep.ASLEEP:
            return time_ps
        if not NEVER_PS < between_ps <= time_ps:
            return 0
        w.sleep = Sleep.ASLEEP
        w.slept_since = self._clock.now - time_ps + between_ps
        return time_ps - between_ps

    def wake_team(self, team: Sequence[Worker]) -> Iterable[int]:
        """Let worker 0 wake the sleepers of a phase's ``team`` at its begin; return the ids of these sleepers."""
        chief = team[0]
        chief.sleep = Sleep.AWAKE
        chief.rests = False
        sleepers = [w for w in team if w.sleep == Sleep.ASLEEP]
        for w in sleepers:
            w.rests = True
            w.wakeups += 1
            w.began = self._clock.now
            w.asleep_ps -= self._clock.now
            chief.owed_ps += self._plan.costs.unpark_ps
            self._clock.schedule(w, WAKE, chief.owed_ps + self._waking_ps(chief, w))
            self._clock.instead(w, self._on_woken)
            w.sleep = Sleep.WAKING
        return [w.id for w in sleepers]


def _bits(chosen: npt.NDArray[np.bool_]) -> int:
    return sum(1 << int(worker) for worker in chosen.nonzero()[0])
