import { ServiceError } from '#domain/service-error.ts';
import { sha256 } from '#text/hash.ts';
import { isWithin, type Json } from '#json/json.ts';
import { secretHider } from '#text/secrets.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import type { Answer, ToolDescription } from '#wire/protocol.ts';
import type { TradingSession } from './session.ts';

/**
 * The model-days of agents that run, each by a token that opens it and nothing else: an agent may
 * use the tools of its day over HTTP before it answers.
 */

/** What an agent reaches over HTTP. */
export interface AgentDay {
  /** What it was sent, with the portfolio as it is now. */
  body(): Json;
  tools: readonly ToolDescription[];
  /**
   * Runs a tool after the calls before it, and resolves to what a model would read. Rejects with a
   * `ServiceError` when the day ends before: `no_such_day`, or `day_interrupted` where the storage
   * ended it.
   */
  call(name: string, args: Json): Promise<string>;
}

export type AgentDays = ReturnType<typeof createAgentDays>;

interface DayOptions {
  body: Json;
  maxToolCalls: number;
  expiresAt: Date;
  /** Secrets of the agent beside the token: no log has them. */
  secrets: readonly (string | null)[];
  /**
   * Aborted when the day is over. A call that fails aborts it: what it did may not be in the log.
   */
  over: AbortController;
}

/** Of lists and objects in arguments: JSON that is nested deeper may be read, but not written. */
const MAX_LEVELS = 64;
const TOO_DEEP = `The arguments are nested more than ${MAX_LEVELS} deep.`;

/** `url`: where agents reach this service, with or without a slash at its end. */
export function createAgentDays(url: () => string) {
  const days = new Map<string, AgentDay & { isDecided: boolean }>();
  const hashToken = (token: string) => sha256(token).toString('hex');
  return {
    /** Opens a day until it is over; the agent reads `expiresAt` in its request. */
    open(session: TradingSession, { body, maxToolCalls, expiresAt, secrets, over }: DayOptions) {
      // 256 bits, for this model-day and no other.
      const token = process.getBuiltinModule('node:crypto').randomBytes(32).toString('base64url');
      const place = url().replace(/\/+$/, '');
      const access = {
        ...{ url: place, mcp_url: `${place}/mcp` },
        ...{ token, expires_at: expiresAt.toISOString() },
      };
      const hide = secretHider([...secrets, token]);
      const run = createCallQueue(over);
      let calls = 0;
      const day = {
        isDecided: false,
        body: () => ({ ...body, portfolio: session.portfolio(), day: access }),
        tools: session.tools,
        call: (name: string, args: Json) =>
          run(async () => {
            calls += 1;
            const error = `This is call ${calls}, and the limit is ${maxToolCalls} a day.`;
            if (calls > maxToolCalls) return JSON.stringify({ error });
            if (!isWithin(args, MAX_LEVELS)) return JSON.stringify({ error: TOO_DEEP });
            const said = { name: hide(name), arguments: hide(JSON.stringify(args)) };
            const content = await session.call({ id: `call-${calls}`, ...said });
            if (content === null) throw dayEndedError(null);
            return content;
          }),
      };
      days.set(hashToken(token), day);
      over.signal.addEventListener('abort', () => days.delete(hashToken(token)));
      return {
        access,
        answer(answer: Answer) {
          day.isDecided = true;
          return run(() => session.answer(answer));
        },
      };
    },
    /**
     * Throws a `ServiceError` for a token that opens no day (`no_such_day`), and between the
     * decision and the end of the day (`day_decided`).
     */
    find(token: string | null) {
      const day = token === null ? undefined : days.get(hashToken(token));
      if (day?.isDecided) throw new ServiceError('day_decided', 'This day has been decided');
      if (day !== undefined) return day;
      throw noSuchDayError(
        token === null ? 'this request has none' : "this request's opens no day",
      );
    },
    has: (token: string) => days.has(hashToken(token)),
  };
}

function noSuchDayError(fault: string): ServiceError {
  return new ServiceError(
    'no_such_day',
    `The token of a model-day that runs is needed, as "Authorization: Bearer TOKEN"; ${fault}`,
  );
}

/** Why a call is not carried out whose day has ended for that reason. */
function dayEndedError(reason: unknown): ServiceError {
  const fault = findStorageFault(reason);
  if (fault === null) return noSuchDayError('the day of this request is over');
  const consequence = 'The day begins again from its opening, with a new token';
  return new ServiceError('day_interrupted', `${fault}. ${consequence}`);
}

/** Runs work one after another, until the day is over. What fails ends the day. */
function createCallQueue(over: AbortController) {
  const { signal } = over;
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(async () => {
      if (signal.aborted) throw dayEndedError(signal.reason);
      try {
        return await work();
      } catch (error) {
        const wasOver = signal.aborted;
        over.abort(error);
        throw wasOver || findStorageFault(error) !== null ? dayEndedError(signal.reason) : error;
      }
    });
    last = next.catch(() => undefined);
    return next;
  };
}
