import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { describeJobEnd, finishedDates } from '../../src/core/commands/trigger-job.ts';
import { alignColumns, createProgressLine } from '../../src/core/commands/terminal.ts';
import { weekdays } from '../../src/core/time/calendar.ts';
import type { Status } from '../../src/features/pages/responses.ts';
import type { ModelDayStatus } from '../../src/core/domain/vocabulary.ts';
import { jobStatusAnswer } from '../support/job-status.ts';

const statuses: Record<string, ModelDayStatus> = {
  ...{ '#': 'completed', x: 'failed', '-': 'skipped', '>': 'running', '.': 'pending' },
};

function job(
  dates: string[],
  marks: Record<string, string>,
  changes: Partial<Status> = {},
): Status {
  const modelDays = dates.flatMap((date, index) =>
    Object.entries(marks).map(([model, row]) => {
      const status = statuses[row[index] as string] as ModelDayStatus;
      return { date, model, status };
    }),
  );
  return jobStatusAnswer(modelDays, changes);
}

test('a line for each date that has ended says more only if not all completed', () => {
  const dates = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13'];
  const mixed = job(dates, { a: '##-.', b: '#x-#' });
  assert.deepEqual(finishedDates(mixed), [
    '2025-11-10 completed',
    '2025-11-11 1 completed, 1 failed',
    '2025-11-12 2 skipped',
  ]);
});

test('the result of a job, in lines without control characters', () => {
  const words = { error: 'broke\u0007 down', warnings: ['first\nsecond\u202e'] };
  const end = { status: 'failed', ...words, total_duration_seconds: 1.5 } as const;
  assert.equal(
    describeJobEnd(job(['2025-11-10'], { 'a\u001b[2J': 'x' }, end)),
    "Job failed after 1.5 s. Model-days: 0 of 1 run, 1 failed.\nbroke down\n2025-11-10 a [2J failed: it's tired\nfirst second",
  );
  for (const [total_duration_seconds, time] of [
    [1, '1.0 s'],
    [1274.306, '21 min 14 s'],
    [7_512, '2 h 5 min'],
  ] as const) {
    const completed = { status: 'completed', total_duration_seconds } as const;
    const said = describeJobEnd(job(['2025-11-10'], { a: '#' }, completed));
    assert.equal(said, `Job completed after ${time}. Model-days: 1 of 1 run.`);
  }
  const [none, two] = [job([], {}, end), job(['2025-11-10'], { a: '#', b: 'x' }, end)];
  assert.match(describeJobEnd(none), /^Job failed after 1\.5 s\. Model-days: 0 of 0 run\.\n/);
  const partial = describeJobEnd({ ...two, status: 'partial' });
  assert.match(partial, /^Job partly completed .*: 1 of 2 run, 1 failed\.\n/);
  const many = job(weekdays('2025-01-01', '2025-12-31'), { a: 'x'.repeat(261) });
  assert.equal(describeJobEnd(many).split('\n').length, 52);
  assert.match(describeJobEnd(many), /and 211 more failed$/);
});

test('a progress line is cleared for other text, and an unchanged line is not written again', () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), {
    ...{ isTTY: true, columns: 60, rows: 10 },
  });
  const line = createProgressLine(stream);
  line.draw(1, 4, 'file.csv');
  line.clear();
  stream.write('refused\n');
  line.draw(2, 4, 'file.csv');
  const written = String(stream.read());
  line.draw(2, 4, 'file.csv');
  assert.equal(stream.read(), null);
  const bar = (text: string) => `\r\u001b[J\u001b[?7l[${text} file.csv\u001b[?7h`;
  const cleared = '\r\u001b[J\u001b[?7l\u001b[?7h';
  const [one, two] = [
    '########......................]  25 %',
    '###############...............]  50 %',
  ];
  assert.equal(written, `${bar(one)}${cleared}refused\n${bar(two)}`);
});

test('where there is no terminal, nothing is drawn', () => {
  const stream = new PassThrough();
  const line = createProgressLine(stream);
  line.draw(1, 2, 'one');
  line.end();
  assert.equal(stream.read(), null);
});

test('columns are aligned: names to the left, figures to the right', () => {
  const rows = [
    ['model', 'value'],
    ['a', '9.50'],
    ['long-name', '10,000.00'],
  ];
  const aligned = ['model          value', 'a               9.50', 'long-name  10,000.00'];
  assert.deepEqual(alignColumns(rows), aligned);
});
