"""Makes programs/: graphs of DaCe 1.0.2 for what the corpus lacks, with the inputs and results of DaCe itself.

    python programs.py [NAME...]      writes programs/NAME/{graph.sdfg, case.json, in_*.npy, out_*.npy}
"""
import json
import os
import sys

import dace
import numpy as np
from dace.sdfg.state import BreakBlock, ConditionalBlock, ContinueBlock, ControlFlowRegion, LoopRegion, ReturnBlock
from dace.properties import CodeBlock

HERE = os.path.dirname(os.path.abspath(__file__))
N = dace.symbol('N', dace.int64)
M = dace.symbol('M', dace.int64)
PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def numbers(count, seed, dtype=np.float64):
    """The same on every machine: eighths between -6 and 6, so that sums are exact."""
    state, out = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        out.append((state // 65536) % 97 - 48)
    values = np.array(out)
    return (values / 8).astype(dtype) if np.dtype(dtype).kind in 'fc' else values.astype(dtype)


def tasklet(state, name, code, inputs, outputs, **more):
    """A tasklet with access nodes: {connector: (container, subset)}."""
    t = state.add_tasklet(name, set(inputs), set(outputs), code, **more)
    for connector, (data, subset) in inputs.items():
        state.add_edge(state.add_read(data), None, t, connector, dace.Memlet(data=data, subset=subset))
    for connector, target in outputs.items():
        data, subset = target[:2]
        state.add_edge(t, connector, state.add_write(data), None,
                       dace.Memlet(data=data, subset=subset, dynamic=len(target) > 2, wcr=None))
    return t


@program
def stream_filter():
    g = dace.SDFG('stream_filter')
    g.add_array('A', [N], dace.float64)
    g.add_array('B', [N], dace.float64)
    g.add_array('count', [1], dace.int64)
    g.add_stream('S', dace.float64, transient=True)
    s = g.add_state('filter')
    a, q, c = s.add_read('A'), s.add_access('S'), s.add_write('count')
    entry, exit_ = s.add_map('each', {'i': '0:N'}, schedule=dace.ScheduleType.Sequential)
    t = s.add_tasklet('pick', {'x'}, {'y', 'n'}, 'if x > 0.5:\n    y = x * 2\nn = 1 if x > 0.5 else 0')
    s.add_memlet_path(a, entry, t, dst_conn='x', memlet=dace.Memlet('A[i]'))
    s.add_memlet_path(t, exit_, q, src_conn='y', memlet=dace.Memlet('S[0]', dynamic=True))
    s.add_memlet_path(t, exit_, c, src_conn='n', memlet=dace.Memlet('count[0]', wcr='lambda x, y: x + y'))
    s.add_nedge(q, s.add_write('B'), dace.Memlet('S[0]', dynamic=True))
    return g, {'A': numbers(19, 3), 'B': np.zeros(19), 'count': np.zeros(1, np.int64)}, {'N': 19}


@program
def consume_collatz():
    g = dace.SDFG('consume_collatz')
    g.add_array('start', [N], dace.int64)
    g.add_array('steps', [1], dace.int64)
    g.add_stream('S', dace.int64, transient=True)
    first = g.add_state('fill')
    first.add_mapped_tasklet('push', {'i': '0:N'}, {'x': dace.Memlet('start[i]')}, 'y = x', {'y': dace.Memlet('S[0]')},
                             external_edges=True, schedule=dace.ScheduleType.Sequential)
    s = g.add_state_after(first, 'work')
    read, again, result = s.add_read('S'), s.add_write('S'), s.add_write('steps')
    entry, exit_ = s.add_consume('take', ('p', '2'))
    t = s.add_tasklet('step', {'x'}, {'y', 'n'}, 'if x > 1:\n    y = (x // 2) if x % 2 == 0 else (3 * x + 1)\nn = 1')
    s.add_edge(read, None, entry, 'IN_stream', dace.Memlet('S[0]', dynamic=True))
    s.add_edge(entry, 'OUT_stream', t, 'x', dace.Memlet('S[0]'))
    s.add_memlet_path(t, exit_, again, src_conn='y', memlet=dace.Memlet('S[0]', dynamic=True))
    s.add_memlet_path(t, exit_, result, src_conn='n', memlet=dace.Memlet('steps[0]', wcr='lambda x, y: x + y'))
    return g, {'start': np.arange(1, 8, dtype=np.int64), 'steps': np.zeros(1, np.int64)}, {'N': 7}


@program
def reference_choice():
    g = dace.SDFG('reference_choice')
    g.add_array('A', [N], dace.float64)
    g.add_array('B', [2, N], dace.float64)
    g.add_array('out', [N], dace.float64)
    g.add_scalar('which', dace.int64)
    g.add_reference('r', [N], dace.float64)
    start = g.add_state('start', is_start_block=True)
    left, right, use = g.add_state('left'), g.add_state('right'), g.add_state('use')
    left.add_edge(left.add_read('A'), None, left.add_write('r'), 'set', dace.Memlet('A[0:N]'))
    right.add_edge(right.add_read('B'), None, right.add_write('r'), 'set', dace.Memlet('B[1, 0:N]'))
    g.add_edge(start, left, dace.InterstateEdge('which == 0'))
    g.add_edge(start, right, dace.InterstateEdge('which != 0'))
    g.add_edge(left, use, dace.InterstateEdge())
    g.add_edge(right, use, dace.InterstateEdge())
    use.add_mapped_tasklet('copy', {'i': '0:N'}, {'x': dace.Memlet('r[i]')}, 'y = x + 1', {'y': dace.Memlet('out[i]')},
                           external_edges=True)
    return g, {'A': numbers(11, 5), 'B': numbers(22, 6).reshape(2, 11), 'out': np.zeros(11), 'which': 1}, {'N': 11}


@program
def dynamic_ranges():
    g = dace.SDFG('dynamic_ranges')
    g.add_array('row', [N + 1], dace.int32)
    g.add_array('value', [M], dace.float64)
    g.add_array('total', [N], dace.float64)
    s = g.add_state('rows')
    row, value, total = s.add_read('row'), s.add_read('value'), s.add_write('total')
    outer, outer_end = s.add_map('rows', {'i': '0:N'})
    inner, inner_end = s.add_map('entries', {'j': 'begin:stop'})
    inner.add_in_connector('begin')
    inner.add_in_connector('stop')
    t = s.add_tasklet('add', {'v'}, {'o'}, 'o = v')
    s.add_memlet_path(row, outer, inner, dst_conn='begin', memlet=dace.Memlet('row[i]'))
    s.add_memlet_path(row, outer, inner, dst_conn='stop', memlet=dace.Memlet('row[i + 1]'))
    s.add_memlet_path(value, outer, inner, t, dst_conn='v', memlet=dace.Memlet('value[j]'))
    s.add_memlet_path(t, inner_end, outer_end, total, src_conn='o',
                      memlet=dace.Memlet('total[i]', wcr='lambda x, y: x + y'))
    return g, {'row': np.array([0, 3, 3, 7, 10], np.int32), 'value': numbers(10, 7), 'total': np.zeros(4)}, {'N': 4, 'M': 10}


@program
def loop_forms():
    g = dace.SDFG('loop_forms')
    g.add_array('A', [4, N], dace.int64)
    g.add_symbol('i', dace.int64)
    last = None
    forms = [(False, True, 'i < N'), (True, True, 'i < 2'), (True, False, 'i < N - 1'), (True, True, 'i < 0')]
    for k, (inverted, update_first, condition) in enumerate(forms):
        loop = LoopRegion(f'loop{k}', condition, 'i', 'i = 0', 'i = i + 1', inverted=inverted,
                          update_before_condition=update_first)
        g.add_node(loop, is_start_block=last is None)
        body = loop.add_state(f'body{k}', is_start_block=True)
        tasklet(body, f'mark{k}', 'o = a + 10 + i', {'a': ('A', f'{k}, i')}, {'o': ('A', f'{k}, i')})
        if last is not None:
            g.add_edge(last, loop, dace.InterstateEdge())
        last = loop
    g.using_experimental_blocks = True
    return g, {'A': np.zeros((4, 5), np.int64)}, {'N': 5}


@program
def loop_exits():
    g = dace.SDFG('loop_exits')
    g.add_array('A', [N], dace.float64)
    g.add_array('out', [N], dace.float64)
    g.add_symbol('i', dace.int64)
    loop = LoopRegion('loop', 'i < N', 'i', 'i = 0', 'i = i + 1')
    g.add_node(loop, is_start_block=True)

    def leave(name, condition, block):
        choice = ConditionalBlock(name, sdfg=g, parent=loop)
        branch = ControlFlowRegion(name + '_body', sdfg=g)
        branch.add_node(block, is_start_block=True)
        choice.add_branch(CodeBlock(condition), branch)
        return choice

    skip = leave('skip', 'A[i] < 0', ContinueBlock('again'))
    stop = leave('stop', 'A[i] > 5', BreakBlock('enough'))
    quit_ = leave('quit', 'A[i] == 4', ReturnBlock('all'))
    for b in (skip, stop, quit_):
        loop.add_node(b, is_start_block=b is skip)
    body = loop.add_state('body')
    tasklet(body, 'copy', 'o = a', {'a': ('A', 'i')}, {'o': ('out', 'i')})
    loop.add_edge(skip, stop, dace.InterstateEdge())
    loop.add_edge(stop, quit_, dace.InterstateEdge())
    loop.add_edge(quit_, body, dace.InterstateEdge())
    after = g.add_state('after')
    tasklet(after, 'mark', 'o = 99', {}, {'o': ('out', '0')})
    g.add_edge(loop, after, dace.InterstateEdge())
    g.using_experimental_blocks = True
    a = np.array([1.0, -2.0, 3.5, -1.0, 2.0, 6.0, 4.0, 1.0])
    return g, {'A': a, 'out': np.zeros(8)}, {'N': 8}


def accumulations(name, dtype, operators, values):
    g = dace.SDFG(name)
    g.add_array('A', [N], dtype)
    g.add_array('out', [len(operators)], dtype)
    last = None
    for k, operator in enumerate(operators):
        s = g.add_state(f's{k}', is_start_block=last is None)
        s.add_mapped_tasklet(f'm{k}', {'i': '0:N'}, {'x': dace.Memlet('A[i]')}, 'o = x',
                             {'o': dace.Memlet(data='out', subset=str(k), wcr=operator)}, external_edges=True)
        if last is not None:
            g.add_edge(last, s, dace.InterstateEdge())
        last = s
    return g, values, {'N': len(values['A'])}


@program
def wcr_float():
    operators = ['lambda x, y: x + y', 'lambda x, y: x * y', 'lambda x, y: min(x, y)', 'lambda x, y: max(x, y)',
                 'lambda x, y: x + y * y']
    return accumulations('wcr_float', dace.float64, operators,
                         {'A': numbers(13, 11), 'out': np.array([1.0, 2.0, 3.0, -3.0, 0.5])})


@program
def wcr_int():
    operators = ['lambda x, y: x & y', 'lambda x, y: x | y', 'lambda x, y: x ^ y', 'lambda x, y: x and y',
                 'lambda x, y: x or y', 'lambda x, y: x != y', 'lambda x, y: x * y', 'lambda x, y: max(x, y)']
    return accumulations('wcr_int', dace.int64, operators,
                         {'A': np.array([5, 7, 13, 21, 0, 2, 9], np.int64), 'out': np.array([-1, 8, 3, 1, 0, 1, 2, 4], np.int64)})


@program
def complex_types():
    g = dace.SDFG('complex_types')
    g.add_array('A', [N], dace.complex128)
    g.add_array('B', [N], dace.complex64)
    g.add_array('C', [N], dace.complex128)
    g.add_array('norm', [1], dace.complex128)
    s = g.add_state('s')
    s.add_mapped_tasklet('m', {'i': '0:N'}, {'a': dace.Memlet('A[i]'), 'b': dace.Memlet('B[i]')},
                         'c = a * a + dace.complex128(b) * 2j - 1.0\nn = a * conj(a)',
                         {'c': dace.Memlet('C[i]'), 'n': dace.Memlet('norm[0]', wcr='lambda x, y: x + y')},
                         external_edges=True)
    a = numbers(9, 21) + 1j * numbers(9, 22)
    return g, {'A': a, 'B': (a[::-1] / 4).astype(np.complex64), 'C': np.zeros(9, np.complex128),
               'norm': np.zeros(1, np.complex128)}, {'N': 9}


@program
def half_type():
    g = dace.SDFG('half_type')
    g.add_array('A', [N], dace.float16)
    g.add_array('B', [N], dace.float32)
    g.add_array('C', [N], dace.float16)
    s = g.add_state('s')
    s.add_mapped_tasklet('m', {'i': '0:N'}, {'a': dace.Memlet('A[i]'), 'b': dace.Memlet('B[i]')},
                         'c = dace.float32(a) * b', {'c': dace.Memlet('C[i]')}, external_edges=True)
    return g, {'A': numbers(9, 31, np.float16), 'B': numbers(9, 32, np.float32), 'C': np.zeros(9, np.float16)}, {'N': 9}


@program
def lifetimes():
    g = dace.SDFG('lifetimes')
    g.add_array('A', [N], dace.float64)
    g.add_transient('kept', [N], dace.float64, lifetime=dace.AllocationLifetime.Persistent)
    g.add_transient('own', [N], dace.float64, lifetime=dace.AllocationLifetime.SDFG)
    g.add_transient('given', [N + 2], dace.float64, lifetime=dace.AllocationLifetime.External)
    chain = [('A[i]', 'kept[i]', 'y = x + 1'), ('kept[i]', 'own[N - 1 - i]', 'y = x * 2'), ('own[i]', 'given[i + 2]', 'y = x - 3'),
             ('given[i + 2]', 'A[i]', 'y = x / 4')]
    last = None
    for k, (source, target, code) in enumerate(chain):
        s = g.add_state(f's{k}', is_start_block=last is None)
        s.add_mapped_tasklet(f'm{k}', {'i': '0:N'}, {'x': dace.Memlet(source)}, code, {'y': dace.Memlet(target)},
                             external_edges=True)
        if last is not None:
            g.add_edge(last, s, dace.InterstateEdge())
        last = s
    return g, {'A': numbers(7, 41)}, {'N': 7}


@program
def structure_member():
    g = dace.SDFG('structure_member')
    g.add_array('A', [N], dace.float64)
    g.add_array('out', [N], dace.float64)
    pair = dace.data.Structure({'low': dace.float64[N], 'high': dace.float64[N]}, name='Pair', transient=True)
    g.add_datadesc('pair', pair)
    s = g.add_state('split')
    a, low, high = s.add_read('A'), s.add_access('pair.low'), s.add_access('pair.high')
    s.add_nedge(a, low, dace.Memlet('A[0:N]'))
    s.add_nedge(a, high, dace.Memlet('A[0:N]'))
    e = g.add_state_after(s, 'join')
    e.add_mapped_tasklet('m', {'i': '0:N'}, {'x': dace.Memlet('pair.low[i]'), 'y': dace.Memlet('pair.high[N - 1 - i]')},
                         'o = x - y', {'o': dace.Memlet('out[i]')}, external_edges=True)
    return g, {'A': numbers(6, 51), 'out': np.zeros(6)}, {'N': 6}


# What DaCe 1.0.2 can load but not compile: results are by NumPy.
EXPECTED = {
    'half_type': lambda v: {**v, 'C': (v['A'].astype(np.float32) * v['B']).astype(np.float16)},
    'structure_member': lambda v: {**v, 'out': v['A'] - v['A'][::-1]},
}


def run(graph, values, symbols):
    """The contents of all arrays after a call of DaCe."""
    arguments = {k: (v.copy() if isinstance(v, np.ndarray) else v) for k, v in values.items()}
    compiled = graph.compile()
    external = any(d.lifetime == dace.AllocationLifetime.External for d in graph.arrays.values())
    if external:
        compiled.initialize(**arguments, **symbols)
        for storage, size in compiled.get_workspace_sizes().items():
            compiled.set_workspace(storage, np.zeros(size, np.uint8))
    compiled(**arguments, **symbols)
    return arguments


def stripped(value):
    """Without places of this machine and random identities."""
    if isinstance(value, dict):
        return {k: stripped(v) for k, v in value.items()
                if k not in ('debuginfo', 'guid', 'hash', 'orig_sdfg', 'transformation_hist')}
    return [stripped(v) for v in value] if isinstance(value, (list, tuple)) else value


def write(name):
    graph, values, symbols = PROGRAMS[name]()
    graph.validate()
    folder = os.path.join(HERE, 'programs', name)
    os.makedirs(folder, exist_ok=True)
    results = EXPECTED[name](values) if name in EXPECTED else run(graph, values, symbols)
    args = []
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            np.save(os.path.join(folder, f'in_{key}.npy'), value)
            np.save(os.path.join(folder, f'out_{key}.npy'), results[key])
            args.append({'name': key, 'dtype': str(value.dtype), 'shape': list(value.shape), 'role': 'inout'})
        else:
            args.append({'name': key, 'dtype': graph.arrays[key].dtype.to_string(), 'shape': [], 'role': 'scalar', 'value': value})
    with open(os.path.join(folder, 'case.json'), 'w') as f:
        json.dump({'kernel': name, 'sdfg_name': graph.name, 'symbols': symbols, 'args': args, 'rtol': 1e-12, 'atol': 1e-12}, f,
                  indent=1)
    text = stripped(graph.to_json())
    text['dace_version'] = dace.__version__
    with open(os.path.join(folder, 'graph.sdfg'), 'w') as f:
        json.dump(text, f)
    print(name, {k: results[k].tolist() for k in values if isinstance(values[k], np.ndarray) and values[k].size < 12})


if __name__ == '__main__':
    failed = []
    for wanted in sys.argv[1:] or PROGRAMS:
        try:
            write(wanted)
        except Exception as e:  # the others are still worth having
            failed.append(wanted)
            print(f'{wanted}: {type(e).__name__}: {str(e)[:600]}')
    print('failed:', failed)
    sys.exit(1 if failed else 0)
