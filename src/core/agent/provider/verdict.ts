import { backOff, jitter } from '#time/event-loop.ts';
import { errorMessage } from '#domain/service-error.ts';
import { type HttpResponse, readRetryAfter } from '#network/http-client.ts';
import { asArray, asObject, asText, errorIndex, type Json, plainText } from '#json/json.ts';
import type { TokenUsage } from '#wire/protocol.ts';
import { quote } from '#text/text.ts';
import type { ModelAnswer } from '#agent/model.ts';
import { findError, isEmptyAnswer, NoAnswer, readUsage } from './answer.ts';
import type { Dialect } from './dialect.ts';
import {
  type FailedResponse,
  isSuccess,
  isStreamLike,
  STREAM_TYPES,
  NO_CONTENT,
  type ReadResponse,
} from './transport.ts';

const MAX_READ_OF_PAGE = 4_000;
const PASSING_STATUSES = new Set([408, 409, 429]);

/** Why one try has no answer. `reason` continues "The model provider". */
export interface Refusal {
  reason: string;
  /** Whether it may pass; only then it is tried again. */
  isTransient: boolean;
  retryAfterMs?: number | undefined;
  status: number;
  /** The provider's error, as it came. */
  error: unknown;
  /** The same in the provider's words. */
  words: string;
  /** What the provider reports of the try all the same. */
  usage: TokenUsage | null;
}

type Verdict = { answer: ModelAnswer } | Refusal;

/** The beginnings of a failure's reason; of all others, the provider could not be reached. */
const FAILURES: Partial<Record<FailedResponse['failure'], string>> = {
  too_large: 'sent an unreadable response: ',
  coding: 'sent an unreadable response: ',
  unreadable: 'sent an unreadable stream: ',
  broken_off: 'broke off its stream ',
};
const PASSING_FAILURES: readonly string[] = ['connection', 'timeout', 'broken_off'];

const REFUSAL = { isTransient: false, status: 0, error: null, usage: null };

interface Asked {
  /** Counted from 1. */
  step: number;
  read: Dialect['read'];
  /** Whether an answer may be empty: it ends a day on which tools were called. */
  mayBeEmpty: boolean;
}

export function classify(
  result: ReadResponse | FailedResponse,
  { step, read, mayBeEmpty }: Asked,
): Verdict {
  if (result.failure !== undefined) return classifyFailure(result);
  const { body } = result;
  const isGood = isSuccess(result.status);
  if (body === undefined)
    return isGood
      ? classifyForeign(result)
      : classifyError(result, {
          ...REFUSAL,
          status: result.status,
          words: describeForeignBody(result),
        });
  const error = findBodyError(body);
  // Gateways put the status of the provider behind them into a response with status 200, and
  // streams have no other.
  const status = isGood ? (findErrorStatus(error) ?? result.status) : result.status;
  const { usage } = readUsage(asObject(body)?.['usage']);
  if (!isGood || error !== undefined) {
    const found = { status, error, words: quote(describeError(error, body)), usage };
    const refusal = classifyError(result, found);
    const isFinal = asObject(body)?.['status'] === 'failed'; // of Responses: its maker gave up
    return isFinal ? { ...refusal, isTransient: false } : refusal;
  }
  const words = quote(result.text || JSON.stringify(body));
  const refuse = (reason: string, isTransient: boolean): Refusal => {
    return { ...REFUSAL, reason, isTransient, status, words, usage };
  };
  try {
    const answer = read(asObject(body) ?? {}, step, result.headers, result.text);
    if (mayBeEmpty || !isEmptyAnswer(answer)) return { answer };
    const why = answer.fault === 'cut_off' ? answer.note : words;
    return refuse(`sent an answer without words or calls: ${why}`, true);
  } catch (problem) {
    if (problem instanceof NoAnswer) return refuse(problem.message, true);
    return refuse(`sent an unreadable response: ${errorMessage(problem)}: ${words}`, false);
  }
}

function classifyFailure({ failure, message: words, partialBody }: FailedResponse): Refusal {
  const reason = (FAILURES[failure] ?? 'could not be reached: ') + words;
  const { usage } = readUsage(partialBody?.['usage']);
  return { ...REFUSAL, reason, isTransient: PASSING_FAILURES.includes(failure), words, usage };
}

