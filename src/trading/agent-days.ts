import { ServiceError } from '../basics/domain.ts';
import { sha256 } from '../basics/hash.ts';
import type { Json } from '../basics/json.ts';
import type { Answer, ToolDescription } from '../wire/protocol.ts';
import type { Session } from './session.ts';

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
   * Runs a tool after the calls before it, and resolves to what a model would read. Throws a
   * `ServiceError` (`day_decided`) after the answer.
   */
  call(name: string, args: Json): Promise<string>;
}

export type AgentDays = ReturnType<typeof createAgentDays>;

/** How long after a day its token is still known: a late call learns that the day is decided. */
const REMEMBERED_MS = 60_000;

/** `url`: where agents reach this service, with or without a slash at its end. */
export function createAgentDays(url: () => string) {
  const days = new Map<string, AgentDay>();
  const keyOf = (token: string) => sha256(token).toString('hex');
  return {
    /** Opens a day until it is closed; the agent reads `expiresAt` in its request. */
    open(
      session: Session,
      { body, maxToolCalls, expiresAt }: { body: Json; maxToolCalls: number; expiresAt: Date },
    ) {
      // 256 bits, for this model-day and no other.
      const token = process.getBuiltinModule('node:crypto').randomBytes(32).toString('base64url');
      const access = { url: url().replace(/\/+$/, ''), token, expires_at: expiresAt.toISOString() };
      const line = createLine();
      let calls = 0;
      days.set(keyOf(token), {
        body: () => ({ ...body, portfolio: session.portfolio(), day: access }),
        tools: session.tools,
        call: (name, args) =>
          line.run(async () => {
            calls += 1;
            const error = `This is call ${calls}, and the limit is ${maxToolCalls} a day.`;
            if (calls > maxToolCalls) return JSON.stringify({ error });
            const call = { id: `call-${calls}`, name, arguments: JSON.stringify(args) };
            const content = await session.call(call);
            if (content === null) throw decided();
            return content;
          }),
      });
      return {
        /** How the agent reaches the tools of its day. */
        access,
        answer(answer: Answer) {
          const answered = line.run(() => session.answer(answer));
          line.close();
          return answered;
        },
        close() {
          line.close();
          setTimeout(() => days.delete(keyOf(token)), REMEMBERED_MS).unref();
        },
      };
    },
    /** Throws a `ServiceError` (`no_such_day`) for a token that opens no day. */
    find(token: string | null) {
      const day = token === null ? undefined : days.get(keyOf(token));
      if (day !== undefined) return day;
      const fault = token === null ? 'this request has none' : "this request's opens no day";
      throw new ServiceError(
        'no_such_day',
        `The token of a model-day that runs is needed, as "Authorization: Bearer TOKEN"; ${fault}`,
      );
    },
    has: (token: string) => days.has(keyOf(token)),
  };
}

function decided(): ServiceError {
  return new ServiceError('day_decided', 'This day has been decided');
}

/** Runs work one after another, until it is closed. */
function createLine() {
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  return {
    run<Result>(work: () => Promise<Result>): Promise<Result> {
      if (isClosed) throw decided();
      const next = last.then(work);
      last = next.catch(() => undefined);
      return next;
    },
    close: () => void (isClosed = true),
  };
}
