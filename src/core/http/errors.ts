import { findStorageFault } from '#database/storage/faults.ts';
import { type ErrorCode, ServiceError } from '#domain/service-error.ts';

/** A request that is refused with the given status; the message is meant for its client. */
export class HttpError extends Error {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Whether it is uncertain where this request ends and the next begins. */
  readonly closesConnection: boolean;
  /** The body, where that is not made of the message. */
  readonly json: string | undefined;
  constructor(
    status: number,
    message: string,
    { headers = [], closesConnection = false, json }: Partial<Omit<HttpError, keyof Error>> = {},
  ) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
    this.closesConnection = closesConnection;
    this.json = json;
  }
}

/** The statuses of the domain's errors. All others are the server's own: a 500. */
const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_dates: 400,
  nothing_to_resume: 400,
  no_models: 400,
  invalid_models: 400,
  unknown_universe: 400,
  unknown_study: 400,
  terms_differ: 400,
  another_job_unfinished: 400,
  job_not_found: 404,
  document_not_found: 404,
  no_sessions: 404,
  no_prices: 404,
  job_conflict: 409,
  day_decided: 409,
  day_interrupted: 503,
  no_such_day: 401,
  invalid_filter: 422,
  key_reused: 422,
};

/**
 * The response to an error that its message explains; null for a bug or a fault, which
 * `loggedError` responds to.
 */
export function toHttpError(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (!(error instanceof ServiceError) || error.code === 'storage_fault') return null;
  return new HttpError(statuses[error.code] ?? 500, error.message);
}

/**
 * The response to a bug or a fault, with the reference that finds it in the log; of a bug it says
 * nothing else.
 */
export function loggedError(error: unknown, reference: string): HttpError {
  return new HttpError(
    500,
    `Internal server error: ${findStorageFault(error) ?? 'unexpected failure'} (reference ${reference})`,
  );
}
