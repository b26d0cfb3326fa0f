import type { Clock } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import type { WorkerLimits } from './limits.ts';

/** What the worker works with. */
export interface WorkerContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Environment variables, for keys that the configuration names but does not hold. */
  environment: NodeJS.ProcessEnv;
  /** What child processes run: the agent as JavaScript text. */
  agentProgram: string;
  limits: WorkerLimits;
}
