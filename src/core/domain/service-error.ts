/** What happened, as far as callers distinguish it; src/core/http/errors.ts maps it to a status. */
export type ErrorCode =
  | 'invalid_dates'
  | 'nothing_to_resume'
  | 'invalid_filter'
  | 'no_models'
  | 'invalid_models'
  | 'unknown_universe'
  | 'unknown_study'
  | 'terms_differ'
  | 'another_job_unfinished'
  | 'key_reused'
  | 'job_not_found'
  | 'document_not_found'
  | 'job_conflict'
  | 'day_decided'
  | 'day_interrupted'
  | 'no_such_day'
  | 'no_sessions'
  | 'no_prices'
  | 'invalid_file'
  | 'broken_configuration'
  | 'protocol_violation'
  | 'service_unavailable'
  | 'cannot_start'
  | 'storage_fault';

/**
 * An error whose message is meant for the caller. Any other error is a bug, and the caller gets
 * only a reference to the log.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** The refusal of a value in the query of a request. */
export function invalidFilter(name: string, problem: string): ServiceError {
  return new ServiceError('invalid_filter', `${name}: ${problem}`);
}

/** The error for a file that cannot be used, with what is wrong with it. */
export function invalidFile(problem: string): ServiceError {
  return new ServiceError('invalid_file', problem);
}

/** What was thrown, as one line of text. Of a file that is missing callers name the path. */
export function errorMessage(thrown: unknown): string {
  if (errorCode(thrown) === 'ENOENT') return 'there is no such file or folder';
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * The error of a command that cannot do something: the one that was thrown, if that says so
 * itself; any other is its cause.
 */
export function cannot(what: string, thrown: unknown, why = errorMessage(thrown)): ServiceError {
  return thrown instanceof ServiceError
    ? thrown
    : new ServiceError('cannot_start', `Cannot ${what}: ${why}`, { cause: thrown });
}

/** The code of a system error, such as `ENOENT`; undefined for anything else. */
export function errorCode(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}
