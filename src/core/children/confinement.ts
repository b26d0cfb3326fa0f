/**
 * What a child may reach on the network: nothing, or its model's endpoint by the protocol that it
 * speaks.
 */
export type Network = 'none' | 'http' | 'https';

/**
 * Runs before a child's program, as text and in plain JavaScript, and takes away what Node's
 * permission model still allows: signals to other processes and changing their priorities; on Node
 * 24, the network for a child without an endpoint; and listening and Unix sockets for one with an
 * endpoint. The program gets few modules and a small `process`, and nothing that leads to the rest:
 * no globals that hold modules, no `import()` (code compiled by `node:vm` has none), no standard
 * streams, because their sockets expose constructors.
 *
 * A program that changes a prototype that Node calls into can get hold of Node's own `process`, so
 * the dangerous parts of that are removed too. This confines JavaScript; it does not stop native
 * code.
 *
 * The text must not contain the name of Node's module for cryptography: Node would load it, which
 * takes a fifth of a child's start-up.
 */
const PREAMBLE = `'use strict';
  const { compileFunction } = require('node:vm');
  const { builtinModules } = require('node:module');
  const { read, readSync, writeSync } = require('node:fs');
  const own = process;
  const load = require;
  const files = { read, readSync, writeSync };
  const client = network === 'none' ? undefined : require('node:' + network);
  const timers = client && require('node:timers/promises');
  if (client !== undefined) {
    const { Socket } = require('node:net');
    const lose = (socket, names) => {
      const prototype = Object.getPrototypeOf(socket._handle);
  for (const name of names) Reflect.deleteProperty(prototype, name);
      socket.destroy();
    };
    lose(new Socket().connect({ host: 'a', port: 1, lookup() {} }), ['bind', 'bind6', 'listen', 'open']);
    const unix = new Socket().on('error', () => {}).connect({ path: '/' });
    lose(unix, ['bind', 'listen', 'connect', 'connect2', 'open', 'fchmod']);
  }
  const denied = (what) => Object.assign(new Error('A model process has no ' + what), { code: 'ERR_ACCESS_DENIED' });
  const provide = (name) => {
    if (name === 'node:fs') return files;
    if (client !== undefined && name === 'node:' + network) return client;
    if (client !== undefined && name === 'node:timers/promises') return timers;
    if (client !== undefined && (name === 'node:zlib' || name === 'node:stream')) return load(name);
    throw denied('module ' + name);
  };
  const { _kill: signalTo, env, pid, ppid, version, versions, platform, arch } = own;
  const small = { env, pid, ppid, version, versions, platform, arch, getBuiltinModule: provide };
  small.exit = (code) => own.exit(code);
  small.on = (_event, listener) => void own.on('uncaughtException', (error) => listener(error));
  small.kill = (target, signal) => {
    if (target !== pid) throw denied('process.kill of another process');
    signalTo(pid, signal);
  };
  Object.defineProperty(small, 'title', { get: () => own.title, set: (title) => (own.title = title) });
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', '_linkedBinding', 'dlopen', 'execve',
    'getBuiltinModule', 'mainModule', 'openStdin', 'stdin', 'stdout', 'stderr', '_getActiveHandles', '_getActiveRequests'])
    Reflect.deleteProperty(own, name);
  for (const name of [...builtinModules, 'console', 'require', 'module', 'exports', 'navigator', 'fetch', 'WebSocket',
    'EventSource', 'Request', 'Response', 'Headers', 'FormData', 'CompressionStream', 'DecompressionStream',
    'localStorage', 'sessionStorage', 'BroadcastChannel', 'MessageChannel', 'MessagePort'])
    Reflect.deleteProperty(globalThis, name);
  const nothing = () => {};
  const stderr = { once: nothing, removeListener: nothing, listenerCount: () => 0, write: (text) => writeSync(2, text) };
  Object.defineProperty(own, 'stderr', { value: stderr }); // where Node itself writes its warnings
  Object.defineProperty(globalThis, 'module', { get: nothing, set: nothing }); // Node sets it once more
  Object.defineProperty(globalThis, 'process', { value: small });
  return compileFunction(program, ['require'])(provide);
`;

/**
 * The program as text for `--eval` that first removes from itself what a model-day does not need.
 */
export function confine(program: string, network: Network): string {
  const known = confined.get(network);
  if (known?.program === program) return known.text;
  const text = `(function (network, program) {${PREAMBLE}})(${JSON.stringify(network)}, ${JSON.stringify(program)})`;
  confined.set(network, { program, text });
  return text;
}

/**
 * The last text per network: Node keeps the arguments of every child that runs, and a thousand of
 * them share this one.
 */
const confined = new Map<Network, { program: string; text: string }>();
