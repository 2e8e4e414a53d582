#!/usr/bin/env python3
"""Our transformer against PyTorch on this machine's CPU: tokens a second, and memory.

    cargo build -p tribunal-transformer --example speed
    python3 tests/torch/speed.py            # makes a virtual environment under target/ if torch is missing
    python3 tests/torch/speed.py --large --threads 1,2 --rounds 5

Both sides train the same shapes on the same batch sizes (forward, loss, backward, clipping, AdamW) and
draw the same numbers of tokens with a key-value cache. Each runs by itself in its own process, the two
take turns; a run reports its best step, and the table has the median over the runs. Figures a processor
second hold on a busy machine too; those by the clock do only where the load that is printed is low.
A row stands as soon as it is measured, a run that takes too long is given up, and when the minutes are
spent what is left is named. Nothing of this is needed to build or to test.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ROOT / "target/debug/examples/speed"
SHAPES = {  # vocab, dim, layers, heads, hidden: as in policies/transformer/examples/speed.rs
    1: (1024, 128, 4, 4, 344),
    5: (2048, 256, 5, 8, 688),
    26: (4096, 512, 8, 8, 1376),
}
PROMPT, NEW = 64, 128


def model(torch, size):
    F = torch.nn.functional
    vocab, dim, layers, heads, hidden = SHAPES[size]
    kv, head = heads // 2, dim // heads

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            linear = lambda i, o: torch.nn.Linear(i, o, bias=False)
            self.n1, self.n2 = torch.nn.RMSNorm(dim, 1e-5), torch.nn.RMSNorm(dim, 1e-5)
            self.qkv, self.out = linear(dim, (heads + 2 * kv) * head), linear(dim, dim)
            self.gate_up, self.down = linear(dim, 2 * hidden), linear(hidden, dim)

        def forward(self, x, cos, sin, cache=None, at=0):
            b, t, _ = x.shape
            q, k, v = self.qkv(self.n1(x)).view(b, t, heads + 2 * kv, head).transpose(1, 2).split([heads, kv, kv], 1)
            q, k = turn(torch, q, cos, sin), turn(torch, k, cos, sin)
            if cache is not None:
                cache[0][:, :, at:at + t], cache[1][:, :, at:at + t] = k, v
                k, v = cache[0][:, :, :at + t], cache[1][:, :, :at + t]
            y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1, enable_gqa=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, dim))
            gate, up = self.gate_up(self.n2(x)).chunk(2, -1)
            return x + self.down(F.silu(gate) * up)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(vocab, dim)
            torch.nn.init.normal_(self.embedding.weight, std=0.02)
            self.blocks = torch.nn.ModuleList(Block() for _ in range(layers))
            self.norm = torch.nn.RMSNorm(dim, 1e-5)
            angle = torch.arange(1024)[:, None] * 10_000.0 ** (-torch.arange(head // 2) / (head // 2))
            self.cos, self.sin = angle.cos(), angle.sin()

        def forward(self, tokens, caches=None, at=0):
            x, t = self.embedding(tokens), tokens.shape[1]
            for i, block in enumerate(self.blocks):
                x = block(x, self.cos[at:at + t], self.sin[at:at + t], caches and caches[i], at)
            x = self.norm(x if caches is None else x[:, -1:])
            return x @ self.embedding.weight.t()

    return Model(), (vocab, layers, kv, head)


def turn(torch, x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def training(torch, size, count, length):
    net, (vocab, *_) = model(torch, size)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(vocab, (count, length + 1))
    best = [float("inf")] * 2
    for _ in range(4):
        start = clocks()
        optimizer.zero_grad(set_to_none=True)
        logits = net(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, vocab), tokens[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        best = least(best, start)
    return [count * length / seconds for seconds in best]


def drawing(torch, size, count, _):
    net, (vocab, layers, kv, head) = model(torch, size)
    best = [float("inf")] * 2
    for _ in range(3):
        with torch.inference_mode():
            start = clocks()
            caches = [torch.empty(2, count, kv, PROMPT + NEW, head) for _ in range(layers)]
            tokens, at, kept = torch.randint(vocab, (count, PROMPT)), 0, []
            for _ in range(NEW):
                log_probs = torch.log_softmax(net(tokens, caches, at)[:, -1], -1)
                at += tokens.shape[1]
                tokens = torch.multinomial(log_probs.exp(), 1)
                kept.append(log_probs.gather(1, tokens))
            best = least(best, start)
    return [count * NEW / seconds for seconds in best]


def clocks():
    """Seconds by the clock, and of all processors together."""
    return time.perf_counter(), time.process_time()


def least(best, start):
    return [min(a, now - then) for a, now, then in zip(best, clocks(), start)]


def run(command, seconds):
    """Tokens a second and a processor second, which the command prints last, and its peak memory in MB;
    none where it was given up."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    watch = threading.Timer(seconds, process.kill)
    watch.start()
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    given_up = not watch.is_alive()
    watch.cancel()
    if status and not given_up:
        sys.exit(f"{command} failed")
    return None if status else [*json.loads(text.strip().splitlines()[-1]), usage.ru_maxrss / 1024]


