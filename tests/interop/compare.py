"""Runs files with DaCe itself and compares with the committed results: python compare.py FOLDER..."""
import json
import os
import sys
import warnings

import dace
import numpy as np


def compare(folder):
    with open(os.path.join(folder, 'case.json')) as f:
        case = json.load(f)
    graph = dace.SDFG.from_file(os.path.join(folder, 'graph.sdfg'))
    graph.validate()
    arguments = dict(case['symbols'])
    for a in case['args']:
        if a['role'] == 'scalar':
            arguments[a['name']] = np.dtype(a['dtype']).type(a['value'])
        else:
            arguments[a['name']] = np.load(os.path.join(folder, f"in_{a['name']}.npy"))
    graph(**arguments)
    wrong = []
    for a in case['args']:
        if a['role'] == 'scalar':
            continue
        expected = np.load(os.path.join(folder, f"out_{a['name']}.npy"))
        got = arguments[a['name']]
        if not np.allclose(got, expected, rtol=case['rtol'], atol=case['atol'], equal_nan=True):
            wrong.append(f"{a['name']}: {got.tolist()}, expected {expected.tolist()}")
    return wrong


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    failed = 0
    for folder in sys.argv[1:]:
        try:
            wrong = compare(folder)
        except Exception as e:
            wrong = [f'{type(e).__name__}: {str(e)[:2000]}']
        failed += bool(wrong)
        print(os.path.basename(folder), 'as expected' if not wrong else 'WRONG')
        for line in wrong:
            print('   ', line)
    sys.exit(1 if failed else 0)
