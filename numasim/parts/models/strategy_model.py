"""A strategy as data: queues, steal levels, dispatch rules, thresholds, back-off, placement and mapping.

A strategy has two tables, ``steal`` and ``dispatch``, whose entries consist of a set of queues, a filter and a pick. A
thief tries the levels of ``steal`` in order until a steal succeeds; a new task goes to the queue of the first rule of
``dispatch`` that finds one. Two to ten lines express the pseudo-code of a paper. `numasim.strategy` compiles a strategy
for a machine and a number of workers.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Tag, ValidationInfo, field_validator

from numasim.errors import nearest_name
from numasim.parts.base import (
    Bytes,
    CheckedModel,
    Count,
    Fraction,
    Label,
    LeanModel,
    Model,
    Nanoseconds,
    PositiveCount,
    YesNo,
    by_shape,
)
from numasim.parts.choices import Choices
from numasim.parts.models import meanings
from numasim.parts.models.idle_model import IdleSpec
from numasim.parts.models.placement_model import (
    DISTRIBUTIONS,
    DistributionSpec,
    Placed,
    PlacementSpec,
    TunedPlacementSpec,
)
from numasim.parts.models.runtime_model import BackoffSpec, FamilyFull, Join, LeavesOut, Rule, Tasks
from numasim.parts.models.search_model import MOST_LEVELS, MOST_PASSES, DispatchSpec, LevelSpec
from numasim.parts.models.strategy_terms import (
    MOST_SWITCHES,
    Amount,
    AmountSpec,
    Announcement,
    LiveSpec,
    LockSpec,
    MappingName,
    SpawnOrder,
    SpawnSpec,
    TierDepth,
    Unit,
    is_symbolic,
)
from numasim.parts.models.tune_model import TuneSpec
from numasim.schema.enumerations import ThresholdTime

# ---- Helper threads of a strategy: how far they run ahead of their workers, and what they cost (model 4.11) ----------


class HelperSpec(Model):
    """Helper threads on idle cores: one for each worker whose last-level cache has an idle core (Goes et al., 4.2)."""

    lifespan: Bytes = Field(
        description="How many bytes of its worker's next unit a helper reads ahead. With 0 there are no helpers."
    )
    work: Fraction = Field(
        Decimal(0),
        description="Share of a unit's computing that its helper does as well, to find out what the unit reads.",
    )
    start_ns: Nanoseconds = Field(
        Decimal(0), description="Time that a worker pays for its helper at the begin of each phase that is not serial."
    )
    restart_ns: Nanoseconds = Field(
        Decimal(0), description="Time that the worker pays after each attempt that aborts, to restart its helper."
    )


End = Annotated[Literal["lifo", "fifo"], Choices(meanings.END)]
MOVES = ("displace", "spill-oldest", "spill-newest")  # what becomes of tasks of a full queue that leave it


class QueueSpec(LeanModel):
    """A family of queues: one queue for each unit of a kind."""

    left_out: ClassVar[Collection[str]] = ("lines", "in_a_row")

    per: Unit = Field(
        description="The kind of unit: the family has a queue for each unit of the kind that has a worker."
    )
    own: End | None = Field(
        None,
        description="At which end own workers take; tasks enter at the back. Default: runtime.queue_order or lifo.",
    )
    steal: End | None = Field(
        None, description="At which end others take. Default: of workers' queues runtime.queue_order, of others fifo."
    )
    capacity: Tasks | None = Field(
        None, description="Tasks that a queue holds. Default: of workers' queues runtime.capacity, of others no limit."
    )
    full: FamilyFull | None = Field(
        None,
        description="What becomes of a new task if the queue is full. Default: of workers' queues on_full, else grow.",
    )
    in_a_row: Annotated[PositiveCount, Field(lt=2**16)] | None = Field(
        None,
        description="With full: displace, how many tasks in a row a worker takes from its slot; while the last of them "
        "runs, new tasks pass over the slot. Default: any number.",
    )
    lines: Literal[1, 2] = Field(
        1, description="Cache lines of a queue's words: 1 for both ends, or 2, one for each end (model 5.6)."
    )
    lock: YesNo = Field(
        False, description="Whether each queue has a lock, which probes and pushes of other workers take (model 4.1)."
    )


Threshold = Annotated[
    Annotated[Literal["auto"], Tag("text"), Choices(meanings.THRESHOLD_MAX)] | Annotated[Tasks, Tag("number")],
    by_shape("a number of tasks, or auto, is needed here"),
]


class ThresholdSpec(CheckedModel):
    """The thresholds of every queue: the upper one S is ``max``, the lower one s is ``min``."""

    max: Threshold = Field(
        "auto",
        description="The threshold S: others steal from queues of S tasks or more; auto: thesis, equation 3.3.",
    )
    min: Threshold = Field(
        "auto",
        description="The threshold s: a worker with s tasks or fewer may steal; auto: by equation 3.4 of the thesis.",
    )
    rule: Rule | None = Field(None, description="How S is computed. Default: the runtime's s_rule (A-7).")
    when: Annotated[ThresholdTime, Choices(meanings.THRESHOLD_WHEN)] = Field(
        "first-drain", description="When thresholds are computed (A-6)."
    )
    announce: Annotated[Announcement, Choices(meanings.THRESHOLD_ANNOUNCE)] = Field(
        "always", description="Who announces a queue as a victim, and when (A-42)."
    )

    def _problems(self) -> Iterator[str]:
        if isinstance(self.max, int) and isinstance(self.min, int) and self.min >= self.max:
            yield f"min must be less than max, but min is {self.min} and max is {self.max}"


class StrategySpec(LeanModel, CheckedModel):
    """A whole strategy, after its ``like`` chain has been merged."""

    left_out: ClassVar[Collection[str]] = ("tune", "helpers", "idle", "passes", "leaves_out")

    name: Label = Field(
        "custom", description="Name of the strategy in results and figures. Default: the name of its file, or custom."
    )
    queues: Annotated[dict[Label, QueueSpec], Field(min_length=1, max_length=64)] = Field(
        default_factory=lambda: {"deque": QueueSpec.model_construct(per="worker")},
        description="Families of queues by name. Default: deque, one for each worker.",
    )
    steal: Annotated[tuple[LevelSpec, ...], Field(max_length=MOST_LEVELS)] = Field(
        description="Levels of the search for work, gone through in order until one finds a task."
    )
    passes: Annotated[PositiveCount, Field(le=MOST_PASSES)] = Field(
        1,
        description="How often a round goes through the levels, until one finds a task. A level can be left out of the "
        "first passes by from_pass.",
    )
    dispatch: Annotated[tuple[DispatchSpec, ...], Field(min_length=1, max_length=64)] | None = Field(
        None,
        description="Rules that choose the queue of a new task: the first rule that holds and finds a queue with room "
        "wins. Default: a worker keeps the tasks that it spawns.",
    )
    tiers: Annotated[
        Annotated[Literal["slices", "tune", "none"], Tag("text"), Choices(meanings.STRATEGY_TIERS)]
        | Annotated[TierDepth, Tag("mapping")],
        by_shape("tiers are slices, tune, none or {depth: 2}"),
    ] = Field(
        "none",
        description="Which tasks are the roots of subtrees that stay together, or above or below (model 4.14).",
    )
    labels: Annotated[
        Annotated[Annotated[Literal["slices", "tune", "none"], Choices(meanings.STRATEGY_LABELS)] | Label, Tag("text")]
        | Annotated[DistributionSpec, Tag("mapping")],
        by_shape("labels are slices, tune, none, the name of a function, or a mapping such as {deal: locality}"),
    ] = Field(
        "none",
        description="For which unit each task is meant, where a rule says to: label: slices, tune, none, or the name "
        "of another function that is registered (model 4.14); or how the items of ranges are dealt by their data, by "
        "a name such as locality, or a mapping (model 4.10).",
    )
    live: Annotated[
        Annotated[Literal["none"], Tag("text"), Choices(meanings.STRATEGY_LIVE)] | Annotated[LiveSpec, Tag("mapping")],
        by_shape("live is none or a mapping such as {per: socket, most: 1}"),
    ] = Field("none", description="How many subtrees of tier root may be live in each unit at a time (model 4.14).")
    spawn: Annotated[
        Annotated[SpawnOrder, Tag("text")] | Annotated[SpawnSpec, Tag("mapping")],
        by_shape("a spawn order is help-first, work-first or a mapping such as {local: work-first} or {adaptive: {}}"),
    ] = Field(
        "help-first",
        description="Whether a spawning worker goes on with the parent or the child (model 3.3), for all or by tier.",
    )
    join: Join | None = Field(
        None,
        description="What a worker does at a wait whose children have not all finished. Default: the runtime's join.",
    )
    amount: Amount = Field("one", description="How many tasks a steal takes, unless the level has its own amount.")
    refill: Annotated[
        Annotated[Literal["min"], Tag("text"), Choices(meanings.STRATEGY_REFILL)]
        | Annotated[Count, Field(le=2**30), Tag("number")],
        by_shape("a number of tasks, or min, is needed here"),
    ] = Field(
        0, description="A worker searches when its own queue has so many tasks or fewer; min: the threshold s (A-10)."
    )
    thresholds: Annotated[
        Annotated[Literal["none"], Tag("text"), Choices(meanings.STRATEGY_THRESHOLDS)]
        | Annotated[ThresholdSpec, Tag("mapping")],
        by_shape("thresholds are none or a mapping such as {max: auto, min: auto}"),
    ] = Field(
        ThresholdSpec.model_construct(),
        description="The thresholds S and s of queues (thesis, section 3.4); none where no rule refers to them.",
    )
    backoff: BackoffSpec | None = Field(None, description="Waits after failed rounds. Default: the runtime's backoff.")
    idle: IdleSpec | None = Field(
        None, description="What a worker does that finds no task (model 4.15). Default: the runtime's idle."
    )
    placement: Placed = Field(
        PlacementSpec.model_construct(policy="first-touch"),
        description="Where pages live: a policy by name, or a mapping with its options.",
    )
    tune: TuneSpec | None = Field(
        None, description="The controller of tiers, labels, switches and page policies (model 4.12). Default: none."
    )
    locks: LockSpec = Field(LockSpec.model_construct(), description="Kinds of locks and barriers, and where they live.")
    mapping: Annotated[MappingName, Choices(meanings.STRATEGY_MAPPING)] = Field(
        "numa-even-cores-first", description="On which hardware threads the workers run (A-2)."
    )
    helpers: HelperSpec | None = Field(
        None,
        description="Helper threads on idle cores of one cache, ahead of their workers (model 4.11). Default: none.",
    )
    leaves_out: LeavesOut = ()

    @property
    def whole_placement(self) -> PlacementSpec:
        """Return the page placement with the policies that the controller may choose."""
        tuned = tuple(self.tune.placements.values()) if self.tune else ()
        if not tuned:
            return self.placement
        fields = {name: getattr(self.placement, name) for name in PlacementSpec.model_fields}
        return TunedPlacementSpec.model_construct(self.placement.model_fields_set | {"tuned"}, **fields, tuned=tuned)

    @property
    def worker_family(self) -> str | None:
        """Return the family whose queues are the workers' own, or None; slots are in front of these queues."""
        own = (name for name, family in self.queues.items() if family.per == "worker" and name not in self.slots)
        return next(own, None)

    @property
    def slots(self) -> tuple[str, ...]:
        """Return the families of slots, whose newest task takes the place of an older one."""
        return tuple(name for name, family in self.queues.items() if family.full == "displace")

    @property
    def announcement(self) -> Announcement:
        """Return which workers announce queues as victims."""
        return "always" if self.thresholds == "none" else self.thresholds.announce

    def families(self, entry: LevelSpec | DispatchSpec) -> tuple[str, ...]:
        """Return the queue families of a level or rule. Default: the workers' own; for ``from: last`` all families."""
        if entry.queue is None and isinstance(entry, LevelSpec) and entry.source == "last":
            return tuple(self.queues)
        return entry.queue or (self.worker_family or next(iter(self.queues)),)

    @field_validator("steal", "dispatch")
    @classmethod
    def _queues_exist(cls, entries: Any, info: ValidationInfo) -> Any:
        known = info.data.get("queues")
        for at, entry in enumerate(entries or ()):
            for name in entry.queue or ():
                if known is not None and name not in known:
                    near = nearest_name(name, known)
                    hint = f"did you mean {near!r}?" if near else f"queues names {', '.join(known)}"
                    raise ValueError(f"{info.field_name}[{at}]: there is no queue {name!r}; {hint}")
        return entries

    @field_validator("dispatch")
    @classmethod
    def _last_rule_is_open(cls, rules: tuple[DispatchSpec, ...] | None) -> tuple[DispatchSpec, ...] | None:
        last = rules[-1] if rules else None
        if last and last.condition is not None:
            raise ValueError("the last dispatch rule may have no condition, or a task could find no queue")
        if last and last.copies:
            raise ValueError("copy: yes leaves an entry beside that of a later rule, so the last rule cannot have it")
        if last and not last.is_open:
            raise ValueError(
                "the last dispatch rule may neither look at data nor have a guard, or a task could find no queue; "
                "add a rule such as {to: any, pick: shortest}"
            )
        return rules

    @property
    def search(self) -> tuple[LevelSpec, ...]:
        """Return the levels of a whole round, pass by pass, and in the first pass the levels that are polled."""
        passes = range(1, self.passes + 1)
        return tuple(
            each for at in passes for each in self.steal if each.from_pass <= at and not (at > 1 and each.every)
        )

    @property
    def switches(self) -> tuple[str, ...]:
        """Return the names of the switches on which levels and rules depend, in the order of their use."""
        return tuple(dict.fromkeys(entry.switch for entry in self._entries if entry.switch is not None))

    @property
    def _entries(self) -> list[LevelSpec | DispatchSpec]:
        return [*self.steal, *(self.dispatch or ())]

    @property
    def distribution(self) -> DistributionSpec | None:
        """Return how the items of ranges are dealt, or None if ``labels`` names no distribution."""
        if isinstance(self.labels, DistributionSpec):
            return self.labels
        return DistributionSpec.model_validate({"deal": self.labels}) if self.labels in DISTRIBUTIONS else None

    @property
    def labelled_rules(self) -> list[DispatchSpec]:
        """Return the dispatch rules that choose a queue by the task's label."""
        return [rule for rule in self.dispatch or () if rule.target == "label"]

    @property
    def needs_every_task(self) -> bool:
        """Return whether tiers, labels or a controller treat tasks one by one, so that every task needs its own row."""
        return self.tiers != "none" or self.labels != "none" or self.tune is not None

    @property
    def numbers_tasks(self) -> bool:
        """Return whether dispatch rules ask for the number of a new task in its phase (model 4.13)."""
        return any(rule.pick in ("cyclic", "block") for rule in self.dispatch or ())

    def _problems(self) -> Iterator[str]:
        named = (self.families(level) for level in self.steal if level.source != "last" and not level.every)
        taken = {self.worker_family, *self.slots}.union(*named)
        for name in self.queues:
            if name not in taken:
                yield f"no level takes from queue {name!r}: add a steal level such as {{from: own, queue: {name}}}"
        if self.worker_family is None:
            yield from self._needs_own_queue()
        if self.join == "leapfrog" and not any(level.source == "thief" for level in self.steal):
            yield "join: leapfrog steals by levels from: thief alone, but there is none: add {from: thief} to steal"
        yield from self._goes_through_levels()
        yield from self._displaces()
        symbolic = self.refill == "min" or any(is_symbolic(entry.condition) for entry in self._entries)
        if self.thresholds == "none" and symbolic:
            yield "a condition or refill refers to the thresholds min and max, but thresholds is none"
        locked = [name for name, family in self.queues.items() if family.lock]
        if locked and any(rule.copies for rule in self.dispatch or ()):
            yield f"copy: yes puts a task into several queues at once, which may have no lock, but {locked[0]} has one"
        if self.announcement != "always":
            yield from self._needs_announcers()
        if self.tune and self.tune.placements:
            yield from self._chooses_placements()
        for name in sorted({name for names in (self.tune and self.tune.of) or () for name in names}):
            if name not in self.switches:
                yield f"tune.of names the switch {name!r}, but no level or rule has when: {name} or unless: {name}"
        yield from self._needs_tiers()
        yield from self._needs_labels()
        yield from self._needs_gates()
        if self.helpers:
            yield from self._needs_one_queue()
        if len(self.switches) > MOST_SWITCHES:
            yield f"levels and rules name {len(self.switches)} switches, but {MOST_SWITCHES} is the most"

    def _needs_tiers(self) -> Iterator[str]:
        there = {"local"} if self.tiers == "none" else {"free", "root", "local"}
        if self.tiers == TierDepth(depth=0):
            there.remove("free")
        for at, rule in enumerate(self.dispatch or ()):
            if rule.tier is not None and not there.intersection(rule.tier):
                yield (
                    f"dispatch[{at}] asks for tier {' or '.join(rule.tier)}, but every task is "
                    f"{' or '.join(sorted(there))}: with such tiers it never holds"
                )
        if self.tiers == "none" and self.live != "none":
            yield "live counts subtrees of tier root, but tiers is none: add tiers such as {depth: 2}"
        if self.tiers == "none" and isinstance(self.spawn, SpawnSpec) and self.spawn.by_tier:
            yield "spawn goes by tiers, but tiers is none: add tiers such as {depth: 2}, or give one spawn order"
        for key, value in (("tiers", self.tiers), ("labels", self.labels)):
            if value == "tune" and self.tune is None:
                yield f"{key}: tune leaves them to a controller, but tune names none: add tune, or give {key}"
        if self.tune is not None and self.tune.what == "packing" and self.tiers != "tune":
            yield "tune: packing chooses the tiers of tasks, so tiers has to leave them to it: add tiers: tune"
        if self.tiers == "slices" and self.labels == "none":
            yield "tiers: slices are those of labelled tasks, but labels is none: add labels: slices"

    def _needs_labels(self) -> Iterator[str]:
        rules = self.labelled_rules
        if rules and self.labels == "none":
            yield "a dispatch rule says to: label, but labels is none: add labels: slices"
        if self.distribution and not rules:
            yield "labels deal the items of ranges, but no dispatch rule says to: label"
        if self.labels == "slices" and not rules:
            yield "labels: slices cuts the data for the units that to: label names, but no dispatch rule says to: label"
        units = dict.fromkeys(self.queues[name].per for rule in rules for name in self.families(rule))
        if len(units) > 1:
            yield f"labels name one kind of unit, but the queues of the rules to: label are per {' and '.join(units)}"

    def _needs_gates(self) -> Iterator[str]:
        gated = any(level.gated for level in self.steal)
        if gated and self.live == "none":
            yield "a steal level is gated, but live says no limit: add live such as {per: socket, most: 1}"
        if not gated and self.live != "none":
            yield "live limits what gated levels take, but no steal level has gated: yes"
        if not any(level.own_first for level in self.steal):
            return
        if any(level.own_first and not level.gated for level in self.steal):
            yield "own_first goes with gated: yes"
        named = {self.queues[name].per for rule in self.labelled_rules for name in self.families(rule)}
        if isinstance(self.live, LiveSpec) and self.live.per not in named:
            there = f"labels name one {named.pop()} each" if named else "no dispatch rule says to: label"
            yield f"own_first waits for subtrees that are labelled for a {self.live.per} (live.per), but {there}"

    def _chooses_placements(self) -> Iterator[str]:
        if self.placement.changes:
            yield "tune.placements and placement.changes both say when policies change: give one of them"
        if any(each.policy == "hash-home" for each in self.whole_placement.policies):
            yield "hash-home gives no page a single home, so it cannot be combined with tune.placements"

    def _goes_through_levels(self) -> Iterator[str]:
        for number, level in enumerate(self.steal):
            shared = [name for name in self.families(level) if self.queues[name].per != "worker"]
            if level.condition == "awake" and shared:
                yield f"steal[{number}].if: awake asks whether the worker of a queue sleeps, but {shared[0]} is shared"
            if level.from_pass > self.passes:
                yield f"steal[{number}].from_pass: a round has passes: {self.passes}, got {level.from_pass}"
            if self.passes > 1 and level.chance is not None:
                yield f"steal[{number}].chance: the level takes the place of later levels, so a round has one pass"
        leaps = any(level.leap_after is not None for level in self.steal)
        if leaps and self.join not in (None, "leapfrog"):
            yield f"leap_after goes with join: leapfrog, not with join: {self.join}"
        if leaps and not any(level.source == "thief" for level in self.steal):
            yield "leap_after counts rounds of levels from: thief, but there is none: add {from: thief} to steal"
        if len(self.search) > MOST_LEVELS:
            yield f"a round has {len(self.search)} levels in all its passes, at most {MOST_LEVELS}"

    def _displaces(self) -> Iterator[str]:
        rules = self.dispatch or ()
        for name, family in self.queues.items():
            if family.in_a_row is not None and name not in self.slots:
                yield f"queues.{name}.in_a_row goes with full: displace"
        for name in (name for name, family in self.queues.items() if family.full in MOVES):
            family, is_slot = self.queues[name], name in self.slots
            if family.per != "worker" or (is_slot and family.capacity not in (None, 1)):
                task = "for one task each, " if is_slot else ""
                yield f"queues.{name}: full: {family.full} is for queues {task}per: worker"
            named = [at for at, rule in enumerate(rules) if name in self.families(rule)]
            for at in named:
                if rules[at].target != "own" or self.families(rules[at]) != (name,):
                    rule = f"{{to: own, queue: {name}}}"
                    yield f"dispatch[{at}]: tasks leave a full {name}, so a rule fills it alone, by {rule}"
            if not named or named[-1] == len(rules) - 1:
                rule = f"{{to: own, queue: {name}}}"
                yield f"dispatch needs a rule {rule}, and a later rule for the tasks that leave {name}"
        if len(self.slots) > 1:
            yield f"workers have one slot each, but {' and '.join(self.slots)} have full: displace"
        if any(rule.copies for rule in rules) and any(family.full in MOVES for family in self.queues.values()):
            yield "copy: yes puts a task into several queues at once, so no family may have full: displace or spill"

    def _needs_own_queue(self) -> Iterator[str]:
        if any((level.amount or self.amount) not in ("one", AmountSpec(count=1)) for level in self.steal):
            yield "an amount above one needs a queue per worker for the rest: add {deque: {per: worker}} to queues"
        if self.refill:
            yield "refill looks at the worker's own queue, but no queue is per: worker"

    def _needs_one_queue(self) -> Iterator[str]:
        if any(family.per != "machine" for family in self.queues.values()) or len(self.queues) > 1:
            yield (
                "helpers run ahead through the unit that a worker takes from one queue of all in advance: give queues "
                "as {global: {per: machine}}, or leave helpers out"
            )

    def _needs_announcers(self) -> Iterator[str]:
        asked = [name for entry in self._entries if entry.condition == "announced" for name in self.families(entry)]
        for name in dict.fromkeys(asked):
            if name != self.worker_family:
                yield (
                    f"announce: {self.announcement} lets workers announce their own queues alone, so nobody announces "
                    f"queue {name!r}: take announce: always, or a length in the condition on it"
                )
