"""Figures 2 and 3 as SVG and PNG. The only module that needs matplotlib."""

import os
import re

os.environ.setdefault("MPLBACKEND", "Agg")
import matplotlib  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

# Ids in the SVG come from this and not from the clock, so that the same numbers give the same file.
matplotlib.rcParams["svg.hashsalt"] = "kernelgen"

COLORS = plt.get_cmap("tab10").colors
KERNELS_A_ROW = 11  # of figure 3
MANY_COLORS = plt.get_cmap("tab20").colors


def numbered(svg):
    """An SVG with its clip paths numbered: their ids come from addresses in memory."""
    for number, name in enumerate(dict.fromkeys(re.findall(r'<clipPath id="(\w+)"', svg))):
        svg = svg.replace(name, f"clip{number}")
    return svg


def save(figure, folder, name):
    """Writes both formats; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    svg = folder / f"{name}.svg"
    figure.savefig(svg, metadata={"Date": None}, bbox_inches="tight")
    svg.write_text(numbered(svg.read_text()))
    figure.savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    return [f"{name}.svg", f"{name}.png"]


def speedups(panels, variants, title, folder, name="figure2"):
    """Bars of speed-up under lines of occupancy, a panel a block shape.

    panels: {panel title: {kernel: {variant: (speed-up, low, high, occupancy)}}}; the speed-up of the
    original is None, it has a line but no bar.
    """
    kernels = max((len(panel) for panel in panels.values()), default=1)
    figure, axes = plt.subplots(
        2 * len(panels),
        1,
        figsize=(max(6, 1.2 + 0.62 * kernels), 4.2 * len(panels)),
        height_ratios=[1, 3] * len(panels),
        squeeze=False,
        layout="constrained",
    )
    bars = [variant for variant in variants if variant != "original"]
    colors = {variant: COLORS[n % 10] for n, variant in enumerate(bars)} | {"original": "black"}
    for n, (panel_title, panel) in enumerate(panels.items()):
        draw_occupancy(axes[2 * n, 0], panel, variants, colors)
        axes[2 * n, 0].set_title(panel_title, fontsize="medium")
        draw_bars(axes[2 * n + 1, 0], panel, bars, colors)
    figure.suptitle(title)
    handles, labels = axes[1, 0].get_legend_handles_labels()
    # Below the figure; saving grows the picture by what sticks out.
    figure.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=max(1, len(labels)),
        frameon=False,
    )
    return save(figure, folder, name)


def draw_occupancy(axis, panel, variants, colors):
    for variant in variants:
        cells = [panel[kernel].get(variant) for kernel in panel]
        style = {"marker": ".", "linewidth": 0.9, "alpha": 0.8}
        heights = [100 * cell[3] if cell else float("nan") for cell in cells]
        axis.plot(range(len(cells)), heights, color=colors[variant], **style)
    axis.set_ylim(0, 108)
    axis.set_xlim(-0.6, len(panel) - 0.4)
    axis.set_xticks(range(len(panel)), [""] * len(panel))
    axis.set_ylabel("occupancy %", fontsize="small")


def draw_bars(axis, panel, variants, colors):
    width = 0.8 / max(1, len(variants))
    for n, variant in enumerate(variants):
        cells = [(k, panel[kernel].get(variant)) for k, kernel in enumerate(panel)]
        drawn = [(k + (n - (len(variants) - 1) / 2) * width, cell) for k, cell in cells if cell]
        low = [cell[0] - cell[1] for _, cell in drawn]
        high = [cell[2] - cell[0] for _, cell in drawn]
        axis.bar(
            [x for x, _ in drawn],
            [cell[0] for _, cell in drawn],
            width,
            color=colors[variant],
            label=variant,
            yerr=[low, high],
            error_kw={"elinewidth": 0.6, "capsize": 1},
        )
    # The original has no bar but a line.
    axis.axhline(1, color="black", linewidth=0.8, label="original")
    axis.set_xticks(range(len(panel)), list(panel), rotation=40, ha="right", rotation_mode="anchor")
    axis.set_xlim(-0.6, len(panel) - 0.4)
    axis.set_ylabel("speed-up over original")


def published(rows, theirs, ours, title, folder, name="figure2-published"):
    """Bars of speed-up: those of the paper, in grey, and ours beside them.

    rows: {kernel: {GPU: speed-up}}; theirs, ours: GPUs in the order of their bars.
    """
    figure, axis = plt.subplots(figsize=(max(6, 1.2 + 0.7 * len(rows)), 3.6), layout="constrained")
    bars = [(gpu, f"{gpu}, published") for gpu in theirs] + [(gpu, f"{gpu}, ours") for gpu in ours]
    width = 0.84 / max(1, len(bars))
    for n, (gpu, label) in enumerate(bars):
        drawn = [(k, row[gpu]) for k, row in enumerate(rows.values()) if gpu in row]
        color = str(0.85 - 0.18 * n) if n < len(theirs) else COLORS[(n - len(theirs)) % 10]
        places = [k + (n - (len(bars) - 1) / 2) * width for k, _ in drawn]
        axis.bar(places, [height for _, height in drawn], width, color=color, label=label)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(rows)), list(rows), rotation=40, ha="right", rotation_mode="anchor")
    axis.set_xlim(-0.6, len(rows) - 0.4)
    axis.set_ylabel("speed-up over original")
    figure.suptitle(title)
    figure.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(bars), frameon=False)
    return save(figure, folder, name)


def stall_bars(stalls, title, folder, name="figure3"):
    """Stacked bars of stall reasons, a group a kernel and a bar a variant.

    stalls: {kernel: {variant: {reason: fraction}}}
    """
    totals = {}
    for variants in stalls.values():
        for reasons in variants.values():
            for reason, fraction in reasons.items():
                totals[reason] = totals.get(reason, 0) + fraction
    ranked = sorted(totals, key=totals.get, reverse=True)
    shown, rest = ranked[:11], ranked[11:]
    kernels = list(stalls)
    count = -(-len(kernels) // KERNELS_A_ROW)
    width = -(-len(kernels) // count)
    parts = [kernels[n : n + width] for n in range(0, len(kernels), width)]
    figure, axes = plt.subplots(
        len(parts), 1, figsize=(14, 3.4 * len(parts)), squeeze=False, layout="constrained"
    )
    for axis, part in zip(axes[:, 0], parts):
        draw_stalls(axis, {kernel: stalls[kernel] for kernel in part}, shown, rest)
    figure.suptitle(title)
    axis = axes[0, 0]
    handles, names = axis.get_legend_handles_labels()
    figure.legend(
        handles[::-1],
        names[::-1],
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        frameon=False,
        fontsize="small",
    )
    return save(figure, folder, name)


def draw_stalls(axis, stalls, shown, rest):
    """One row of figure 3; `rest` are the reasons that are too small for a colour each."""
    bars, labels, centres, at = [], [], [], 0.0
    for kernel, variants in stalls.items():
        first = at
        for variant, reasons in variants.items():
            bars.append((at, reasons))
            labels.append((at, variant))
            at += 1
        centres.append(((first + at - 1) / 2, kernel))
        at += 0.8
    bottom = [0.0] * len(bars)
    for n, reason in enumerate([*shown, *(["other"] if rest else [])]):
        of = rest if reason == "other" else [reason]
        heights = [100 * sum(reasons.get(r, 0) for r in of) for _, reasons in bars]
        axis.bar(
            [x for x, _ in bars],
            heights,
            0.9,
            bottom=bottom,
            color=MANY_COLORS[n % 20],
            label=reason.replace("_", " "),
        )
        bottom = [below + height for below, height in zip(bottom, heights)]
    axis.set_xticks(
        [x for x, _ in labels], [variant for _, variant in labels], rotation=90, fontsize="x-small"
    )
    for x, kernel in centres:
        axis.text(x, 102, kernel, ha="center", va="bottom", fontsize="small")
    axis.set_ylim(0, 100)
    axis.set_xlim(-0.8, at - 1)
    axis.set_ylabel("share of stalls in %")
