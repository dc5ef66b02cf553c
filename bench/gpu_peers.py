#!/usr/bin/env python3
"""What CuPy and JAX reach for the operations of bench/gpu.cpp on this machine, beside a device copy."""
import statistics
import time


def report(peer, what, seconds, bytes_moved, copy):
    rate = bytes_moved / seconds
    print(f"{peer:5} {what:28} {seconds * 1e3:9.3f} ms {rate * 1e-9:8.1f} GB/s  {100 * rate / copy:5.1f}% of copy")


def timed(call, wait, calls):
    wait(call())
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            out = call()
        wait(out)
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)


def arithmetic(peer, what, seconds, operations):
    print(f"{peer:5} {what:28} {seconds * 1e3:9.3f} ms {operations / seconds * 1e-9:8.1f} GFLOP/s")


N, SIDE = 1 << 27, 8192
PRODUCT = 2048
IMAGES, IMAGE, CHANNELS = 16, 56, 64
CONVOLUTION = 2 * IMAGES * IMAGE * IMAGE * CHANNELS * 9 * CHANNELS


def cupy_table():
    try:
        import cupy as cp
    except ImportError as e:
        print(f"NOTICE: no CuPy ({e})")
        return
    wait = lambda _: cp.cuda.runtime.deviceSynchronize()
    a, b, c = cp.ones(N), cp.ones(N), cp.full(N, 0.5)

    def copying():
        b[...] = a

    copy = 2 * 8 * N / timed(copying, wait, 20)
    triad = cp.ElementwiseKernel("float64 b, float64 c, float64 s", "float64 a", "a = b + s * c", "triad")
    report("cupy", "triad", timed(lambda: triad(b, c, 2.0, a), wait, 20), 3 * 8 * N, copy)
    x = a[: SIDE * SIDE].reshape(SIDE, SIDE)
    y = b[: SIDE * SIDE].reshape(SIDE, SIDE)

    def sweep():
        y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])

    report("cupy", "jacobi_2d sweep", timed(sweep, wait, 5), 2 * 8 * SIDE * SIDE, copy)
    report("cupy", "full sum", timed(lambda: c.sum(), wait, 20), 8 * N, copy)

    def transpose():
        y[...] = x.T

    report("cupy", "transpose", timed(transpose, wait, 10), 2 * 8 * SIDE * SIDE, copy)
    for kind in ("float32", "float64"):
        p = cp.full((PRODUCT, PRODUCT), 0.5, kind)
        q = cp.full((PRODUCT, PRODUCT), 0.25, kind)
        arithmetic("cupy", f"product {PRODUCT}^3 {kind}", timed(lambda: p @ q, wait, 10), 2 * PRODUCT**3)


def jax_table():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as e:
        print(f"NOTICE: no JAX ({e})")
        return
    jax.config.update("jax_enable_x64", True)
    wait = lambda out: out.block_until_ready()
    b, c = jnp.ones(N), jnp.full(N, 0.5)
    copy = 2 * 8 * N / timed(lambda f=jax.jit(lambda v: v * 1.5): f(b), wait, 20)
    f = jax.jit(lambda b, c: b + 2.0 * c)
    report("jax", "triad", timed(lambda: f(b, c), wait, 20), 3 * 8 * N, copy)
    x = jnp.ones((SIDE, SIDE))
    g = jax.jit(
        lambda x: x.at[1:-1, 1:-1].set(0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]))
    )
    report("jax", "jacobi_2d sweep", timed(lambda: g(x), wait, 10), 2 * 8 * SIDE * SIDE, copy)
    h = jax.jit(lambda v: v.sum())
    report("jax", "full sum", timed(lambda: h(c), wait, 20), 8 * N, copy)
    t = jax.jit(lambda v: v.T + 0.0)
    report("jax", "transpose", timed(lambda: t(x), wait, 10), 2 * 8 * SIDE * SIDE, copy)
    # The precision of the type, as our kernels have: by default JAX may round float32 to TF32.
    exact = jax.lax.Precision.HIGHEST
    m = jax.jit(lambda p, q: jnp.matmul(p, q, precision=exact))
    for kind in ("float32", "float64"):
        p = jnp.full((PRODUCT, PRODUCT), 0.5, kind)
        q = jnp.full((PRODUCT, PRODUCT), 0.25, kind)
        arithmetic("jax", f"product {PRODUCT}^3 {kind}", timed(lambda: m(p, q), wait, 10), 2 * PRODUCT**3)
    k = jax.jit(
        lambda x, w: jax.lax.conv_general_dilated(
            x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision=exact
        )
    )
    image = jnp.full((IMAGES, IMAGE + 2, IMAGE + 2, CHANNELS), 0.5, "float32")
    weights = jnp.full((3, 3, CHANNELS, CHANNELS), 0.25, "float32")
    arithmetic("jax", "conv2d 16x56x56x64 float32", timed(lambda: k(image, weights), wait, 20), CONVOLUTION)


cupy_table()
jax_table()
