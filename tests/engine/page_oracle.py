"""The placement policies page by page, from the words of the model (2.2, 2.11), for small programs of known order and
times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from task_graphs import Access

from numasim import draws
from numasim.workload.graph import Mode, Region

Document = dict[str, Any]
BY_TOUCH = ("first-touch", "first-touch-init", "parallel-first-touch", "next-touch", "deferred", "numa-balancing")


class PageOracle:
    """Homes of single pages, or of granules if the policies go by touch alone.

    ``workers`` are the nodes of workers, ``latency`` [nodes][nodes], ``room`` [nodes] the pages that nodes hold. Scans
    are simulated one by one.
    """

    def __init__(
        self,
        spec: Document,
        regions: Sequence[Region],
        page_bytes: int,
        workers: Sequence[int],
        latency: Sequence[Sequence[int]],
        room: Sequence[int],
        seed: int,
    ) -> None:
        self.spec, self.page_bytes, self.workers, self.latency, self.seed = spec, page_bytes, workers, latency, seed
        self.nodes = len(latency)
        self.pages = [-(-region.bytes // page_bytes) for region in regions]
        self.room = list(room) if spec.get("overflow") == "next" else None
        self.policy: Document = spec
        self.home: list[list[int | None]] = [[None] * pages for pages in self.pages]
        self.marked: set[tuple[int, int]] = set()
        self.bytes = [[0] * self.nodes for _ in range(self.nodes)]
        self.faults = self.migrated = 0
        self.hints = Counter[int | None]()  # hinting faults, by what each takes
        for r, region in enumerate(regions):
            if region.initialised or self._is_static():
                for page in range(self.pages[r]):
                    self._put(r, [page], self._planned(r, page))
        if spec["policy"] == "next-touch":
            self._mark()
        self._start_scans(0)

    def _is_static(self) -> bool:
        name = self.spec["policy"]
        return name == "first-touch-master" or (name not in BY_TOUCH and not self.spec.get("changes"))

    def _planned(self, region: int, page: int) -> int:
        """Return the home by formula, also for initialised regions."""
        policy, pages, workers = self.policy, self.pages[region], self.workers
        home_set = policy.get("nodes") or list(range(self.nodes))
        drawn = draws.draw(draws.base(self.seed, 4, region), page)
        homes = {
            "parallel-first-touch": workers[page * len(workers) // pages],
            "first-touch-init": workers[page * policy.get("tasks", 1) // pages % len(workers)],
            "interleave": home_set[page % len(home_set)],
            "by-region": home_set[region % len(home_set)],
            "bind": policy.get("node", 0),
            "block": page * self.nodes // pages,
            "random": home_set[draws.below(drawn, len(home_set))],
        }
        return homes.get(policy["policy"], workers[0])

    def _put(self, region: int, pages: Sequence[int], wanted: int) -> None:
        home = wanted
        if self.room is not None:
            order = sorted(range(self.nodes), key=lambda node: (node != wanted, self.latency[wanted][node], node))
            home = next((node for node in order if self.room[node] >= len(pages)), wanted)
            self.room[home] -= len(pages)
        for page in pages:
            self.home[region][page] = home

    def _mark(self) -> None:
        self.marked = {
            (r, page) for r, homes in enumerate(self.home) for page, home in enumerate(homes) if home is not None
        }

    def start_phase(self, phase: int, now_ps: int = 0) -> None:
        for change in self.spec.get("changes", ()):
            if change["phase"] == phase:
                self.policy = change
                if change["policy"] == "next-touch":
                    self._mark()
                self._start_scans(now_ps)

    def _start_scans(self, now_ps: int) -> None:
        """Start the scans of the policy that is in force from now on; earlier scans are forgotten."""
        self.scan: Document | None = self.policy.get("scan") if self.policy["policy"] == "numa-balancing" else None
        self.scanned: set[tuple[int, int]] = set()
        self.told: dict[tuple[int, int], list[int]] = {}  # the nodes of the hinting faults of a granule
        self.place = 0  # in the address space, where the next scan begins
        self.next_scan_ps = now_ps + 1000 * self.scan["delay_ns"] if self.scan else None

    def pass_time(self, now_ps: int) -> None:
        """Do the scans that are due."""
        while self.scan and self.next_scan_ps is not None and self.next_scan_ps <= now_ps:
            end = self.place + self.scan["size"]
            self.scanned |= self._placed_from(self.place, end)
            self.place = end if end < sum(self.pages) * self.page_bytes else 0
            self.next_scan_ps += 1000 * self.scan["period_ns"]

    def _placed_from(self, begin: int, end: int) -> set[tuple[int, int]]:
        """Return the placed pages whose granule begins at these places of the address space."""
        found, before = set(), 0
        for r, homes in enumerate(self.home):
            for page, home in enumerate(homes):
                if home is not None and begin <= (before + self._granule(r, page)[0]) * self.page_bytes < end:
                    found.add((r, page))
            before += len(homes)
        return found

    def touch(self, access: Access, node: int, factor: int, now_ps: int = 0) -> None:
        """Do one access of a worker on ``node``, which moves each byte ``factor`` times."""
        self.pass_time(now_ps)
        for page in self._pages_of(access):
            self._touch_page(access, page, node)
        for byte in self._bytes_of(access):
            home = self.home[access.region][byte // self.page_bytes]
            self.bytes[node][node if home is None else home] += factor

    def _touch_page(self, access: Access, page: int, node: int) -> None:
        r = access.region
        together = self._granule(r, page)
        if (r, page) in self.marked:
            self.marked -= {(r, each) for each in together}
            self._migrate(r, together, node)
        if (r, page) in self.scanned:
            self.scanned -= {(r, each) for each in together}
            self._hint(r, together, node)
        if self.home[r][page] is None and self._places(access):
            by_touch = self.policy["policy"] in BY_TOUCH
            self._put(r, together, node if by_touch else self._planned(r, page))
            self.faults += len(together)

    def _granule(self, region: int, page: int) -> range:
        """Return the pages that are placed together with a page."""
        granule = self.spec.get("granule", 16)
        first = page // granule * granule
        return range(first, min(first + granule, self.pages[region]))

    def _hint(self, region: int, pages: Sequence[int], node: int) -> None:
        assert self.scan is not None
        self.hints[self.scan.get("fault_ns")] += len(pages)
        told = self.told.setdefault((region, pages[0]), [])
        told.append(node)
        last = told[-self.scan["migrate_after"] :]
        if len(last) == self.scan["migrate_after"] and set(last) == {node}:
            self._migrate(region, pages, node)

    def _places(self, access: Access) -> bool:
        reads_place = self.spec.get("touch_on_read", "yes") == "yes" and self.policy["policy"] != "deferred"
        return access.mode != Mode.READ or reads_place

    def _migrate(self, region: int, pages: Sequence[int], node: int) -> None:
        home = self.home[region][pages[0]]
        assert home is not None
        if home == node or (self.room is not None and self.room[node] < len(pages)):
            return
        if self.room is not None:
            self.room[node] -= len(pages)
            self.room[home] += len(pages)
        for page in pages:
            self.home[region][page] = node
            self.bytes[node][home] += self.page_bytes
        self.migrated += len(pages)

    def bytes_at(self, access: Access) -> list[int]:
        """Return the bytes of an access by home, without unplaced ones."""
        total = [0] * self.nodes
        for byte in self._bytes_of(access):
            home = self.home[access.region][byte // self.page_bytes]
            if home is not None:
                total[home] += 1
        return total

    def node_pages(self) -> list[int]:
        """Return the pages by node."""
        return [sum(homes.count(node) for homes in self.home) for node in range(self.nodes)]

    def _bytes_of(self, access: Access) -> list[int]:
        rows = [access.offset + row * access.stride for row in range(access.rows)]
        return [byte for start in rows for byte in range(start, start + access.row_bytes)]

    def _pages_of(self, access: Access) -> list[int]:
        return sorted({byte // self.page_bytes for byte in self._bytes_of(access)})
