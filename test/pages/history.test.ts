import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, mock, test } from 'node:test';
import {
  addEntry,
  keep,
  replaceAddress,
  startEntry,
  writeKept,
} from '../../src/browser/history.ts';
import { withGlobals } from '../support/globals.ts';

/** As much of a browser's history as pages need. */
const browser = {
  entries: [null] as unknown[],
  refuses: false,
  writes: 0,
  get state() {
    return this.entries.at(-1);
  },
  replaceState(state: unknown, _title: string, url?: string) {
    this.writes += 1;
    if (this.refuses) throw new Error('too often');
    this.entries[this.entries.length - 1] = state;
    if (url !== undefined) location.pathname = new URL(url, location.href).pathname;
  },
  pushState(state: unknown, _title: string, url: string) {
    this.entries.push(state);
    location.pathname = new URL(url, location.href).pathname;
  },
};
const location = {
  origin: 'http://localhost',
  pathname: '/models/a',
  get href() {
    return `${this.origin}${this.pathname}?days=all`;
  },
};
const document = { body: { dataset: {} } };

/** In steps, so that what a timer sets falls due too. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 100) mock.timers.tick(100);
}

describe('what a page keeps', () => {
  withGlobals({ history: browser, document, location, scrollY: 12.4 });

  before(() => mock.timers.enable({ apis: ['setTimeout'] }));
  after(() => mock.timers.reset());

  beforeEach(() => {
    pass(20_000);
    Object.assign(browser, { entries: [null], writes: 0 });
    location.pathname = '/models/a';
    startEntry();
  });

  test('what a page keeps is in its history entry, under its key', () => {
    const [one, other] = [keep('table A'), keep('table B')];
    one.write({ by: 'Date' });
    other.write('b');
    writeKept();
    assert.deepEqual(browser.state, { 'table A': { by: 'Date' }, 'table B': 'b' });
    assert.deepEqual(keep('table A').read(), { by: 'Date' });
    assert.equal(keep('table C').read(), undefined);
  });

  test('another page starts afresh; the same one with other filters keeps all but its scroll', () => {
    keep('sorting board').write({ min: 1, max: 2 });
    keep('hidden curves').write(['a']);
    addEntry('/models/a?days=clean');
    assert.deepEqual(browser.entries, [
      {
        'sorting board': { min: 1, max: 2 },
        'hidden curves': ['a'],
        scroll: 12,
      },
      { 'sorting board': { min: 1, max: 2 }, 'hidden curves': ['a'] },
    ]);
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
    assert.equal(keep('scroll').read(), 3);
    pass(1_000);
    browser.refuses = false;
    pass(1_000);
    assert.deepEqual(browser.state, { scroll: 3 }, 'it is written when the browser takes it');
  });

  test('a thousand writes in ten seconds write the history twenty times; the first at once, and none is lost', () => {
    const [sorting, other] = [keep('sorting board'), keep('hidden curves')];
    sorting.write(0);
    assert.deepEqual(browser.state, { 'sorting board': 0 });
    other.write(['a']);
    for (let step = 1; step <= 1_000; step += 1) {
      sorting.write(step);
      assert.equal(sorting.read(), step);
      mock.timers.tick(10);
    }
    assert.ok(browser.writes <= 21, `${browser.writes} writes`);
    pass(1_000);
    assert.deepEqual(browser.state, { 'sorting board': 1_000, 'hidden curves': ['a'] });
    const { writes } = browser;
    pass(10_000);
    assert.equal(browser.writes, writes, 'nothing is left to write');
  });

  test('an address that changes in place goes the same way, and is there before the next entry', () => {
    for (let day = 1; day <= 30; day += 1) replaceAddress(`/models/${day}`);
    assert.equal(location.pathname, '/models/1');
    pass(1_000);
    assert.equal(location.pathname, '/models/30');
    replaceAddress('/models/e');
    replaceAddress('/models/f');
    keep('hidden curves').write(['a']);
    addEntry('/models/f?days=clean');
    assert.deepEqual(browser.state, { 'hidden curves': ['a'] }, 'the same page with other filters');
  });
});
