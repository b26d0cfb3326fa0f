import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { receiveMessageOnPort, type Transferable } from 'node:worker_threads';
import { openMoment } from '#database/snapshot.ts';
import type { Address, Reader } from '#database/database.ts';
import { hasRoom, findStorageFault } from '#database/storage/faults.ts';
import { errorMessage, ServiceError } from '#domain/service-error.ts';
import { parentThread } from '#process/program.ts';
import { isReady, bodyPieces, outsideService, type ResponseBody } from '#api/handler.ts';
import { stackTrace } from '#process/log.ts';
import type { Delivery, Failure, ReportRequest } from './reports.ts';
import { MAX_WHOLE_BYTES } from './response.ts';
import type { Route } from '#api/route.ts';

/** The folder of the files of long reports, beside the database. */
const FOLDER = 'reports';
/** Free disk space that reports leave to the database. */
const MIN_FREE_BYTES = 256 * 2 ** 20;

type Send = (delivery: Delivery, moved?: Transferable[]) => void;

/** Ends a report whose client has left: nothing else is sent to a thread that makes one. */
function throwIfCancelled(): void {
  if (receiveMessageOnPort(parentThread()) !== undefined)
    throw new Error('the report is not wanted any more');
}

/** What a reader thread does: makes the reports that it is sent, one after the other. */
export function runReportWorker(routes: readonly Route[]): void {
  const port = parentThread();
  const send: Send = (delivery, moved = []) => port.postMessage(delivery, moved);
  port.on('message', (request: ReportRequest | null) => {
    if (request !== null)
      makeReport(routes, request, send).catch((error) => send({ failure: toFailure(error) }));
  });
}

function toFailure(error: unknown): Failure {
  const fault = findStorageFault(error);
  if (fault !== null) return { code: 'storage_fault', message: fault, stack: '' };
  const code = error instanceof ServiceError ? error.code : null;
  return { code, message: errorMessage(error), stack: stackTrace(error) };
}

/** Sends the response of the route's handler, at one moment of the database. */
async function makeReport(
  routes: readonly Route[],
  request: ReportRequest,
  send: Send,
): Promise<void> {
  const { path, input, settings, viewedFile, database: address } = request;
  const route = routes.find((one) => one.path === path);
  assert(route !== undefined, 'a report is the response of a route');
  const moment = openMoment(address);
  const statement: Reader['statement'] = (sql, rows) => {
    throwIfCancelled();
    return moment.statement(sql, rows);
  };
  const context = {
    ...outsideService,
    database: { ...moment, statement },
    settings,
    viewedFile,
    isFixed: false,
  };
  try {
    const body = route.handle(context, input);
    assert(isReady(body), 'a report is made in one go');
    await deliver(body, address, send);
  } finally {
    moment.close();
  }
}

/** Sends a short report as it is, and writes a long one to a file. */
async function deliver(body: ResponseBody, address: Address, send: Send): Promise<void> {
  const { pieces, fileName } = bodyPieces(body);
  let text = '';
  let place: { folder: string; descriptor: number } | undefined;
  const write = async (isLast: boolean) => {
    throwIfCancelled();
    const bytes = Buffer.from(text);
    text = '';
    try {
      place ??= await openReportFile(address, send);
      assert(hasRoom(place.folder, MIN_FREE_BYTES), `the disk of ${place.folder} is almost full`);
      writeFileSync(place.descriptor, bytes);
    } catch (cause) {
      const message = `Cannot write a long response to a file: ${errorMessage(cause)}`;
      throw new ServiceError('storage_fault', message, { cause });
    }
    send({ written: bytes.length, fileName, isLast });
  };
  for (const piece of pieces) {
    text += piece;
    if (text.length > MAX_WHOLE_BYTES) await write(false);
  }
  if (place === undefined) send({ bytes: new TextEncoder().encode(text), fileName });
  else await write(true);
}

/** Opens a file beside the database of a service, or among the system's temporary files. */
async function openReportFile({ path, shown }: Address, send: Send) {
  const folder = join(dirname(path), FOLDER);
  if (shown === null)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (hasRoom(folder, MIN_FREE_BYTES)) return await openUnlinked(folder, send);
    } catch {
      // That folder cannot be written.
    }
  return openUnlinked(tmpdir(), send);
}

/** The file loses its name at once, so that nothing of it stays behind, however this ends. */
async function openUnlinked(folder: string, send: Send) {
  const path = join(folder, `tss-report-${randomUUID()}`);
  // Loaded by the first long report: a start takes longer with it.
  const file = await process.getBuiltinModule('node:fs/promises').open(path, 'wx+', 0o600);
  const { fd: descriptor } = file;
  send({ file }, [file]);
  unlinkSync(path);
  return { folder, descriptor };
}
