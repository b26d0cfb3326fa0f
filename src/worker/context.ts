import type { Clock } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import type { WorkerLimits } from './limits.ts';
import type { StartChild } from './process.ts';

/** The worker's dependencies. */
export interface WorkerContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Environment variables, for keys that the configuration refers to but does not contain. */
  environment: NodeJS.ProcessEnv;
  /** The program of the child processes: the agent as JavaScript text. */
  agentProgram: string;
  /**
   * By MODEL_DAY_COMMAND, or `startConfined`; tests of jobs run the agent in their own process
   * instead.
   */
  startChild: StartChild;
  limits: WorkerLimits;
}
