import type { CalendarDate } from '../calendar.ts';

/** What a trigger asks for. */
export interface JobRequest {
  /** Null means resume mode. */
  startDate: CalendarDate | null;
  endDate: CalendarDate;
  /** Empty means the enabled models of the server configuration. */
  models: readonly string[];
  replaceExisting: boolean;
}

/** What the response to a trigger says of the job that was created. */
export interface SubmittedJob {
  jobId: string;
  totalModelDays: number;
  message: string;
  warnings: string[];
}
