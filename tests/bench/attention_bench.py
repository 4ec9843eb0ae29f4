# SPDX-License-Identifier: Apache-2.0
"""Times attention modules against cuDNN's (through PyTorch) in one run, interleaved, on random normal data.
It needs a GPU and PyTorch; it is no test and gates nothing.

    attention_bench.py B H S NAME=MODULE.ptx[:causal] ...

The parameters of a module are those of examples/attention/attention.pk. burst: short batches with pauses;
sustained: batches back to back. Medians of per-round ratios, with the least and the most."""
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from pkrt import Runtime

ROUNDS = 11


def batch(call, n):
    """Milliseconds a call takes in a batch of n."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(n):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / n


def compare(ours, theirs, flops, name):
    n = max(1, int(12 / batch(theirs, 3)))
    for regime, count, pause in (("burst", n, 0.05), ("sustained", 8 * n, 0)):
        rows = []
        for _ in range(ROUNDS):
            time.sleep(pause)
            a = batch(ours, count)
            time.sleep(pause)
            rows.append((a, batch(theirs, count)))
        ratios = sorted(b / a for a, b in rows)
        rate = [flops / statistics.median(column) * 1e-9 for column in zip(*rows)]
        print(f"{name:28} {regime:9} ours {rate[0]:6.1f}  cuDNN {rate[1]:6.1f} TFLOP/s  ratio "
              f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})", flush=True)


def main():
    b, h, s = (int(x) for x in sys.argv[1:4])
    runtime = Runtime()
    for spec in sys.argv[4:]:
        name, _, file = spec.partition("=")
        file, _, causal = file.partition(":")
        d = 128
        q, k, v = (torch.randn(b, h, s, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        o = torch.full_like(q, math.nan)
        scale = 1 / math.sqrt(d)
        kernel = runtime.bind(file, Q=q, K=k, V=v, O=o, scale=scale, causal=int(bool(causal)))
        stream = torch.cuda.current_stream()

        def theirs():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))

        runtime.launch(kernel, stream)
        want = theirs()
        error = ((o.float() - want.float()).norm() / want.float().norm()).item()
        flops = 4 * b * h * s * s * d * (0.5 if causal else 1)
        print(f"{name}: difference to cuDNN {error:.1e}")
        compare(lambda: runtime.launch(kernel, stream), theirs, flops, f"{name} S={s}{' causal' if causal else ''}")


main()
