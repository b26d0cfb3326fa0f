import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import type { Reader } from '../database/moment.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { momentAt } from '../database/view.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { BUILD } from '../basics/program.ts';
import type { ResponseBody } from '../api/handler.ts';
import { silentLog, stackTraceOf } from '../basics/log.ts';
import type { Delivery, Failure, Order, ThreadData } from './reports.ts';
import { routes } from './routes.ts';

/** Characters of a report that go to the serving thread at a time. */
const CHUNK_LENGTH = 256 * 1024;

/** What a reader thread does: makes the reports that it is sent, one after the other. */
export function makeReports(): void {
  const port = parentPort;
  assert(port !== null, 'a reader thread has a parent');
  const data: ThreadData = workerData;
  assert(data.build === BUILD, 'the program file was replaced while it runs: restart the service');
  port.on('message', (order: Order) => {
    const send = (delivery: Delivery) =>
      port.postMessage(delivery, 'chunk' in delivery ? [delivery.chunk.buffer] : []);
    try {
      makeReport(order, (chunk, fileName) => {
        waitForRoom(data, order);
        send({ chunk, fileName });
      });
      send({ failure: null });
    } catch (error) {
      send({ failure: failureOf(error) });
    }
  });
}

/** Waits while too much of all reports waits for clients. */
function waitForRoom({ waitingKb }: ThreadData, order: Order): void {
  for (;;) {
    throwIfUnwanted(order);
    const kb = Atomics.load(waitingKb, 0);
    if (kb <= order.maxWaitingKb) return;
    Atomics.wait(waitingKb, 0, kb);
  }
}

function throwIfUnwanted({ isUnwanted }: Order): void {
  if (Atomics.load(isUnwanted, 0) !== 0) throw new Error('its client has left');
}

function failureOf(error: unknown): Failure {
  const fault = storageFaultOf(error);
  if (fault !== null) return { code: 'storage_fault', message: fault, stack: '' };
  const code = error instanceof ServiceError ? error.code : null;
  return { code, message: messageOf(error), stack: stackTraceOf(error) };
}

type Send = (chunk: Uint8Array<ArrayBuffer>, fileName: string | null) => void;

/** The response of the route's handler, at one moment of the database. */
function makeReport(order: Order, send: Send): void {
  const { path, input, settings, viewedFile, database: address } = order.request;
  const route = routes.find((one) => one.path === path);
  assert(route !== undefined, 'a report is the response of a route');
  const { source: _, ...moment } = momentAt(address);
  const statement: Reader['statement'] = (sql, rows) => {
    throwIfUnwanted(order);
    return moment.statement(sql, rows);
  };
  const context = {
    database: { ...moment, statement },
    ...{ settings, viewedFile, jobs: null, isFixed: false, log: silentLog },
    clock: () => new Date(),
    interfaceDescription: () => assert.fail('no report describes the interface'),
  };
  try {
    const body = route.handle(context, input);
    assert(!(body instanceof Promise), 'a report is made in one go');
    sendBody(body, send);
  } finally {
    moment.close();
  }
}

function sendBody(body: ResponseBody, send: Send): void {
  if (typeof body === 'string') return sendPieces([body], null, send);
  assert(!('stop' in body), 'a report is made in one go');
  if ('lines' in body) sendPieces(body.lines, body.fileName, send);
  else sendPieces(body, null, send);
}

function sendPieces(pieces: Iterable<string>, fileName: string | null, send: Send): void {
  const encoder = new TextEncoder();
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    send(encoder.encode(text), fileName);
    text = '';
  }
  send(encoder.encode(text), fileName);
}
