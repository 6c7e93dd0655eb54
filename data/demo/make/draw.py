# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the pictures of the demo: eight kinds of signs on busy backgrounds, 64 x 64 pixels.

Everything is drawn from a seed, so the same call gives the same pictures.
"""
import math
import random

from PIL import Image, ImageDraw, ImageFilter

CLASSES = ["arrow", "circle", "cross", "heart", "ring", "square", "star", "triangle"]
SIZE = 64
SCALE = 4  # drawn larger and shrunk, for smooth edges


def polygon(points, angle, radius, cx, cy):
    c, s = math.cos(angle), math.sin(angle)
    return [(cx + radius * (x * c - y * s), cy + radius * (x * s + y * c)) for x, y in points]


def regular(n, inner=None):
    count = n * (2 if inner else 1)
    points = []
    for i in range(count):
        r = inner if inner and i % 2 else 1.0
        a = -math.pi / 2 + 2 * math.pi * i / count
        points.append((r * math.cos(a), r * math.sin(a)))
    return points


def heart():
    points = []
    for i in range(40):
        t = 2 * math.pi * i / 40
        x = 16 * math.sin(t) ** 3
        y = -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t))
        points.append((x / 17, y / 17))
    return points


ARROW = [(-1, -0.3), (0.1, -0.3), (0.1, -0.8), (1, 0), (0.1, 0.8), (0.1, 0.3), (-1, 0.3)]
CROSS = [(-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35),
         (0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)]


def colour(rng):
    return tuple(rng.randrange(256) for _ in range(3))


def contrast(a, b):
    return sum(abs(x - y) for x, y in zip(a, b))


def background(rng, draw, side):
    base, other = colour(rng), colour(rng)
    for y in range(side):
        t = y / side
        draw.line([(0, y), (side, y)], fill=tuple(round(a + (b - a) * t) for a, b in zip(base, other)))
    for _ in range(rng.randrange(3, 9)):
        x, y, r = rng.randrange(side), rng.randrange(side), rng.randrange(side // 12, side // 4)
        if rng.random() < 0.5:
            draw.line([(x, y), (rng.randrange(side), rng.randrange(side))], fill=colour(rng), width=rng.randrange(2, 8))
        else:
            draw.arc([x - r, y - r, x + r, y + r], rng.randrange(360), rng.randrange(360), fill=colour(rng), width=4)
    return base, other


def figure(rng, draw, kind, fill, side):
    radius = side * rng.uniform(0.22, 0.36)
    cx, cy = side * rng.uniform(0.38, 0.62), side * rng.uniform(0.38, 0.62)
    angle = rng.uniform(-0.4, 0.4)
    box = [cx - radius, cy - radius, cx + radius, cy + radius]
    if kind == "circle":
        draw.ellipse(box, fill=fill)
    elif kind == "ring":
        draw.ellipse(box, outline=fill, width=round(radius * rng.uniform(0.28, 0.42)))
    else:
        points = {"arrow": ARROW, "cross": CROSS, "heart": heart(), "square": regular(4), "star": regular(5, 0.42),
                  "triangle": regular(3)}[kind]
        turn = math.pi / 4 if kind == "square" else rng.choice([0, math.pi]) if kind == "arrow" else 0
        draw.polygon(polygon(points, angle + turn, radius, cx, cy), fill=fill)


def picture(kind, seed):
    """One RGB picture of a sign of the given kind."""
    rng = random.Random(f"{kind}-{seed}")
    side = SIZE * SCALE
    image = Image.new("RGB", (side, side))
    draw = ImageDraw.Draw(image)
    base, other = background(rng, draw, side)
    fill = colour(rng)
    while min(contrast(fill, base), contrast(fill, other)) < 170:
        fill = colour(rng)
    figure(rng, draw, kind, fill, side)
    image = image.resize((SIZE, SIZE), Image.LANCZOS)
    if rng.random() < 0.3:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.0)))
    noise = rng.uniform(0, 14)
    pixels = bytearray(image.tobytes())
    for i in range(len(pixels)):
        pixels[i] = max(0, min(255, round(pixels[i] + rng.gauss(0, noise))))
    return Image.frombytes("RGB", (SIZE, SIZE), bytes(pixels))
