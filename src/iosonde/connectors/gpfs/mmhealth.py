"""GPFS ``mmhealth node show``: gauges ``healthy`` of a node and its parts.

1: HEALTHY, or TIPS (an advice); 0: DEGRADED, FAILED, DEPEND (on what failed); other states (CHECKING, DISABLED ...)
say nothing. A node is ``server n1``, a part of it ``n1/NETWORK``, a file system or disk as that node sees it
``scratch@n1``.
"""

from __future__ import annotations

import re

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.gpfs.y_table import Cells, YAnswer, connector
from iosonde.connectors.lines import shown

KIND = "mmhealth"
_NODE = re.compile(r"Node name:\s+(?P<node>\S{1,200})")
_ROW = re.compile(
    r"(?:Node status:|(?P<component>[A-Z][A-Z_]{2,30}))\s+(?P<status>[A-Z]{3,20})\b.*"
)
_STATES = {"HEALTHY": 1.0, "TIPS": 1.0, "DEGRADED": 0.0, "FAILED": 0.0, "DEPEND": 0.0}
_LEVELS = {"FILESYSTEM": "filesystem", "DISK": "nsd", "POOL": "pool"}
_MOST = 100_000


class _Health(YAnswer):
    COMMAND, TITLES, SIGNS = "mmhealth", "State|Event", (_NODE, _ROW)
    ROWS = (("", _NODE), ("State", _ROW))

    def row(self, kind: str, cells: Cells) -> None:
        if kind != "State":
            return
        if "node" not in cells:
            raise ValueError("a state before the node's name")
        people = {} if "version" in cells else {"component": "NODE", "entitytype": "NODE"}
        node, component, entity, of, status = (
            (people | cells).get(name, "")
            for name in ("node", "component", "entityname", "entitytype", "status")
        )
        if not (node and component and status):
            raise ValueError(f"the state {shown(' '.join(cells.values()))} is cut")
        level, system = _LEVELS.get(of, "device"), self.settings.system
        name = f"{entity}@{node}"
        if of == "NODE":
            level, name = "server", node if component == "NODE" else f"{node}/{component}"
        elif level == "filesystem":
            system = entity
        if status not in _STATES:
            self.noted["missing", f"states of {self.path.name} that are neither good nor bad"] += 1
        elif len(self.found) < _MOST:
            series = ComponentSeries(system, level, "healthy", name[:256])
            self.found.setdefault(series, _STATES[status])


recognises, read, read_many = connector(KIND, _Health)
