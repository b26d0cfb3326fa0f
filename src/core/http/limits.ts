/**
 * How much of the server one client may use, so that the others get their share. Every limit has a
 * test.
 */
export const httpLimits = {
  /** The head of a request, its request line and all headers; llhttp counts it. More is a 431. */
  maxHeadBytes: 16 * 1024,
  /** More header lines are a 431. */
  maxHeaders: 100,
  /** The request target: path and query, percent-encoded. More is a 414. */
  maxTargetLength: 8 * 1024,
  /** More is a 413. */
  maxBodyBytes: 128 * 1024,
  /**
   * From the first byte, or the opening of the connection, to the end of the headers. Later is a
   * 408.
   */
  headersTimeoutMs: 10_000,
  /** From the first byte to the end of the body. Later is a 408. */
  requestTimeoutMs: 30_000,
  /** Idle time between two requests on one connection; then it is closed. */
  keepAliveTimeoutMs: 5_000,
  /** The same for an agent, which thinks between two calls of the tools of its day. */
  agentKeepAliveMs: 75_000,
  /**
   * A connection without traffic in either direction, such as one with a stalled response, is
   * closed.
   */
  stalledTimeoutMs: 120_000,
  /**
   * How often something is sent while a response is being made, well within the timeouts of
   * proxies.
   */
  heartbeatMs: 10_000,
  /**
   * How long a report may hold a reader thread; longer, while its client has read this much a
   * second. After that it is a 503, or is cut off once it has begun.
   */
  maxReportMs: 120_000,
  minReadKbPerSecond: 100,
  /** How long a report may wait for a reader thread. Longer is a 503. */
  maxReportWaitMs: 60_000,
  /**
   * How much memory a report may hold in its thread, and how often that is checked. More is a 503.
   */
  maxReportHeapMb: 1_024,
  reportCheckMs: 250,
  /**
   * How much the files of all long reports may take; one that needs more is a 503, or is cut off
   * once it has begun. While they take half of it, each client must have read as much as above.
   */
  maxReportFilesMb: 8 * 1024,
  /** How often the timeouts of headers and requests are checked. */
  checkIntervalMs: 1_000,
  /** Further connections are closed at once. */
  maxConnections: 1_000,
  /**
   * Requests on one connection; the last response closes it, and requests behind that are a 503.
   */
  maxRequestsPerSocket: 1_000,
  /**
   * How long requests that have been read may take once the server stops; then their connections
   * are reset.
   */
  stoppingMs: 9_000,
};

export type HttpLimits = typeof httpLimits;