def measured(python, arguments, options):
    """Medians of both sides; none where too few runs came to their end."""
    sides = [[str(OURS)], [python, __file__, "--torch"]]
    found = [[], []]
    for _ in range(options.rounds):
        for side, runs in zip(sides, found):
            runs.append(run([*side, *arguments], options.seconds))
    whole = [[one for one in runs if one] for runs in found]
    if any(len(runs) * 2 <= options.rounds for runs in whole):
        return None
    return [[statistics.median(column) for column in zip(*runs)] for runs in whole]


def compare(python, options):
    sizes = (1, 5, 26) if options.large else (1, 5)
    cases = [("training", size, 8, 256) for size in sizes] + [("drawing", size, 32, 0) for size in sizes]
    began, left = time.monotonic(), []
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; medians of {options.rounds} runs of each side")
    print(f"{'':36}{'a processor second':^22} {'a second':^24} {'peak MB':^16}")
    print(f"{'':36}" + f"{'ours':>7} {'torch':>7} {'ratio':>6} " * 3, flush=True)
    for threads in options.threads:
        for kind, size, count, length in cases:
            what = f"{kind} {size} M, {threads} threads, {count} x {length or NEW}"
            if time.monotonic() - began > options.minutes * 60:
                left.append(what)
                continue
            found = measured(python, [kind, str(size), str(threads), str(count), str(length)], options)
            if found is None:
                left.append(what)
                continue
            ours, theirs = found
            columns = [(ours[i], theirs[i]) for i in (1, 0, 2)]
            print(f"{what:36}" + "".join(f"{a:7.0f} {b:7.0f} {a / b:6.2f} " for a, b in columns), flush=True)
    print(f"load {os.getloadavg()[0]:.1f}; {time.monotonic() - began:.0f} s")
    if left:
        print(f"not measured, for want of time (--minutes, --seconds): {'; '.join(left)}")


def options(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser.add_argument("--threads", type=numbers, default=[1], help="how many threads, separated by commas [1]")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side [3]")
    parser.add_argument("--large", action="store_true", help="26 million weights too")
    parser.add_argument("--seconds", type=float, default=120, help="a run that takes longer is given up [120]")
    parser.add_argument("--minutes", type=float, default=10, help="no case is begun after so many [10]")
    return parser.parse_args(words)


def main():
    if sys.argv[1:2] == ["--torch"]:
        kind, size, threads, count, length = sys.argv[2], *map(int, sys.argv[3:])
        import torch
        torch.set_num_threads(threads)
        rate = {"training": training, "drawing": drawing}[kind](torch, size, count, length)
        return print(json.dumps(rate))
    asked = options(sys.argv[1:])
    if not OURS.exists():
        sys.exit(f"{OURS} is missing: cargo build -p tribunal-transformer --example speed")
    python = os.environ.get("TORCH_PYTHON")
    if not python:
        folder = ROOT / "target/torch"
        python = str(folder / "bin/python")
        if not Path(python).exists():
            venv.create(folder, with_pip=True)
            subprocess.check_call([python, "-m", "pip", "install", "--quiet", "torch==2.15.0"])
    compare(python, asked)


if __name__ == "__main__":
    main()
