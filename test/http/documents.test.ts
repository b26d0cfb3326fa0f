import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importRows, row } from '../support/documents.ts';
import { startTestService } from '../support/service.ts';

const ROWS = [
  row({
    id: 'a/b ü',
    kind: '10-K',
    symbols: ['AAPL', 'MSFT'],
    published_at: '2025-01-02',
    url: 'https://a',
    source: 'S',
  }),
  row({
    id: 'a/b ü',
    kind: '10-K',
    symbols: ['AAPL'],
    published_at: '2025-01-06T14:30:00Z',
    text: 'Later.',
  }),
  row({ id: 'n', published_at: '2025-01-07T02:00:00Z' }),
];
const ID = encodeURIComponent('a/b ü');

test('documents over HTTP: as of a morning, not there, and how many there are', async (t) => {
  const service = await startTestService(t, { pages: true });
  const empty = await service.get('/documents/coverage');
  assert.deepEqual([empty.status, empty.body.coverage, empty.body.count], [200, [], 0]);
  await importRows(t, service.database, ROWS);
  const { body: first } = await service.get(`/documents/${ID}?as_of=2025-01-06`);
  assert.deepEqual(
    { ...first, digest: first.digest.length },
    {
      ...{ id: 'a/b ü', kind: '10-K', date: '2025-01-02', published_at: '2025-01-02' },
      ...{ symbols: ['AAPL', 'MSFT'], title: 'A title', source: 'S', url: 'https://a' },
      ...{ text: 'A text.', digest: 64 },
      ...{ deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false },
    },
  );
  const texts = ['2025-01-07', '2025-06-01'].map((date) =>
    service.get(`/documents/${ID}?as_of=${date}`),
  );
  assert.deepEqual(
    (await Promise.all(texts)).map(({ body }) => body.text),
    ['Later.', 'Later.'],
  );
  assert.equal((await service.get(`/documents/${ID}`)).body.text, 'Later.');
  const missing = await service.get(`/documents/${ID}?as_of=2025-01-02`);
  assert.deepEqual(
    [missing.status, missing.body.detail],
    [404, 'There is no document a/b ü that could be read on the morning of 2025-01-02'],
  );
  assert.equal((await service.get('/documents/x?as_of=2025-13-01')).status, 422);
  const { body } = await service.get('/documents/coverage');
  assert.deepEqual(body.coverage, [
    {
      kind: '10-K',
      symbol: 'AAPL',
      documents: 1,
      first_date: '2025-01-02',
      last_date: '2025-01-06',
    },
    {
      kind: '10-K',
      symbol: 'MSFT',
      documents: 1,
      first_date: '2025-01-02',
      last_date: '2025-01-02',
    },
    { kind: 'news', symbol: null, documents: 1, first_date: '2025-01-06', last_date: '2025-01-06' },
  ]);
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const path of [`/documents/${ID}?as_of=2025-01-06`, '/data']) {
    const page = await fetch(service.url + path, { headers: { accept } });
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/, path);
  }
});
