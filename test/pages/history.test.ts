import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { carriedHere, keep, replaceAddress } from '../../src/browser/history.ts';
import { withGlobals } from '../support/globals.ts';

/** As much of a browser's history as pages need. */
const browser = {
  key: 'first',
  state: undefined as unknown,
  asked: [] as unknown[],
  get currentEntry() {
    return { key: this.key, getState: () => this.state };
  },
  updateCurrentEntry({ state }: { state: unknown }) {
    this.state = state;
  },
  navigate(url: string, { state, history }: { state: unknown; history: string }) {
    this.asked.push([url, history, state]);
  },
};

describe('what a page keeps', () => {
  withGlobals({ navigation: browser, document: { body: { dataset: {} } } });
  beforeEach(() => Object.assign(browser, { key: 'first', state: undefined, asked: [] }));

  test('what a page keeps is in its history entry, under its key', () => {
    keep('table A').write({ by: 'Date' });
    keep('table B').write('b');
    assert.deepEqual(browser.state, { 'table A': { by: 'Date' }, 'table B': 'b' });
    assert.deepEqual(keep('table A').read(), { by: 'Date' });
    assert.equal(keep('table C').read(), undefined);
  });

<<<<<<< HEAD
  test('the same page with other filters keeps all but its scroll', () => {
    browser.state = { 'sorting board': 1, 'hidden curves': ['a'], 'scroll parts': 3, scroll: 12 };
    assert.deepEqual(carriedHere(), { 'sorting board': 1, 'hidden curves': ['a'] });
=======
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
>>>>>>> main
  });

  test('a part of a page that was left writes nothing into the entry of the next one', () => {
    const left = keep('table A');
    browser.key = 'second';
    left.write('late');
    assert.deepEqual([browser.state, left.read()], [undefined, undefined]);
  });

  test('a history that another program wrote breaks nothing', () => {
    browser.state = 'text';
    assert.equal(keep('scroll').read(), undefined);
    keep('scroll').write(3);
    assert.deepEqual(browser.state, { scroll: 3 });
  });

<<<<<<< HEAD
  test('an address that changes in place keeps what the page keeps', () => {
    keep('table A').write('a');
    replaceAddress('/models/b');
    assert.deepEqual(browser.asked, [['/models/b', 'replace', { 'table A': 'a' }]]);
=======
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
>>>>>>> main
  });
});
