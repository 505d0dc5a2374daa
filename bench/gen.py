#!/usr/bin/env python3
"""Write one graph twice, as g.bgraph and as build.ninja, with the files it reads.

usage: gen.py SHAPE N DIR

chain  N stages, each reads what the one before made
wide   N stages, each reads a source of its own
dag    N compilations that read a source and about 20 of a pool of headers, an archive for every 50 of them, one link

The commands do as little as a command can (`touch`), so that what is measured is the tool. The same arguments
give the same bytes.
"""
import random
import sys
from pathlib import Path

GROUP = 50      # compilations in an archive
HEADERS = 20    # read by a compilation, on average
HOT = 0.01      # of the pool: headers that nearly everything reads


class Graph:
    """Edges in an order in which each one's inputs come before it: (name, label, sources, made inputs)."""

    def __init__(self):
        self.edges = []
        self.sources = {}

    def source(self, path):
        self.sources[path] = f"/* {path} */\n"
        return path

    def edge(self, name, label, sources=(), made=()):
        self.edges.append((name, label, list(sources), list(made)))
        return name


def chain(n):
    g = Graph()
    before = []
    for i in range(n):
        sources = [g.source("src/first.c")] if i == 0 else []
        before = [g.edge(f"s{i}", f"Stage {i}", sources, before)]
    return g


def wide(n):
    g = Graph()
    for i in range(n):
        g.edge(f"o{i}", f"Object {i}", [g.source(f"src/m{i // GROUP}/f{i}.c")])
    return g


def dag(n):
    g = Graph()
    rng = random.Random(7)
    pool = [g.source(f"include/d{i // 100}/h{i}.h") for i in range(max(200, n // 5))]
    hot = pool[:max(10, int(len(pool) * HOT))]
    archives = []
    for first in range(0, n, GROUP):
        near = [pool[(first // 5 + k) % len(pool)] for k in range(60)]
        members = []
        for i in range(first, min(first + GROUP, n)):
            k = HEADERS + rng.randint(-4, 4)
            headers = rng.sample(hot, 6) + rng.sample(near, 8) + rng.sample(pool, max(0, k - 14))
            source = g.source(f"src/m{first // GROUP}/f{i}.c")
            members.append(g.edge(f"o{i}", f"Object {i}", [source, *dict.fromkeys(headers)]))
        archives.append(g.edge(f"a{first // GROUP}", f"Archive {first // GROUP}", made=members))
    g.edge("app", "Application", made=archives)
    return g


def write_bgraph(g, path):
    with open(path, "w") as f:
        f.write("bgraph 1\n")
        for name, label, sources, made in g.edges:
            inputs = [f'src("{s}")' for s in sources] + [f"{m}.o" for m in made]
            f.write(f'stage {name} "{label}" {{\n    in = [{", ".join(inputs)}]\n    out o : file = "{name}.o"\n'
                    f'    run = ["touch", out.o]\n}}\n')


def write_ninja(g, path):
    with open(path, "w") as f:
        f.write("rule touch\n  command = touch $out\n")
        for name, _, sources, made in g.edges:
            f.write(f'build out/{name}.o: touch {" ".join(sources + [f"out/{m}.o" for m in made])}\n')


def write(shape, n, directory):
    g = {"chain": chain, "wide": wide, "dag": dag}[shape](n)
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    for path, text in g.sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    write_bgraph(g, root / "g.bgraph")
    write_ninja(g, root / "build.ninja")
    return len(g.edges)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("chain", "wide", "dag") or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    print(write(sys.argv[1], int(sys.argv[2]), sys.argv[3]), "edges")
