import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHeldProvider } from '../../bench/held-provider.ts';

test('a held provider: requests wait in their order until they are answered, and one for another path is an error', async (t) => {
  const provider = await startHeldProvider();
  t.after(provider.stop);
  const ask = (path: string, body = '') =>
    fetch(provider.url + path, { method: 'POST', body }).then((response) => response.json());
  const first = ask('/splits?from=2025-01-06', 'some words');
  const held = await provider.next('/splits');
  const second = ask('/dividends');
  const later = await provider.next();
  assert.deepEqual(
    [held.path, held.text, later.path],
    ['/splits?from=2025-01-06', 'some words', '/dividends'],
  );
  later.answer({ results: [2] });
  held.answer({ results: [1] });
  assert.deepEqual([await first, await second], [{ results: [1] }, { results: [2] }]);
  ask('/bars').catch(() => {}); // it is never answered
  await assert.rejects(provider.next('/splits'), /asks for \/bars before it asks for \/splits/);
});
