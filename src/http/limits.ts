/** What one client may take of the server, so that the others still get theirs. Every limit has a test of its own. */
export interface HttpLimits {
  /** The head of a request, its first line and all headers; llhttp counts it. More is a 431. */
  maxHeadBytes: number;
  /** More header lines are a 431. */
  maxHeaders: number;
  /** Path and query, percent-encoded. More is a 414. */
  maxTargetLength: number;
  /** More is a 413. */
  maxBodyBytes: number;
  /** What is read and thrown away of a refused body, so that its sender gets to read the answer; then it is cut off. */
  maxDrainedBytes: number;
  /** From the first byte, or the opening of the connection, to the end of the headers. Later is a 408. */
  headersTimeoutMs: number;
  /** From the first byte to the end of the body. Later is a 408. */
  requestTimeoutMs: number;
  /** Between two requests on one connection; then it is closed. */
  keepAliveTimeoutMs: number;
  /** A connection on which nothing moves in either direction, such as an answer that nobody takes, is closed. */
  stalledTimeoutMs: number;
  /** Something is sent so often while an answer is being made, well before programs in between lose patience. */
  heartbeatMs: number;
  /** Answers that are being sent and are longer than a chunk, or take more than some slices to make. More are a 503. */
  maxLongAnswers: number;
  /** How often the first two of these times are looked at. */
  checkIntervalMs: number;
  /** Further connections are closed at once. */
  maxConnections: number;
  /** Requests on one connection that are sent before their predecessors are answered; with more it is closed. */
  maxPipelinedRequests: number;
}

export const httpLimits: HttpLimits = {
  maxHeadBytes: 16 * 1024,
  maxHeaders: 100,
  maxTargetLength: 8 * 1024,
  maxBodyBytes: 1024 * 1024,
  maxDrainedBytes: 16 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  stalledTimeoutMs: 60_000,
  heartbeatMs: 10_000,
  maxLongAnswers: 64,
  checkIntervalMs: 1_000,
  maxConnections: 1_000,
  maxPipelinedRequests: 100,
};
