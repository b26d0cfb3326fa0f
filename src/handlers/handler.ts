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
}

/** A request whose query, body and headers have passed their schemas. */
export interface Input<Query = unknown, Body = unknown, Headers = unknown> {
  params: Record<string, string>;
  query: Query;
  body: Body;
  headers: Headers;
}

/** The body of an answer with status 200: JSON text, whole or piece by piece. */
export type Answer = string | Iterable<string>;

/** The fields that most answers carry. */
export function deploymentFields({ deploymentMode, preserveDevData }: Settings) {
  return { deployment_mode: deploymentMode, is_dev_mode: deploymentMode === 'DEV', preserve_dev_data: preserveDevData };
}

/** An object's JSON with further members that are JSON text already. */
export function appendMembers(objectJson: string, members: Record<string, unknown>): string {
  return `${objectJson.slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}
