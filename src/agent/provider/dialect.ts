import type { Json } from '../../basics/json.ts';
import type { Addition, ToolDescription } from '../../wire/protocol.ts';
import type { ChatMessage, ModelAnswer } from '../model.ts';

/** What one request says, whatever form it takes on the wire. */
export interface Question {
  conversation: readonly ChatMessage[];
  tools: readonly ToolDescription[];
  /** What the entry sets: fields of the body, in the dialect's own names. */
  parameters: Json;
  /** Whether the response is asked for as a stream. */
  isStreamed: boolean;
  /** Names what shares a prompt at the provider; null where the provider has no such field. */
  cacheKey: string | null;
  /** Whether the service may add this by itself: not where the provider has refused it. */
  adds: (addition: Addition) => boolean;
}

/** One way to ask a model over HTTP. From the body that it reads on, there is one way for all. */
export interface Dialect {
  /** The path of a request, given that of the base URL, which has no slash at its end. */
  path(base: string): string;
  /** The headers that carry the key. */
  keyHeaders(key: string): Record<string, string>;
  /** Headers of every request. */
  headers: Record<string, string>;
  body(question: Question): Json;
  /** Reads the body of a response. Throws an `Error` that says what is missing. */
  read(body: Json, step: number): ModelAnswer;
  assemble(): Assembler;
}

/** Makes of a stream the body that a whole response would have had. */
export interface Assembler {
  /**
   * Takes one event in, by the name that its stream gives it; returns whether it ends the stream,
   * or that it finishes the answer although more may follow. Throws an `Error` for one that cannot
   * be part of a response.
   */
  take(event: Json, name: string): boolean | 'finished';
  /** Whether the answer is complete although no event ended it; `isDone` after a `[DONE]`. */
  isComplete(isDone: boolean): boolean;
  /** What has arrived so far. */
  body(): Json;
}
