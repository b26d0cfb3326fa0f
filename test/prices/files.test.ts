import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { openDatabase } from '../../src/database/database.ts';
import { endsWithinFrame, readContent } from '../../src/prices/files/content.ts';
import { inLongForm, runs } from '../support/long.ts';
import { importText, storedIn } from '../support/imports.ts';
import { temporaryFolder } from '../support/service.ts';

/** What files are packed in: compression and encodings. */

const HEADER = 'symbol,date,open,high,low,close,volume';
const CSV = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,Café\nMSFT,2025-01-06,10,12,9,10.5,1000,é\n`;
const [HALF, REST] = [CSV.slice(0, 70), CSV.slice(70)];

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const checksummed = (data: Buffer | string) =>
  zstdCompressSync(data, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const skippable = Buffer.from('532a4d1803000000aabbcc', 'hex');
const frames = Buffer.concat([
  skippable,
  checksummed(HALF),
  skippable,
  zstdCompressSync(REST),
  skippable,
]);

const packed: [name: string, bytes: Buffer][] = [
  ['gzip', gzipSync(CSV)],
  ['two members of gzip', Buffer.concat([gzipSync(HALF), gzipSync(REST)])],
  ['gzip padded with zeros, as tapes are', Buffer.concat([gzipSync(CSV), Buffer.alloc(1_000)])],
  ['zstd', zstdCompressSync(CSV)],
  ['zstd with a checksum', checksummed(CSV)],
  ['several frames of zstd, some to be skipped', frames],
  ['UTF-16, little end first', utf16(CSV)],
  ['UTF-16, big end first', utf16(CSV).swap16()],
  ['UTF-16 within gzip', gzipSync(utf16(CSV))],
  ['UTF-8 with its mark within zstd', zstdCompressSync(`\ufeff${CSV}`)],
];
for (const [name, bytes] of packed) {
  test(`a file is read through ${name}`, async (t) => {
    const { summary, bytesRead } = await importText(t, bytes);
    assert.deepEqual([summary.symbols, summary.refused.size], [['AAPL', 'MSFT'], 0]);
    assert.equal(bytesRead, bytes.length);
  });
}

test('the symbol in the name of a compressed file is the one without its endings', async (t) => {
  for (const [name, bytes] of [
    ['AAPL.csv.gz', gzipSync],
    ['600519.SH.csv.zst', zstdCompressSync],
  ] as const) {
    const { summary } = await importText(t, bytes('date,open,close\n2025-01-06,1,1\n'), { name });
    assert.deepEqual(summary.symbols, [name.slice(0, name.indexOf('.csv'))]);
  }
});

for (const [name, bytes, ends] of [
  ['gzip', gzipSync(CSV), []],
  ['zstd with a checksum', checksummed(CSV), []],
  // Where a frame ends nothing shows that more should follow.
  [
    'several frames of zstd',
    frames,
    [11, 11 + checksummed(HALF).length, 22 + checksummed(HALF).length, frames.length - 11],
  ],
] as const) {
  test(
    `a file that is torn anywhere says so, and nothing of it is imported: ${name}`,
    inLongForm,
    async (t) => {
      const path = join(temporaryFolder(t), 'torn');
      for (const length of lengthsToTear(bytes.length, ends)) {
        writeFileSync(path, bytes.subarray(0, length));
        const read = async () => {
          for await (const { bytes } of readContent(path))
            assert.ok(ends.some((end) => end === length) || bytes.length === 0);
        };
        if (ends.some((end) => end === length)) await read();
        else
          await assert.rejects(
            read(),
            { message: /^its \w+ data ends in the middle: the file is torn, so nothing/ },
            `${length} bytes`,
          );
      }
    },
  );
}

/** All lengths, or in short every sixth and those around the ends of frames. */
function lengthsToTear(size: number, ends: readonly number[]): Set<number> {
  const around = ends.flatMap((end) => [end - 1, end, end + 1]);
  const all = Array.from({ length: size - 4 }, (_, index) => index + 4);
  return new Set([...all.filter((length) => length % runs(6, 1) === 0), ...around, size - 1]);
}

test('only the first bytes of a file tell its format, not those that a later read begins with', async (t) => {
  const start = `${HEADER},name\nAAPL,2025-01-06,10,12,9,10.5,1000,`.padEnd(128 * 1024, 'x');
  for (const magic of ['1f8b0800', '504b0304', '28b52ffd']) {
    const { summary } = await importText(
      t,
      Buffer.concat([
        Buffer.from(start),
        Buffer.from(magic, 'hex'),
        Buffer.from(`\n${row('MSFT').trim()},y\n`),
      ]),
    );
    assert.deepEqual(summary.symbols, ['AAPL', 'MSFT']);
  }
});

test('the end of zstd data within a frame is found without a decoder, however the data arrives', async () => {
  const whole = [
    0,
    11,
    11 + checksummed(HALF).length,
    22 + checksummed(HALF).length,
    frames.length - 11,
    frames.length,
  ];
  const byteByByte = async function* (bytes: Buffer) {
    for (const byte of bytes) yield { bytes: Buffer.of(byte) };
  };
  for (let length = 0; length <= frames.length; length += 1)
    assert.equal(
      await endsWithinFrame(byteByByte(frames.subarray(0, length))),
      !whole.includes(length),
      `${length} bytes`,
    );
});

const rows = Array.from(
  { length: 12_000 },
  (_, index) => `S${index % 1000},2024-12-${10 + (index % 12)},10,12,9,10.5,1000\n`,
);
const unpackable: [name: string, bytes: Buffer, message: RegExp][] = [
  [
    'torn after more rows than a transaction',
    gzipSync(`${HEADER}\n${rows.join('')}`).subarray(0, -9),
    /its gzip data ends in the middle/,
  ],
  [
    'with a wrong checksum at its end',
    withFlippedByte(gzipSync(`${HEADER}\n${rows.join('')}`), -7),
    /its gzip data cannot be decompressed \(/,
  ],
  [
    'with a wrong checksum of zstd',
    withFlippedByte(checksummed(CSV), -1),
    /its zstd data cannot be decompressed \(/,
  ],
  [
    'with other data behind it',
    Buffer.concat([zstdCompressSync(CSV), Buffer.from(CSV)]),
    /its zstd data cannot be decompressed \(/,
  ],
  [
    'compressed twice',
    gzipSync(zstdCompressSync(CSV)),
    /it is compressed twice: decompress it once/,
  ],
  [
    'a ZIP archive',
    Buffer.from('504b0304140000000800', 'hex'),
    /it is a ZIP archive: extract it first/,
  ],
  [
    'compressed by xz',
    Buffer.from('fd377a585a000004', 'hex'),
    /it is compressed by xz: extract it first/,
  ],
  [
    '34 million letters in one line',
    gzipSync(Buffer.alloc(34_000_000, 'x')),
    /line 1 is longer than 33554432 characters/,
  ],
];
for (const [name, bytes, message] of unpackable) {
  test(`a file changes nothing and says why: ${name}`, async (t) => {
    const database = openDatabase(':memory:');
    await assert.rejects(importText(t, bytes, { database }), { code: 'invalid_file', message });
    assert.deepEqual(storedIn(database), []);
  });
}

function withFlippedByte(bytes: Buffer, at: number): Buffer {
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 0xff, index);
  return bytes;
}

test('what a file decompresses to is never held as a whole', async (t) => {
  const path = join(temporaryFolder(t), 'bomb');
  const size = 3_000_000;
  for (const bytes of [
    gzipSync(Buffer.alloc(size, '\n')),
    zstdCompressSync(Buffer.alloc(size, '\n')),
  ]) {
    assert.ok(bytes.length < size / 900, 'it is compressed to almost nothing');
    writeFileSync(path, bytes);
    let [total, largest] = [0, 0];
    for await (const piece of readContent(path)) {
      total += piece.bytes.length;
      largest = Math.max(largest, piece.bytes.length);
    }
    assert.deepEqual([total, largest <= 128 * 1024], [size, true]);
  }
});

const row = (symbol: string) => `${symbol},2025-01-06,10,12,9,10.5,1000\n`;
const mixed: [name: string, bytes: Buffer, symbols: string[], refused: RegExp | null][] = [
  [
    'Latin-1 in a column that is not read',
    Buffer.concat([
      Buffer.from(`name,${HEADER}\nCaf`),
      Buffer.from([0xe9]),
      Buffer.from(`,${row('AAPL')}`),
    ]),
    ['AAPL'],
    null,
  ],
  [
    'UTF-16 that turns into UTF-8',
    Buffer.concat([utf16(`${HEADER}\n${row('AAPL')}`), Buffer.from(row('MSFT'))]),
    ['AAPL'],
    /^3: /,
  ],
  [
    'UTF-16 cut within a character',
    utf16(`${HEADER}\n${row('AAPL')}${row('MSFT')}`).subarray(0, -5),
    ['AAPL', 'MSFT'],
    null,
  ],
  [
    'UTF-8 that turns into UTF-16',
    Buffer.concat([Buffer.from(`${HEADER}\n${row('AAPL')}`), utf16(row('MSFT'))]),
    ['AAPL'],
    /^3: not a ticker symbol/,
  ],
];
for (const [name, bytes, expected, refusal] of mixed) {
  test(`what can be read is imported: ${name}`, async (t) => {
    const { summary, refused } = await importText(t, bytes);
    assert.deepEqual(summary.symbols, expected);
    assert.match(refused[0] ?? 'none', refusal ?? /^none$/);
  });
}
