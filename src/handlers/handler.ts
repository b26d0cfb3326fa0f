import type { Clock } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';

/** What every handler works with. */
export interface Context {
  database: Database;
  settings: Settings;
  clock: Clock;
  log: Log;
  jobs: Jobs;
  /** The OpenAPI document, as JSON. */
  interfaceDescription: () => Promise<string>;
}

/** A request whose query, body and headers have passed their schemas. */
export interface Input<Query = unknown, Body = unknown, Headers = unknown> {
  params: Record<string, string>;
  query: Query;
  body: Body;
  /** What the client wants of a route that can give both; else JSON. */
  format: Format;
  headers: Headers;
}

export type Format = 'json' | 'csv';

/** CSV to be kept as a file of this name, piece by piece. */
export interface Table {
  fileName: string;
  lines: Iterable<string>;
}

/** JSON text that is made somewhere else; `stop` says that its client has left. */
export interface LateBody {
  text: Promise<string>;
  stop(): void;
}

/**
 * The body of an answer with status 200: JSON text, whole or piece by piece, or a table. Pieces are asked for in slices of
 * time, so making one takes a fraction of a slice; an empty one where others may have their turn.
 */
export type ResponseBody = string | Iterable<string> | Table | LateBody;

/** The fields that most answers carry. */
export function deploymentFields({ deploymentMode, preserveDevData }: Settings) {
  return { deployment_mode: deploymentMode, is_dev_mode: deploymentMode === 'DEV', preserve_dev_data: preserveDevData };
}

/** An object's JSON with further members that are JSON text already. */
export function appendMembers(objectJson: string, members: Record<string, unknown>): string {
  return `${objectJson.slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}
