import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { historyValue, replaceAddress } from '../../src/features/pages/browser/history.ts';
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
  const location = { href: 'http://localhost/' };
  withGlobals({ navigation: browser, location, document: { body: { dataset: {} } } });
  beforeEach(() => Object.assign(browser, { key: 'first', state: undefined, asked: [] }));

  test('what a page keeps is in its history entry, under its key', () => {
    historyValue('table A').write({ by: 'Date' });
    historyValue('table B').write('b');
    assert.deepEqual(browser.state, { 'table A': { by: 'Date' }, 'table B': 'b' });
    assert.deepEqual(historyValue('table A').read(), { by: 'Date' });
    assert.equal(historyValue('table C').read(), undefined);
  });

  test('a part of a page that was left writes nothing into the entry of the next one', () => {
    const left = historyValue('table A');
    browser.key = 'second';
    left.write('late');
    assert.deepEqual([browser.state, left.read()], [undefined, undefined]);
  });

  test('a history that another program wrote breaks nothing', () => {
    browser.state = 'text';
    assert.equal(historyValue('folds').read(), undefined);
    historyValue('folds').write(3);
    assert.deepEqual(browser.state, { folds: 3 });
  });

  test('an address that changes in place keeps what the page keeps', () => {
    historyValue('table A').write('a');
    replaceAddress('/models/b');
    assert.deepEqual(browser.asked, [['/models/b', 'replace', { 'table A': 'a' }]]);
  });
});