const BEGINS_JSON = /^\s*[[{"]/;
/** What Python writes of such numbers, and JSON does not have. */
const NO_NUMBER = /^-?(?:NaN|Infinity)\b/;

/**
 * A response that should be JSON but is not. One that was cut off may be complete the next time.
 */
function classifyForeign(response: HttpResponse): Refusal {
  const { status, text, headers } = response;
  const foreign = { ...REFUSAL, status, words: quote(text) };
  if (status === NO_CONTENT) return { ...foreign, reason: 'returned 204, which has no answer' };
  const [number] = NO_NUMBER.exec(text.slice(errorIndex(text))) ?? [];
  if (number !== undefined)
    return { ...foreign, reason: `sent ${number}, which JSON does not have: ${foreign.words}` };
  const type = headers['content-type'] ?? 'no content type';
  if (text.trim() !== '' && isStreamLike(text.trimStart())) {
    const why = STREAM_TYPES.test(type) ? 'was not asked for' : `comes with ${quote(type)}`;
    return { ...foreign, reason: `sent a stream that ${why}: ${foreign.words}` };
  }
  const isJson = /json/i.test(type) && BEGINS_JSON.test(text);
  const isCut = text.trim() === '' || isJson;
  const words = isCut ? quote(text) || 'nothing' : describeForeignBody(response);
  const reason = isCut ? `sent JSON that is cut off: ${words}` : `returned ${status}: ${words}`;
  return { ...foreign, reason, isTransient: isCut, words };
}

function classifyError(
  { headers }: HttpResponse,
  found: Pick<Refusal, 'status' | 'error' | 'words' | 'usage'>,
): Refusal {
  const { status, words } = found;
  const target = headers.location === undefined ? '' : ` to ${quote(headers.location)}`;
  const isRedirect = status >= 300 && status < 400;
  return {
    ...found,
    reason: isRedirect
      ? `returned ${status}: a redirect${target}, which is not followed; check the base URL`
      : `returned ${status}: ${words}`,
    isTransient: PASSING_STATUSES.has(status) || status >= 500,
    retryAfterMs: readRetryAfter(headers, Date.now()),
  };
}

/** The error in a body, wherever it is: in `error`, in a list (Gemini), or in the choice. */
function findBodyError(body: unknown): unknown {
  const whole = asObject(asArray(body)?.[0]) ?? asObject(body) ?? {};
  const choice = asObject(asArray(whole['choices'])?.[0]) ?? {};
  return findError(whole) ?? choice['error'] ?? undefined;
}

/** HTTP's status for what providers call an error, in a stream or behind a gateway. */
const STATUS_BY_WORD: ReadonlyMap<unknown, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    unsupported_value: 400,
    unsupported_parameter: 400,
    authentication_error: 401,
    invalid_api_key: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    rate_limit_exceeded: 429,
    insufficient_quota: 402,
    api_error: 500,
    server_error: 500,
    internal_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

function findErrorStatus(error: unknown): number | undefined {
  const { code, type } = asObject(error) ?? {};
  const status = Number(plainText(code));
  if (status >= 100 && status < 600) return status;
  return STATUS_BY_WORD.get(code) ?? STATUS_BY_WORD.get(type);
}

/**
 * The message in an error, or in a body without one, wherever this provider puts it: the gateway's
 * own and that of the provider behind it. Without a message it is the error's type or code.
 */
function describeError(error: unknown, body: unknown): string {
  const { message, detail, metadata }: Json = asObject(error ?? body) ?? {};
  const { type, code }: Json = asObject(error) ?? {};
  const kind = [type, code].find((word) => asText(word) !== undefined && word !== 'error');
  const words =
    [message, detail, kind].find((part) => part != null && part !== '') ?? error ?? body;
  const behind = asObject(metadata)?.['raw'];
  return [words, behind]
    .flatMap((part) => (part == null ? [] : [asText(part) ?? JSON.stringify(part)]))
    .join(': ');
}

/** The text of a response that is not JSON, such as a proxy's error page. */
function describeForeignBody({ headers, text }: HttpResponse): string {
  const type = quote(headers['content-type'] ?? 'no content type');
  return `${type} instead of JSON: ${quote(text.slice(0, MAX_READ_OF_PAGE).replace(/<[^<>]*>/g, ' '))}`;
}

/** The longest wait between two tries, whatever the provider requests. */
export const MAX_WAIT_MS = 60_000;

/**
 * Milliseconds to wait after a number of failed tries: exponential from `baseDelayMs`, and spread;
 * a wait that the provider requests takes precedence.
 */
export function waitAfter(tries: number, baseDelayMs: number, retryAfterMs = 0): number {
  const waitMs = jitter(backOff(tries, { firstMs: baseDelayMs }));
  return Math.min(MAX_WAIT_MS, Math.max(waitMs, retryAfterMs));
}
