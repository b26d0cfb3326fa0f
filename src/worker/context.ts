import type { Clock } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';

/** What the worker works with. */
export interface WorkerContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** What child processes run: the agent as JavaScript text. */
  agentProgram: string;
}
