"""Measured against predicted times as one SVG, a panel for each limit."""

import math

PANEL, MARGIN, COLUMNS = 230, 46, 4
COLOURS = {"fitted": "#1f77b4", "held out": "#d62728"}


def scatter(points, title):
    """points: (limit, group, measured, predicted) in microseconds; groups are those of COLOURS."""
    limits = sorted({point[0] for point in points})
    rows = (len(limits) + COLUMNS - 1) // COLUMNS
    width, height = COLUMNS * (PANEL + MARGIN) + MARGIN, rows * (PANEL + MARGIN + 14) + 64
    low = math.floor(math.log10(min(min(p[2:]) for p in points)))
    high = math.ceil(math.log10(max(max(p[2:]) for p in points)))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{MARGIN}" y="20" font-size="14">{title}</text>',
    ]
    for n, (group, colour) in enumerate(COLOURS.items()):
        x = MARGIN + 110 * n
        out.append(f'<circle cx="{x + 4}" cy="36" r="3" fill="{colour}"/>')
        out.append(f'<text x="{x + 12}" y="40">{group}</text>')
    for n, limit in enumerate(limits):
        left = MARGIN + n % COLUMNS * (PANEL + MARGIN)
        top = 64 + n // COLUMNS * (PANEL + MARGIN + 14)
        out += panel([p for p in points if p[0] == limit], limit, left, top, low, high)
    return "\n".join([*out, "</svg>"]) + "\n"


def panel(points, limit, left, top, low, high):
    def at(value):
        return (math.log10(value) - low) / (high - low) * PANEL

    out = [
        f'<rect x="{left}" y="{top}" width="{PANEL}" height="{PANEL}" fill="none" stroke="#888"/>',
        f'<text x="{left}" y="{top - 5}">{limit}: {len(points)}</text>',
        f'<line x1="{left}" y1="{top + PANEL}" x2="{left + PANEL}" y2="{top}" stroke="#bbb"/>',
    ]
    for power in range(low, high + 1):
        x = (power - low) / (high - low) * PANEL
        out.append(f'<text x="{left + x:.0f}" y="{top + PANEL + 12}" text-anchor="middle">1e{power}</text>')
        out.append(f'<text x="{left - 4}" y="{top + PANEL - x + 4:.0f}" text-anchor="end">1e{power}</text>')
    out.append(f'<text x="{left + PANEL / 2}" y="{top + PANEL + 26}" text-anchor="middle">measured, us</text>')
    for _, group, measured, predicted in sorted(points, key=lambda p: p[1]):
        out.append(
            f'<circle cx="{left + at(measured):.1f}" cy="{top + PANEL - at(predicted):.1f}" r="1.6" '
            f'fill="{COLOURS[group]}" fill-opacity="0.6"/>'
        )
    return out
