import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { withGlobals } from '../support/globals.ts';

/** As much of a browser's history as pages need. */
const browser = {
  entries: [null] as unknown[],
  refuses: false,
  get state() {
    return this.entries.at(-1);
  },
  replaceState(state: unknown) {
    if (this.refuses) throw new Error('too often');
    this.entries[this.entries.length - 1] = state;
  },
  pushState(state: unknown, _title: string, url: string) {
    this.entries.push(state);
    location.pathname = new URL(url, location.href).pathname;
  },
};
const location = { href: 'http://localhost/models/a?days=all', pathname: '/models/a' };

// Not imported, because the compiler checks the browser's code on its own.
const { keep, addEntry, startEntry } = createRequire(import.meta.url)(
  resolve(import.meta.dirname, '../../src/browser/parts/kept.ts'),
) as {
  keep(key: string): { read(): unknown; write(value: unknown): void };
  addEntry(url: string): void;
  startEntry(): void;
};

describe('what a page keeps', () => {
  withGlobals({ history: browser, location, scrollY: 12.4 });

  beforeEach(() => {
    browser.entries = [null];
    location.pathname = '/models/a';
    startEntry();
  });

  test('what a page keeps is in its history entry, under its key', () => {
    const [one, other] = [keep('table A'), keep('table B')];
    one.write({ by: 'Date' });
    other.write('b');
    assert.deepEqual(browser.state, { 'table A': { by: 'Date' }, 'table B': 'b' });
    assert.deepEqual(keep('table A').read(), { by: 'Date' });
    assert.equal(keep('table C').read(), undefined);
  });

  test('another page starts afresh; the same one with other filters keeps all but its zoom and its scroll', () => {
    keep('zoom model').write({ min: 1, max: 2 });
    keep('hidden curves').write(['a']);
    addEntry('/models/a?days=clean');
    assert.deepEqual(browser.entries, [{ 'zoom model': { min: 1, max: 2 }, 'hidden curves': ['a'], scroll: 12 }, { 'hidden curves': ['a'] }]);
    addEntry('/models/b');
    assert.deepEqual(browser.state, {});
  });

  test('a part of a page that was left writes nothing into the entry of the next one', () => {
    const left = keep('table A');
    addEntry('/models/b');
    startEntry();
    left.write('late');
    assert.deepEqual([browser.state, left.read()], [{}, undefined]);
  });

  test('a history that another program wrote, or that refuses to be written, breaks nothing', (t) => {
    browser.entries = ['text'];
    assert.equal(keep('scroll').read(), undefined);
    browser.refuses = true;
    t.after(() => (browser.refuses = false));
    keep('scroll').write(3);
    assert.equal(browser.state, 'text');
  });
});
