import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sheetCsv, fileName, saveFile } from '../../src/features/pages/browser/save.ts';
import { withGlobals } from '../support/globals.ts';

describe('saving a file', () => {
  const saved: string[] = [];
  const link = { href: '', download: '', click: () => saved.push(link.download) };
  withGlobals({ document: { createElement: () => link } });

  test('a browser can still read a file some time after the click, and it does not stay in memory for ever', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    saveFile('a.csv', new Blob(['a,b']));
    assert.deepEqual(saved, ['a.csv']);
    t.mock.timers.tick(30_000);
    assert.equal(await (await fetch(link.href)).text(), 'a,b', 'Safari reads it late');
    t.mock.timers.tick(60_000);
    await assert.rejects(fetch(link.href));
  });
});

test('a table as CSV: plain numbers, quoted text, and no text that a spreadsheet runs as a formula', () => {
  const rows = [
    ['model-a', 0.0218822, null],
    ['=HYPERLINK("x")', -1.5, 'a, b'],
    ['+1', 1e-7, '"quoted"\nlines'],
    ['モデル', -0, ' edge'],
  ];
  const columns = ['Model', 'Return', 'Note'];
  const lines = [
    'Model,Return,Note',
    'model-a,0.0218822,',
    `"'=HYPERLINK(""x"")",-1.5,"a, b"`,
    `'+1,1e-7,"""quoted""\nlines"`,
    'モデル,0," edge"',
  ];
  assert.equal(sheetCsv({ columns, rows }), `\ufeff${lines.join('\r\n')}\r\n`);
});

test('a file is named after its caption, in any script, without what a file system may refuse', () => {
  for (const [caption, name] of [
    ['Portfolio value of 6 models by date', 'portfolio-value-of-6-models-by-date'],
    ['Model-days of ../../x:"y"', 'model-days-of-x-y'],
    ['Trades of Модель मॉडल', 'trades-of-модель-मॉडल'],
    ['…', 'table'],
    ['𝒳'.repeat(200), '𝒳'.repeat(60)],
  ] as const)
    assert.equal(fileName(caption), name);
});
