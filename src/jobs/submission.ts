import type { CalendarDate } from '../calendar.ts';

/** The content of a trigger. */
export interface JobRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  /** Empty means the enabled models of the server configuration. */
  models: readonly string[];
  replaceExisting: boolean;
  /** A universe of the server configuration; null for the default one. */
  universe: string | null;
}

/** The created job as the response to a trigger shows it. */
export interface SubmittedJob {
  jobId: string;
  totalModelDays: number;
  message: string;
  warnings: string[];
}
