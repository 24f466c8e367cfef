"""Hardware counters: the CSV files that profile.sh leaves, one per variant."""

import csv
import json
import pathlib
import re

# The warp that issues is "selected": it does not wait, so that its share is of no stall.
NO_STALL = {"selected"}
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active(?:\.ratio)?$")

THREADS = "launch__thread_count"
TALK = "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum"

# Column of the table -> metric, and what it is divided by: the number of warps ("warp"), 1e9 for
# gigabytes, or nothing.
COUNTERS = {
    "instructions": ("smsp__inst_executed.sum", "warp"),
    "LSU instructions": ("sm__inst_executed_pipe_lsu.sum", "warp"),
    "L1 wavefronts": ("l1tex__data_pipe_lsu_wavefronts.sum", "warp"),
    "load requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "warp"),
    "load sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "warp"),
    "L1 hits %": ("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", None),
    "L2 sectors": ("lts__t_sectors_srcunit_tex_op_read.sum", "warp"),
    "DRAM read GB": ("dram__bytes_read.sum", 1e9),
    "DRAM written GB": ("dram__bytes_write.sum", 1e9),
    "DRAM %": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", None),
    "LSU %": ("l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", None),
    "issue %": ("smsp__issue_active.avg.pct_of_peak_sustained_active", None),
    "registers": ("launch__registers_per_thread", None),
    "occupancy %": ("sm__warps_active.avg.pct_of_peak_sustained_active", None),
}


def cell(metrics, column):
    """A counter as the table has it; None where the profiler did not give it."""
    metric, unit = COUNTERS[column]
    number = metrics.get(metric)
    if unit == "warp":
        threads = metrics.get(THREADS)
        return number / (threads / 32) if number is not None and threads else None
    return number / (unit or 1) if number is not None else None


def used(folders):
    """What tables and figures need of read_folder()'s result, to be kept."""
    wanted = {metric for metric, _ in COUNTERS.values()}
    wanted |= {THREADS, TALK, "gpu__time_duration.sum"}
    return {
        variant: {
            entry: {
                metric: number
                for metric, number in metrics.items()
                if number is not None and (metric in wanted or STALL.match(metric or ""))
            }
            for entry, metrics in kernels.items()
        }
        for variant, kernels in folders.items()
    }


def value(cell):
    """A number as the profiler prints it, with commas between thousands; None for anything else."""
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None


def read_file(path):
    """{kernel entry: {metric: number}} of one CSV file, lines of the profiler itself skipped."""
    lines = path.read_text(errors="replace").splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError(f"{path} holds no table of counters")
    result = {}
    for row in csv.DictReader(lines[start:]):
        name = row.get("Kernel Name") or ""
        if name:  # the row of units has none
            result[name.split("(")[0]] = {metric: value(cell or "") for metric, cell in row.items()}
    return result


def read_folder(folder):
    """{variant: {kernel entry: {metric: number}}} of all files of a folder, the original first; or of
    a JSON file of an earlier report."""
    if pathlib.Path(folder).is_file():
        return json.loads(pathlib.Path(folder).read_text())["variants"]
    paths = sorted(
        pathlib.Path(folder).glob("*.csv"), key=lambda path: (path.stem != "original", path.stem)
    )
    return {path.stem: read_file(path) for path in paths}


def read_options(folder):
    """The runner's options under the profiler, as profile.sh left them; empty if it did not."""
    path = pathlib.Path(folder)
    if path.is_file():
        return json.loads(path.read_text())["options"]
    return (path / "options").read_text().strip() if (path / "options").exists() else ""


def stalls(metrics):
    """{reason: fraction of all stalls}, largest first; empty if there are none."""
    found = {}
    for metric, number in metrics.items():
        match = STALL.match(metric or "")
        if match and number and match[1] not in NO_STALL:
            found[match[1]] = number
    total = sum(found.values())
    return {
        reason: number / total
        for reason, number in sorted(found.items(), key=lambda item: -item[1])
    }
