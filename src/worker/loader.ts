import { type Network, confine } from './confinement.ts';
import { CAN_RESTRICT_NETWORK } from './process.ts';

/**
 * How a program reaches a child through a launcher: over the pipe, before the first message. The
 * command line then holds only a short loader, however the launcher passes it on, and every machine
 * runs the program of this service.
 */

/**
 * The bytes at the beginning that hold the program's length as decimal digits, padded with spaces.
 */
const LENGTH_BYTES = 10;
/**
 * The pause before the loader reads again, where a launcher hands over a descriptor that does not
 * block.
 */
const EAGAIN_PAUSE_MS = 5;
/** The exit code of a child that its loader ends; `EX_UNAVAILABLE` of sysexits.h. */
export const LOADER_FAILED = 69;
/** What the loader says first when the Node that runs it will not do. */
export const WRONG_NODE = 'This machine has Node.js ';

/**
 * The loader as JavaScript text: checks the version of its Node, reads the program's length and
 * exactly as many bytes, and runs them where `--eval` would. It reads by plain system calls:
 * `process.stdin` would leave the descriptor non-blocking, which breaks what the program reads
 * after it.
 */
export function loaderText(network: Network): string {
  const needed = 'model-days need 24.15 or a later 24, or 26 or later';
  const same = 'its model-days need Node.js 24, as the service has';
  const onlyOld = network !== 'none' && !CAN_RESTRICT_NETWORK;
  return `{
    const { readSync, writeSync } = require('node:fs');
    const end = (why) => { writeSync(2, why + '\\n'); process.exit(${LOADER_FAILED}); };
    const version = process.versions.node;
    const [major, minor] = version.split('.').map(Number);
    if (!(major >= 26 || (major === 24 && minor >= 15))) end('${WRONG_NODE}' + version + '; ${needed}');
    ${onlyOld ? `if (major > 24) end('${WRONG_NODE}' + version + '; ${same}');` : ''}
    const nap = new Int32Array(new SharedArrayBuffer(4));
    const read = (bytes) => {
      for (let at = 0; at < bytes.length; )
        try {
          const length = readSync(0, bytes, at, bytes.length - at, null);
          if (length === 0) end('The pipe was closed before the program had arrived');
          at += length;
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error;
          Atomics.wait(nap, 0, 0, ${EAGAIN_PAUSE_MS});
        }
      return bytes.toString();
    };
    const length = Number(read(Buffer.alloc(${LENGTH_BYTES})));
    if (!(length > 0)) end('Something other than the program came first over the pipe');
    require('node:vm').runInThisContext(read(Buffer.alloc(length)), { filename: '[eval]' });
  }`.replaceAll(/\n\s*/g, ' ');
}

/**
 * What is written to the child's stdin before the first message: the confined program, after its
 * length.
 */
export function packProgram(program: string, network: Network): Buffer {
  const bytes = Buffer.from(confine(program, network));
  return Buffer.concat([Buffer.from(String(bytes.length).padStart(LENGTH_BYTES)), bytes]);
}
