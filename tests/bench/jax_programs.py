#!/usr/bin/env python3
"""Writes small JAX programs as HLO text: NAME.before.hlo (as traced) and NAME.after.hlo (as XLA's CPU compiler left it).

  jax_programs.py FOLDER [NAME…]

Needs jax. Every program has inputs in [-1, 1) and no state, so that the same module can be replayed and timed anywhere.
"""
import os
import sys

import jax
import jax.numpy as jnp
from jax import lax

F32 = jnp.float32


def arrays(*shapes, dtype=F32):
    return [jax.ShapeDtypeStruct(s, dtype) for s in shapes]


def conv(x, w, stride=1, padding='SAME', groups=1, dims=('NHWC', 'HWIO', 'NHWC')):
    return lax.conv_general_dilated(x, w, (stride,) * (x.ndim - 2), padding, dimension_numbers=dims, feature_group_count=groups)


def mlp_step(x, y, w1, w2, w3):
    def loss(ws):
        h = jnp.tanh(x @ ws[0])
        h = jax.nn.relu(h @ ws[1])
        return jnp.mean((h @ ws[2] - y) ** 2)
    value, grads = jax.value_and_grad(loss)([w1, w2, w3])
    return value, [w - 0.1 * g for w, g in zip([w1, w2, w3], grads)]


def cnn_step(x, w1, w2, w3, head):
    def loss(ws):
        h = jax.nn.relu(conv(x, ws[0], 2))
        h = jax.nn.relu(conv(h, ws[1], 2))
        h = jax.nn.relu(conv(h, ws[2]))
        return jnp.mean(jax.nn.logsumexp(jnp.mean(h, (1, 2)) @ ws[3], axis=-1))
    value, grads = jax.value_and_grad(loss)([w1, w2, w3, head])
    return value, grads


def residual_nchw(x, w1, w2, scale, bias):
    dims = ('NCHW', 'OIHW', 'NCHW')
    def norm(v):
        mean = v.mean((0, 2, 3), keepdims=True)
        return (v - mean) * lax.rsqrt(v.var((0, 2, 3), keepdims=True) + 1e-5) * scale[:, None, None] + bias[:, None, None]
    h = jax.nn.relu(norm(conv(x, w1, dims=dims)))
    return jax.nn.relu(x + norm(conv(h, w2, dims=dims)))


def separable(x, depth, point):
    return jax.nn.relu(conv(jax.nn.relu(conv(x, depth, groups=x.shape[-1])), point))


def conv_up(x, w):
    return lax.conv_transpose(x, w, (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))


def conv_1d(x, w):
    return conv(x, w, dims=('NWC', 'WIO', 'NWC'))


def conv_3d(x, w):
    return conv(x, w, dims=('NDHWC', 'DHWIO', 'NDHWC'))


