import { messageOf } from '../../domain.ts';
import type { HttpFailure, HttpResponse } from '../../http-client.ts';
import { readCompletion } from './dialects.ts';
import { type Json, asArray, asObject, asText, tryParse } from '../../json.ts';
import { quote } from '../../text.ts';
import type { ModelAnswer } from '../model.ts';
import { readRetryAfter } from './retry.ts';

const MAX_READ_OF_PAGE = 4_000;
const PASSING_STATUSES = new Set([408, 409, 429]);

/** The result of one try. Only failures that may pass are retried. `reason` continues "The model provider". */
export type Verdict =
  | { answer: ModelAnswer }
  | { reason: string; passes: boolean; retryAfterMs?: number | undefined; isKeyRefused?: boolean };

/** Classifies the result of one request. */
export function classify(result: HttpResponse | HttpFailure, step: number): Verdict {
  if (result.failure !== undefined) {
    if (result.failure === 'too_large') return { reason: `sent an unreadable response: ${result.message}`, passes: false };
    const passes = result.failure === 'connection' || result.failure === 'timeout';
    return { reason: `could not be reached: ${result.message}`, passes };
  }
  const body = tryParse(result.text);
  const isGood = result.status >= 200 && result.status < 300;
  if (body === undefined)
    return isGood ? classifyForeign(result) : classifyError(result, result.status, foreignWords(result));
  const error = errorIn(body);
  // Gateways put the status of the provider behind them into a response with status 200.
  const status = isGood ? (statusIn(error) ?? result.status) : result.status;
  if (!isGood || error !== undefined) return classifyError(result, status, quote(errorWords(error ?? body)));
  try {
    return { answer: readCompletion(body, step) };
  } catch (problem) {
    const reason = `sent an unreadable response: ${messageOf(problem)}: ${quote(result.text)}`;
    return { reason, passes: false };
  }
}

/** A response that should be JSON but is not. One that was cut off may be complete the next time. */
function classifyForeign(response: HttpResponse): Verdict {
  const isCut = response.text.trim() === '' || /json/i.test(response.headers['content-type'] ?? '');
  if (isCut) return { reason: `sent JSON that is cut off: ${quote(response.text) || 'nothing'}`, passes: true };
  return { reason: `returned ${response.status}: ${foreignWords(response)}`, passes: false };
}

function classifyError({ headers }: HttpResponse, status: number, words: string): Verdict {
  const target = headers.location === undefined ? '' : ` to ${quote(headers.location)}`;
  const isRedirect = status >= 300 && status < 400;
  return {
    reason: isRedirect
      ? `returned ${status}: a redirect${target}, which is not followed; check the base URL`
      : `returned ${status}: ${words}`,
    passes: PASSING_STATUSES.has(status) || status >= 500,
    retryAfterMs: readRetryAfter(headers, Date.now()),
    isKeyRefused: status === 401 || status === 403,
  };
}

/** The error in a body, wherever it is: in `error`, in a list (Gemini), or in the choice. */
function errorIn(body: unknown): unknown {
  const whole = asObject(asArray(body)?.[0]) ?? asObject(body);
  const inChoice = asObject(asArray(whole?.['choices'])?.[0])?.['error'];
  return [whole?.['error'], inChoice].find((error) => {
    const { message, code } = asObject(error) ?? {};
    return asText(error) !== undefined || asText(message) !== undefined || typeof code === 'number';
  });
}

function statusIn(error: unknown): number | undefined {
  const code = Number(asObject(error)?.['code'] ?? NaN);
  return code >= 100 && code < 600 ? code : undefined;
}

/** The message in an error, wherever this provider puts it: the gateway's own and that of the provider behind it. */
function errorWords(error: unknown): string {
  const { message, detail, metadata }: Json = asObject(error) ?? {};
  const words = message ?? detail ?? error;
  const behind = asObject(metadata)?.['raw'];
  return [words, behind].flatMap((part) => (part == null ? [] : [asText(part) ?? JSON.stringify(part)])).join(': ');
}

/** The text of a response that is not JSON, such as a proxy's error page. */
function foreignWords({ headers, text }: HttpResponse): string {
  const type = quote(headers['content-type'] ?? 'no content type');
  return `${type} instead of JSON: ${quote(text.slice(0, MAX_READ_OF_PAGE).replace(/<[^<>]*>/g, ' '))}`;
}
