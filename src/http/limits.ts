/**
 * How much of the server one client may use, so that the others get their share. Every limit has a
 * test.
 */
export interface HttpLimits {
  /** The head of a request, its request line and all headers; llhttp counts it. More is a 431. */
  maxHeadBytes: number;
  /** More header lines are a 431. */
  maxHeaders: number;
  /** The request target: path and query, percent-encoded. More is a 414. */
  maxTargetLength: number;
  /** More is a 413. */
  maxBodyBytes: number;
  /**
   * From the first byte, or the opening of the connection, to the end of the headers. Later is a
   * 408.
   */
  headersTimeoutMs: number;
  /** From the first byte to the end of the body. Later is a 408. */
  requestTimeoutMs: number;
  /** Idle time between two requests on one connection; then it is closed. */
  keepAliveTimeoutMs: number;
  /**
   * A connection without traffic in either direction, such as one with a stalled response, is
   * closed.
   */
  stalledTimeoutMs: number;
  /**
   * How often something is sent while a response is being made, well within the timeouts of
   * proxies.
   */
  heartbeatMs: number;
  /**
   * How long a report may hold a reader thread, unless its client reads so much of it a second; and
   * how long it may wait for its turn. Longer is a 503, or cuts it off once it has begun.
   */
  maxReportMs: number;
  minReadKbPerSecond: number;
  maxReportWaitMs: number;
  /** How much memory a report may hold in its thread, and how often that is checked. More is a 503. */
  maxReportHeapMb: number;
  reportCheckMs: number;
  /**
   * How much of one report, and of all, may wait for clients; with more, the thread that makes it
   * waits too.
   */
  maxWaitingKb: number;
  maxAllWaitingKb: number;
  /** How often the first two of these times are checked. */
  checkIntervalMs: number;
  /** Further connections are closed at once. */
  maxConnections: number;
  /** Requests on one connection; the last response closes it, and requests behind that are a 503. */
  maxRequestsPerSocket: number;
  /**
   * How long requests that have been read may take once the server stops; then their connections
   * are reset.
   */
  stoppingMs: number;
}

export const httpLimits: HttpLimits = {
  maxHeadBytes: 16 * 1024,
  maxHeaders: 100,
  maxTargetLength: 8 * 1024,
  maxBodyBytes: 128 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  stalledTimeoutMs: 120_000,
  heartbeatMs: 10_000,
  maxReportMs: 120_000,
  minReadKbPerSecond: 100,
  maxReportWaitMs: 60_000,
  maxReportHeapMb: 1_024,
  reportCheckMs: 250,
  maxWaitingKb: 64 * 1024,
  maxAllWaitingKb: 128 * 1024,
  checkIntervalMs: 1_000,
  maxConnections: 1_000,
  maxRequestsPerSocket: 1_000,
  stoppingMs: 9_000,
};