def attention(x, wq, wk, wv, wo):
    b, t, d = x.shape
    heads = 8
    split = lambda a: a.reshape(b, t, heads, d // heads)
    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    s = jnp.einsum('bqhd,bkhd->bhqk', q, k) / (d // heads) ** 0.5
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
    return jnp.einsum('bhqk,bkhd->bqhd', jax.nn.softmax(s, -1), v).reshape(b, t, d) @ wo


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def block(x, wq, wk, wv, wo, w1, w2, s, t):
    x = x + attention(layer_norm(x, s, t), wq, wk, wv, wo)
    return x + jax.nn.gelu(layer_norm(x, s, t) @ w1) @ w2


def lstm(x, w, u, b):
    def cell(state, step):
        h, c = state
        i, f, g, o = jnp.split(step @ w + h @ u + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
    return lax.scan(cell, (zero, zero), x)[1]


def softmax_grad(x):
    return jax.grad(lambda v: jnp.sum(jax.nn.softmax(v, -1)[:, 0]))(x)


def spectra(x):
    return jnp.fft.fft(lax.complex(x, -x))


def filtered_2d(x):
    f = jnp.fft.rfft2(x)
    return jnp.fft.irfft2(f * 0.5, s=x.shape[-2:])


def fft_long(x):
    return jnp.abs(jnp.fft.fft(x))


def fft_odd(x):
    return jnp.abs(jnp.fft.rfft(x))


def normal_equations(a, b):
    m = a.T @ a + a.shape[0] * jnp.eye(a.shape[1])
    l = lax.linalg.cholesky(m)
    return lax.linalg.triangular_solve(l, b, left_side=True, lower=True)


def gather_scatter(table, at, grad):
    rows = table[at]
    return rows.sum(1), table.at[at].add(grad)


def sort_rows(x):
    return jnp.sort(x, -1), jnp.argsort(x, -1)


def top(x):
    return lax.top_k(x, 16)


def running(x):
    return jnp.cumsum(x, 1), lax.cummax(x, 0)


def pools(x):
    return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME'),
            lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID'))


def pool_grad(x):
    return jax.grad(lambda v: jnp.sum(lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') ** 2))(x)


def contractions(a, b, c):
    return jnp.einsum('abcd,bdce->ae', a, b), jnp.einsum('abcd,cf->fabd', a, c)


def transposes(x):
    return x.transpose(2, 0, 1) * 2, x.transpose(1, 2, 0) + 1


def noise(key):
    return jax.random.normal(jax.random.wrap_key_data(key, impl='threefry2x32'), (512, 512))


def n_body(p):
    d = p[:, None] - p[None]
    r = jnp.sum(d * d, -1) + 0.01
    return jnp.sum(d * (r ** -1.5)[..., None], 1)


def half_mlp(x, w1, w2):
    return jax.nn.gelu(x @ w1) @ w2


def newton(x):
    return lax.fori_loop(0, 20, lambda i, v: v - (v ** 3 - x) / (3 * v * v + 1e-3), jnp.ones_like(x))


BF16 = jnp.bfloat16
PROGRAMS = {
    'mlp_step': (mlp_step, arrays((256, 512), (256, 10), (512, 1024), (1024, 1024), (1024, 10))),
    'cnn_step': (cnn_step, arrays((16, 64, 64, 3), (3, 3, 3, 32), (3, 3, 32, 64), (3, 3, 64, 64), (64, 10))),
    'residual_nchw': (residual_nchw, arrays((8, 64, 28, 28), (64, 64, 3, 3), (64, 64, 3, 3), (64,), (64,))),
    'separable': (separable, arrays((8, 56, 56, 64), (3, 3, 1, 64), (1, 1, 64, 128))),
    'conv_up': (conv_up, arrays((4, 28, 28, 64), (4, 4, 64, 32))),
    'conv_1d': (conv_1d, arrays((8, 1000, 32), (9, 32, 64))),
    'conv_3d': (conv_3d, arrays((2, 16, 32, 32, 16), (3, 3, 3, 16, 32))),
    'attention': (attention, arrays((4, 128, 256), *[(256, 256)] * 4)),
    'block': (block, arrays((4, 128, 256), *[(256, 256)] * 4, (256, 1024), (1024, 256), (256,), (256,))),
    'layer_norm': (layer_norm, arrays((4096, 768), (768,), (768,))),
    'lstm': (lstm, arrays((64, 32, 128), (128, 512), (128, 512), (512,))),
    'softmax_grad': (softmax_grad, arrays((2048, 1000))),
    'spectra': (spectra, arrays((512, 1024))),
    'filtered_2d': (filtered_2d, arrays((8, 256, 256))),
    'fft_long': (fft_long, arrays((1 << 18,))),
    'fft_odd': (fft_odd, arrays((200, 1009))),
    'normal_equations': (normal_equations, arrays((600, 400), (400, 64))),
    'gather_scatter': (gather_scatter, [*arrays((10000, 128)), *arrays((256, 20), dtype=jnp.int32), *arrays((256, 20, 128))]),
    'sort_rows': (sort_rows, arrays((256, 2048))),
    'top': (top, arrays((512, 4096))),
    'running': (running, arrays((512, 2048))),
    'pools': (pools, arrays((16, 56, 56, 64))),
    'pool_grad': (pool_grad, arrays((16, 56, 56, 64))),
    'contractions': (contractions, arrays((32, 16, 24, 20), (16, 20, 24, 40), (24, 64))),
    'transposes': (transposes, arrays((256, 128, 96))),
    'noise': (noise, arrays((2,), dtype=jnp.uint32)),
    'n_body': (n_body, arrays((1024, 3))),
    'half_mlp': (half_mlp, arrays((256, 512), (512, 2048), (2048, 512), dtype=BF16)),
    'newton': (newton, arrays((1 << 18,))),
}


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        function, inputs = PROGRAMS[name]
        lowered = jax.jit(function).lower(*inputs)
        for stage, text in (('before', lowered.as_text(dialect='hlo')), ('after', lowered.compile().as_text())):
            with open(os.path.join(folder, f'{name}.{stage}.hlo'), 'w') as file:
                file.write(text)


if __name__ == '__main__':
    main()
