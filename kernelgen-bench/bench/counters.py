"""Hardware counters: the CSV files that profile.sh leaves, one a variant."""

import csv
import pathlib
import re

STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active(?:\.ratio)?$")

# Column of the table -> metric.
COUNTERS = {
    "instructions": "smsp__inst_executed.sum",
    "L1 wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "DRAM read": "dram__bytes_read.sum",
    "DRAM written": "dram__bytes_write.sum",
    "registers": "launch__registers_per_thread",
    "occupancy %": "sm__warps_active.avg.pct_of_peak_sustained_active",
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
    """{variant: {kernel entry: {metric: number}}} of all files of a folder, the original first."""
    paths = sorted(
        pathlib.Path(folder).glob("*.csv"), key=lambda path: (path.stem != "original", path.stem)
    )
    return {path.stem: read_file(path) for path in paths}


def stalls(metrics):
    """{reason: fraction of all stalls}, largest first; empty if there are none."""
    found = {}
    for metric, number in metrics.items():
        match = STALL.match(metric or "")
        if match and number:
            found[match[1]] = number
    total = sum(found.values())
    return {
        reason: number / total
        for reason, number in sorted(found.items(), key=lambda item: -item[1])
    }
