import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { openDatabase } from '../../src/core/database/database.ts';
import { readContent } from '../../src/features/price-files/content.ts';
import { inLongForm, runs, isLong, leftToLongForm } from '../support/long.ts';
import { importText, storedIn } from '../support/imports.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What files are packed in: compression and encodings. */

const HEADER = 'symbol,date,open,high,low,close,volume';
const CSV = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,Café\nMSFT,2025-01-06,10,12,9,10.5,1000,é\n`;
const [HALF, REST] = [CSV.slice(0, 70), CSV.slice(70)];

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const packed: [name: string, bytes: Buffer][] = [
  ['gzip', gzipSync(CSV)],
  ['two members of gzip', Buffer.concat([gzipSync(HALF), gzipSync(REST)])],
  ['gzip padded with zeros, as tapes are', Buffer.concat([gzipSync(CSV), Buffer.alloc(1_000)])],
  ['UTF-16, little end first', utf16(CSV)],
  ['UTF-16, big end first', utf16(CSV).swap16()],
  ['UTF-16 within gzip', gzipSync(utf16(CSV))],
  ['UTF-8 with its mark within gzip', gzipSync(`\ufeff${CSV}`)],
];
for (const [name, bytes] of packed) {
  test(`a file is read through ${name}`, async () => {
    const { summary, bytesRead } = await importText(bytes);
    assert.deepEqual([summary.symbols, summary.refused.size], [['AAPL', 'MSFT'], 0]);
    assert.equal(bytesRead, bytes.length);
  });
}

test('the symbol in the name of a compressed file is the one without its endings', async () => {
  for (const name of ['AAPL.csv.gz', '600519.SH.csv.gzip']) {
    const { summary } = await importText(gzipSync('date,open,close\n2025-01-06,1,1\n'), { name });
    assert.deepEqual(summary.symbols, [name.slice(0, name.indexOf('.csv'))]);
  }
});

test('a file that is torn anywhere says so', inLongForm, async () => {
  const path = join(temporaryFolder(), 'torn');
  const message = /^its gzip data ends in the middle: the file is torn, so nothing/;
  const bytes = gzipSync(CSV);
  // A shorter one is not taken for compressed data.
  for (let length = 4; length < bytes.length; length += runs(6, 1)) {
    writeFileSync(path, bytes.subarray(0, length));
    const read = async () => {
      for await (const piece of readContent(path)) assert.equal(piece.bytes.length, 0);
    };
    await assert.rejects(read(), { message }, `${length} bytes`);
  }
});

test('only the first bytes of a file tell its format, not those that a later read begins with', async () => {
  const start = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,`.padEnd(128 * 1024, 'x');
  for (const magic of ['1f8b0800', '504b0304']) {
    const end = Buffer.from(`\n${row('MSFT').trim()},y\n`);
    const bytes = Buffer.concat([Buffer.from(start), Buffer.from(magic, 'hex'), end]);
    assert.deepEqual((await importText(bytes)).summary.symbols, ['AAPL', 'MSFT']);
  }
});

const rows = Array.from(
  { length: 12_000 },
  (_, index) => `S${index % 1000},2024-12-${10 + (index % 12)},10,12,9,10.5,1000\n`,
);
const manyRows = gzipSync(`${HEADER}\n${rows.join('')}`);
const LONG_LINE = isLong ? gzipSync(Buffer.alloc(34_000_000, 'x')) : Buffer.alloc(0);
const ofHex = (text: string) => Buffer.from(text, 'hex');
const unpackable: [name: string, bytes: Buffer, message: RegExp][] = [
  ['torn after many rows', manyRows.subarray(0, -9), /its gzip data ends in the middle/],
  ['a wrong checksum', withFlippedByte(manyRows, -7), /its gzip data cannot be decompressed \(/],
  ['compressed twice', gzipSync(gzipSync(CSV)), /it is compressed twice: decompress it once/],
  ['a ZIP archive', ofHex('504b0304140000000800'), /it is a ZIP archive: extract it/],
  [
    'compressed by zstd',
    zstdCompressSync(CSV),
    /it is compressed by zstd: .* compress it by gzip$/,
  ],
  ['compressed by xz', ofHex('fd377a585a000004'), /it is compressed by xz: extract it/],
  ['34 million letters in a line', LONG_LINE, /line 1 is longer than 33554432 characters/],
];
for (const [name, bytes, message] of unpackable) {
  const skip = bytes === LONG_LINE && leftToLongForm;
  test(`a file changes nothing and says why: ${name}`, { skip }, async () => {
    const database = openDatabase(':memory:');
    await assert.rejects(importText(bytes, { database }), { code: 'invalid_file', message });
    assert.deepEqual(storedIn(database), []);
  });
}

function withFlippedByte(intact: Buffer, at: number): Buffer {
  const bytes = Buffer.from(intact);
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}

test('what a file decompresses to is never held as a whole', async () => {
  const path = join(temporaryFolder(), 'bomb');
  const size = 3_000_000;
  const feeds = Buffer.alloc(size, '\n');
  const bytes = gzipSync(feeds);
  assert.ok(bytes.length < size / 900, 'it is compressed to almost nothing');
  writeFileSync(path, bytes);
  let [total, largest] = [0, 0];
  for await (const piece of readContent(path)) {
    total += piece.bytes.length;
    largest = Math.max(largest, piece.bytes.length);
  }
  assert.deepEqual([total, largest <= 128 * 1024], [size, true]);
});

const row = (symbol: string) => `${symbol},2025-01-06,10,12,9,10.5,1000\n`;
const latin = [Buffer.from(`name,${HEADER}\nCaf`), Buffer.of(0xe9), Buffer.from(`,${row('AAPL')}`)];
const [plain, aapl] = [Buffer.from(row('MSFT')), `${HEADER}\n${row('AAPL')}`];
const utf8First = Buffer.concat([Buffer.from(aapl), utf16(row('MSFT'))]);
const cutUtf16 = utf16(aapl + row('MSFT')).subarray(0, -5);
const mixed: [name: string, bytes: Buffer, symbols: string[], refused: RegExp | null][] = [
  ['Latin-1 in a column that is not read', Buffer.concat(latin), ['AAPL'], null],
  ['UTF-16 that turns into UTF-8', Buffer.concat([utf16(aapl), plain]), ['AAPL'], /^3: /],
  ['UTF-16 cut within a character', cutUtf16, ['AAPL', 'MSFT'], null],
  ['UTF-8 that turns into UTF-16', utf8First, ['AAPL'], /^3: not a ticker symbol/],
];
for (const [name, bytes, expected, refusal] of mixed) {
  test(`what can be read is imported: ${name}`, async () => {
    const { summary, refused } = await importText(bytes);
    assert.deepEqual(summary.symbols, expected);
    assert.match(refused[0] ?? 'none', refusal ?? /^none$/);
  });
}
