import assert from 'node:assert/strict';
import { momentAt } from '../database/snapshot.ts';
import type { Reader } from '../database/database.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { startingThread } from '../basics/program.ts';
import { isMade, piecesOf, type ResponseBody } from '../api/handler.ts';
import { silentLog, stackTraceOf } from '../basics/log.ts';
import {
  type Delivery,
  type Failure,
  IS_UNWANTED,
  MOST_WAITING,
  type Order,
  TAKEN,
} from './reports.ts';
import { routes } from './routes.ts';

/** Characters of a report that go to the serving thread at a time. */
const CHUNK_LENGTH = 128 * 1024;

/** How often a thread that waits looks again, should it miss a notification. */
const LOOK_AGAIN_MS = 100;

/** What a reader thread does: makes the reports that it is sent, one after the other. */
export function makeReports(): void {
  const port = startingThread();
  const send = (delivery: Delivery) =>
    port.postMessage(delivery, 'bytes' in delivery ? [delivery.bytes.buffer] : []);
  port.on('message', (order: Order) => {
    try {
      makeReport(order, send);
    } catch (error) {
      send({ failure: failureOf(error) });
    }
  });
}

function failureOf(error: unknown): Failure {
  const fault = storageFaultOf(error);
  if (fault !== null) return { code: 'storage_fault', message: fault, stack: '' };
  const code = error instanceof ServiceError ? error.code : null;
  return { code, message: messageOf(error), stack: stackTraceOf(error) };
}

/** Sends the response of the route's handler, at one moment of the database. */
function makeReport(order: Order, send: (delivery: Delivery) => void): void {
  const { path, input, settings, viewedFile, database: address } = order.request;
  const route = routes.find((one) => one.path === path);
  assert(route !== undefined, 'a report is the response of a route');
  const moment = momentAt(address);
  const statement: Reader['statement'] = (sql, rows) => {
    throwIfUnwanted(order);
    return moment.statement(sql, rows);
  };
  const context = {
    database: { ...moment, statement },
    settings,
    viewedFile,
    jobs: null,
    agentDays: null,
    isFixed: false,
    log: silentLog,
    clock: () => new Date(),
    interfaceDescription: () => assert.fail('no report describes the interface'),
  };
  try {
    const body = route.handle(context, input);
    assert(isMade(body), 'a report is made in one go');
    sendChunks(body, order, send);
  } finally {
    moment.close();
  }
}

function sendChunks(body: ResponseBody, order: Order, send: (delivery: Delivery) => void): void {
  const { pieces, fileName } = piecesOf(body);
  const encoder = new TextEncoder();
  let sentBytes = 0;
  let text = '';
  const sendText = (isLast: boolean) => {
    waitForRoom(order, sentBytes);
    const bytes = encoder.encode(text);
    sentBytes += bytes.length;
    send({ bytes, fileName, isLast });
    text = '';
  };
  for (const piece of pieces) {
    text += piece;
    if (text.length >= CHUNK_LENGTH) sendText(false);
  }
  sendText(true);
}

/** Waits while as much of the report as is allowed waits for its client. */
function waitForRoom(order: Order, sentBytes: number): void {
  const { flow } = order;
  for (;;) {
    throwIfUnwanted(order);
    const taken = Atomics.load(flow, TAKEN);
    const waiting = (sentBytes - taken) | 0;
    if (waiting <= 0 || waiting < Atomics.load(flow, MOST_WAITING)) return;
    Atomics.wait(flow, TAKEN, taken, LOOK_AGAIN_MS);
  }
}

/** Ends a report whose client has left. */
function throwIfUnwanted({ flow }: Order): void {
  if (Atomics.load(flow, IS_UNWANTED) !== 0) throw new Error('the report is not wanted any more');
}
