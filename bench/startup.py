"""P7: how long `jobclaw --help`, a chat's first reply and the daemon take, and what they hold.

Each figure is the median of fresh processes (10 unless --runs says otherwise) after one that
is not counted: it compiles the modules and makes the workspace. Times are wall-clock from the
start of the process, as a person waits them, with the CPU time beside them, which other work on
the machine changes less. The reply is that of `chat --once`, until its first byte is read. The
daemon is ready when `/readyz` says so; then it is left alone, and memory and CPU are read from
/proc (Linux).

    python bench/startup.py [--json] [--runs N]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import Figure, at_most, parser, report

RUNS, DAEMONS = 10, 3
SETTLE_S, IDLE_S = 3.0, 10.0
QUESTION = "推荐几个 Java 岗位"
CONFIG = 'router: {identity_gate: "off"}\n'


@dataclass(frozen=True)
class Run:
    """One process: seconds to its first byte, to its end, of CPU; megabytes at its largest."""

    first_s: float
    whole_s: float
    cpu_s: float
    resident_mb: float


def environment(compiled: Path) -> Mapping[str, str]:
    """An ordinary one, in which compiled modules are kept."""
    kept = {name: text for name, text in os.environ.items() if "JOBCLAW" not in name}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "PYTHONPYCACHEPREFIX": str(compiled), "JOBCLAW_LANG": "zh"}


def run(folder: Path, arguments: tuple[str, ...]) -> Run:
    """Run one command to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "jobclaw", *arguments],
        cwd=folder,
        env=environment(folder / "compiled"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    with process.stdout as output:
        output.read(1)
        first = time.perf_counter()
        output.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return Run(
        first_s=first - started,
        whole_s=time.perf_counter() - started,
        cpu_s=used.ru_utime + used.ru_stime,
        resident_mb=used.ru_maxrss / 1024 * 1.048576,
    )


def median_run(folder: Path, arguments: tuple[str, ...], runs: int) -> Run:
    """The median of each value, the first run left out."""
    run(folder, arguments)
    found = [run(folder, arguments) for _ in range(runs)]
    return Run(
        first_s=statistics.median(one.first_s for one in found),
        whole_s=statistics.median(one.whole_s for one in found),
        cpu_s=statistics.median(one.cpu_s for one in found),
        resident_mb=statistics.median(one.resident_mb for one in found),
    )


@dataclass(frozen=True)
class Idle:
    """A daemon: seconds until ready, megabytes and share of one core while nothing happens."""

    ready_s: float
    resident_mb: float
    cpu_share: float


def idle_daemon(folder: Path) -> Idle:
    """Start a daemon, ask whether it is ready, leave it alone, and end it."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "jobclaw", "run", "--port", "0"],
        cwd=folder,
        env=environment(folder / "compiled"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process.stdout as output:
        address = output.readline().decode().strip().rpartition("：")[2]
        with urllib.request.urlopen(f"{address}/readyz", timeout=10):  # noqa: S310 - ours
            ready = time.perf_counter()
        time.sleep(SETTLE_S)
        before = cpu_seconds(process.pid)
        time.sleep(IDLE_S)
        spent = cpu_seconds(process.pid) - before
        resident = resident_of(process.pid)
        process.terminate()
        output.read()
    if process.wait(timeout=40):
        raise SystemExit(f"the daemon ended with {process.returncode}")
    return Idle(ready_s=ready - started, resident_mb=resident, cpu_share=spent / IDLE_S)


def cpu_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_of(pid: int) -> float:
    """Megabytes in memory now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def bare_python(runs: int) -> float:
    """Seconds that the interpreter itself takes, for comparison."""
    times: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=RUNS, help="processes a figure")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config").mkdir()
        (folder / "config" / "jobclaw.yaml").write_text(CONFIG, "utf-8")
        helped = median_run(folder, ("--help",), chosen.runs)
        version = median_run(folder, ("version",), chosen.runs)
        chat = median_run(folder, ("chat", "--once", QUESTION), chosen.runs)
        idle_daemon(folder)
        daemons = [idle_daemon(folder) for _ in range(DAEMONS)]
    figures = [
        Figure("python -c pass", round(bare_python(chosen.runs), 3), "s"),
        at_most("jobclaw --help", helped.whole_s, 0.35, "s"),
        Figure("jobclaw --help, CPU", round(helped.cpu_s, 3), "s"),
        Figure("jobclaw --help, largest RSS", round(helped.resident_mb, 1), "MB"),
        Figure("jobclaw version", round(version.whole_s, 3), "s"),
        at_most("jobclaw chat, first reply", chat.first_s, 1.0, "s"),
        Figure("jobclaw chat, whole process", round(chat.whole_s, 3), "s"),
        Figure("jobclaw chat, CPU", round(chat.cpu_s, 3), "s"),
        Figure("jobclaw chat, largest RSS", round(chat.resident_mb, 1), "MB"),
        at_most("daemon ready", statistics.median(one.ready_s for one in daemons), 2.0, "s"),
        at_most(
            "daemon idle, RSS", statistics.median(one.resident_mb for one in daemons), 150, "MB"
        ),
        Figure(
            "daemon idle, share of one core",
            round(statistics.median(one.cpu_share for one in daemons) * 100, 2),
            "%",
        ),
    ]
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
