import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { capacityWarnings } from '../../src/children/capacity.ts';
import { mostDue, nextLookMs } from '../../src/children/watch.ts';
import { temporaryFolder } from '../support/service.ts';

const MB = 1024 * 1024;
const limits = (files: number | 'unlimited', processes: number | 'unlimited') =>
  [
    'Limit Soft Limit Hard Limit Units',
    `Max processes   ${processes} ${processes} processes`,
    `Max open files   ${files} ${files} files`,
  ].join('\n');

/** A machine with ample limits, as Linux shows it in files. */
const AMPLE = {
  'proc/self/limits': limits(1_048_576, 'unlimited'),
  'proc/self/cgroup': '0::/\n',
};
const V2 = { 'proc/self/cgroup': '0::/system.slice/simulation.service\n' };
const SERVICE = 'sys/fs/cgroup/system.slice/simulation.service';
const V1 = {
  'proc/self/cgroup': '9:name=systemd:/\n8:cpu,pids:/docker/abc\n4:memory:/docker/abc\n0::/\n',
};

const machines: [
  name: string,
  files: Record<string, string>,
  children: number,
  warnings: RegExp[],
  memoryMb?: number,
][] = [
  ['enough of everything', {}, 1_000, []],
  [
    'too little memory',
    {},
    2_000,
    [
      /^Cannot run 2000 model-days side by side \(MAX_PARALLEL_MODELS\): they need about 28,150 MB of memory, and 20,000 MB are available; give the machine or its control group more, or set MAX_PARALLEL_MODELS to 1417 or less$/,
    ],
  ],
  [
    'memory for nothing but the service',
    {},
    8,
    [/262 MB of memory, and 100 MB are available; give the machine or its control group more$/],
    100,
  ],
  [
    'a group of version 2 without a limit',
    { ...V2, [`${SERVICE}/pids.max`]: 'max\n', [`${SERVICE}/pids.current`]: '9\n' },
    1_000,
    [],
  ],
  [
    'few tasks in a group of version 2',
    { ...V2, [`${SERVICE}/pids.max`]: '309\n', [`${SERVICE}/pids.current`]: '9\n' },
    100,
    [
      /they need 509 tasks \(processes and threads\), and may have 309; raise that limit \(pids\.max .* to 60 or less$/,
    ],
  ],
  [
    'a container that shows its group of version 1 as the root',
    { ...V1, 'sys/fs/cgroup/pids/pids.max': '100', 'sys/fs/cgroup/pids/pids.current': '20' },
    50,
    [/259 tasks .*, and may have 89;/],
  ],
  [
    'few open files',
    { 'proc/self/limits': limits(1_024, 'unlimited') },
    1_000,
    [
      /the service needs 3,200 open files, and may have 1,024; raise that limit \(ulimit -Hn, .* to 274 or less$/,
    ],
  ],
  [
    'few processes of the user',
    { 'proc/self/limits': limits(100_000, 1_000) },
    1_000,
    [/5,009 tasks .*, and may have 1,000;/],
  ],
  [
    'few of everything',
    { 'proc/self/limits': limits(512, 100) },
    200,
    [/1,000 MB/, /tasks/, /open files/],
    1_000,
  ],
];
for (const [name, files, maxParallelModels, warnings, memoryMb = 20_000] of machines) {
  test(`a machine with ${name}: ${warnings.length === 0 ? 'no warning' : 'what it would take'}`, (t) => {
    const root = temporaryFolder(t);
    for (const [path, text] of Object.entries({ ...AMPLE, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const found = capacityWarnings(
      { maxParallelModels, modelDayCommand: null },
      { root, userId: 1_000, memory: memoryMb * MB },
    );
    assert.equal(found.length, warnings.length, found.join('\n'));
    warnings.forEach((warning, index) => assert.match(found[index] as string, warning));
  });
}

test('a limit of processes does not bind root, a command needs only open files, and a system without /proc tells only its memory', (t) => {
  const root = temporaryFolder(t);
  const memory = MB;
  const warnings = (userId: number, modelDayCommand: string[] | null) =>
    capacityWarnings({ maxParallelModels: 200, modelDayCommand }, { root, userId, memory }).map(
      (text) => /memory|tasks|files/.exec(text)?.[0],
    );
  assert.deepEqual(warnings(1_000, null), ['memory']);
  mkdirSync(join(root, 'proc/self'), { recursive: true });
  writeFileSync(join(root, 'proc/self/limits'), limits(100, 100));
  assert.deepEqual(warnings(1_000, null), ['memory', 'tasks', 'files']);
  assert.deepEqual(warnings(0, null), ['memory', 'files']);
  assert.deepEqual(warnings(1_000, ['srun']), ['files']);
});

test('a child is measured more often the closer it is to its limit', () => {
  assert.deepEqual([-5, 0, 50, 100, 467, 5_000].map(nextLookMs), [100, 100, 100, 100, 467, 1_000]);
});

test('a tick measures 40 children, the longest overdue first, and none that is not due', () => {
  const all = Array.from({ length: 100 }, (_, child): [number, { dueAt: number }] => [
    child,
    { dueAt: 1_000 - child },
  ]);
  const children = (now: number) => mostDue(all, now).map(([child]) => child);
  assert.deepEqual(
    children(2_000),
    Array.from({ length: 40 }, (_, index) => 99 - index),
  );
  assert.deepEqual(children(902), [99, 98]);
  assert.deepEqual(children(900), []);
});
