#!/usr/bin/env python3
"""Our transformer against PyTorch on this machine's CPU: tokens a second, and memory.

    cargo build -p tribunal-transformer --example speed
    python3 tests/torch/speed.py            # makes a virtual environment under target/ if torch is missing

Both sides train the same shapes on the same batch sizes (forward, loss, backward, clipping, AdamW) and
draw the same numbers of tokens with a key-value cache. Each runs by itself in its own process, the two
take turns, and the best of several rounds counts. Nothing of this is needed to build or to test.
"""
import json
import os
import subprocess
import sys
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
    for _ in range(5):
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


def run(command):
    """Tokens a second and a processor second, which the command prints last; its peak memory in MB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return [*json.loads(text.strip().splitlines()[-1]), usage.ru_maxrss / 1024]


def compare(python):
    cases = [("training", 1, 8, 256), ("training", 5, 8, 256), ("training", 26, 8, 256)]
    cases += [("drawing", 1, 32, 0), ("drawing", 5, 32, 0), ("drawing", 26, 32, 0)]
    print(f"{'':36}{'a second':^22} {'a processor second':^24} {'peak MB':^16}")
    print(f"{'':36}" + f"{'ours':>7} {'torch':>7} {'ratio':>6} " * 3)
    for threads in (1, 2):
        for kind, size, count, length in cases:
            arguments = [kind, str(size), str(threads), str(count), str(length)]
            rounds = [(run([str(OURS), *arguments]), run([python, __file__, "--torch", *arguments])) for _ in range(2)]
            print(f"{f'{kind} {size} M, {threads} threads, {count} x {length or NEW}':36}", end="")
            for i, pick in enumerate((max, max, min)):
                ours, theirs = pick(round[0][i] for round in rounds), pick(round[1][i] for round in rounds)
                print(f"{ours:7.0f} {theirs:7.0f} {ours / theirs:6.2f} ", end="")
            print(flush=True)


def main():
    if sys.argv[1:2] == ["--torch"]:
        kind, size, threads, count, length = sys.argv[2], *map(int, sys.argv[3:])
        import torch
        torch.set_num_threads(threads)
        rate = {"training": training, "drawing": drawing}[kind](torch, size, count, length)
        return print(json.dumps(rate))
    if not OURS.exists():
        sys.exit(f"{OURS} is missing: cargo build -p tribunal-transformer --example speed")
    python = os.environ.get("TORCH_PYTHON")
    if not python:
        folder = ROOT / "target/torch"
        python = str(folder / "bin/python")
        if not Path(python).exists():
            venv.create(folder, with_pip=True)
            subprocess.check_call([python, "-m", "pip", "install", "--quiet", "torch==2.15.0"])
    compare(python)


if __name__ == "__main__":
    main()
