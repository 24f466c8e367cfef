"""Figures 2 and 3 as SVG and PNG. The only module that needs matplotlib."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
import matplotlib  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

# Ids in the SVG come from this and not from the clock, so that the same numbers give the same file.
matplotlib.rcParams["svg.hashsalt"] = "kernelgen"

COLORS = plt.get_cmap("tab10").colors
MANY_COLORS = plt.get_cmap("tab20").colors


def save(figure, folder, name):
    """Writes both formats; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    return [f"{name}.svg", f"{name}.png"]


def speedups(panels, variants, title, folder, name="figure2"):
    """Bars of speed-up and lines of occupancy, a panel a block shape.

    panels: {panel title: {kernel: {variant: (speed-up, low, high, occupancy)}}}
    """
    kernels = max((len(panel) for panel in panels.values()), default=1)
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(max(6, 1.2 + 0.62 * kernels), 3.4 * len(panels)), squeeze=False, layout="constrained"
    )
    for axis, (panel_title, panel) in zip(axes[:, 0], panels.items()):
        width = 0.8 / max(1, len(variants))
        occupancy_axis = axis.twinx()
        for n, variant in enumerate(variants):
            at = [k + (n - (len(variants) - 1) / 2) * width for k in range(len(panel))]
            cells = [panel[kernel].get(variant) for kernel in panel]
            bars = [(x, cell) for x, cell in zip(at, cells) if cell]
            axis.bar(
                [x for x, _ in bars],
                [cell[0] for _, cell in bars],
                width,
                color=COLORS[n % 10],
                label=variant,
                yerr=[[cell[0] - cell[1] for _, cell in bars], [cell[2] - cell[0] for _, cell in bars]],
                error_kw={"elinewidth": 0.6, "capsize": 1},
            )
            occupancy_axis.plot(
                [k for k, cell in enumerate(cells) if cell],
                [100 * cell[3] for cell in cells if cell],
                color=COLORS[n % 10],
                marker=".",
                linewidth=0.8,
                alpha=0.7,
            )
        axis.axhline(1, color="black", linewidth=0.7)
        axis.set_xticks(range(len(panel)), list(panel), rotation=40, ha="right", rotation_mode="anchor")
        axis.set_xlim(-0.6, len(panel) - 0.4)
        axis.set_ylabel("speed-up over original")
        axis.set_title(panel_title, fontsize="medium")
        occupancy_axis.set_ylim(0, 105)
        occupancy_axis.set_ylabel("occupancy % (lines)")
    figure.suptitle(title)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(1, len(labels)), frameon=False)
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
    bars, labels, centres, at = [], [], [], 0.0
    for kernel, variants in stalls.items():
        first = at
        for variant, reasons in variants.items():
            bars.append((at, reasons))
            labels.append((at, variant))
            at += 1
        centres.append(((first + at - 1) / 2, kernel))
        at += 0.8
    figure, axis = plt.subplots(figsize=(max(6, 1.5 + 0.2 * at), 4.2), layout="constrained")
    bottom = [0.0] * len(bars)
    for n, reason in enumerate([*shown, *(["other"] if rest else [])]):
        heights = [
            100 * (sum(reasons.get(r, 0) for r in rest) if reason == "other" else reasons.get(reason, 0))
            for _, reasons in bars
        ]
        axis.bar([x for x, _ in bars], heights, 0.9, bottom=bottom, color=MANY_COLORS[n % 20], label=reason.replace("_", " "))
        bottom = [below + height for below, height in zip(bottom, heights)]
    axis.set_xticks([x for x, _ in labels], [variant for _, variant in labels], rotation=90, fontsize="x-small")
    for x, kernel in centres:
        axis.text(x, 101.5, kernel, ha="center", va="bottom", fontsize="x-small", rotation=30)
    axis.set_ylim(0, 100)
    axis.set_xlim(-0.8, at - 1)
    axis.set_ylabel("share of stalls in %")
    figure.suptitle(title)
    handles, names = axis.get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside right center", frameon=False, fontsize="small")
    return save(figure, folder, name)
