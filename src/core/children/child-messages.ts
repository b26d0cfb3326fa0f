import { isLastAnswer } from '#agent/model.ts';
import { ServiceError } from '#domain/service-error.ts';
import type { Log } from '#process/log.ts';
import type { FailedRequest, RefusedAdditions } from '#wire/protocol.ts';
import type { TradingSession } from '#trading/session.ts';
import type { MessageHandler } from './channel.ts';

/** Reasons of failed requests that are logged per model-day; all are counted. */
const MAX_LOGGED_FAILURES = 100;

interface MessageOptions {
  /** Takes an answer: the session itself, or the day of an agent after its calls. */
  answer?: TradingSession['answer'] | undefined;
  log: Log;
  maxSteps: number;
  maxFailures: number;
  /** The provider refused what the service adds to requests by itself. */
  onRefused: (refused: RefusedAdditions) => Promise<void>;
}

/**
 * Passes the messages of one child to its session. The handler throws a `ServiceError` for a
 * message that is not allowed at this point; one step may report up to `maxFailures` failed
 * requests.
 */
export function createMessageHandler(
  session: TradingSession,
  { answer = session.answer, log, maxSteps, maxFailures, onRefused }: MessageOptions,
): MessageHandler {
  let isPrompted = false;
  let failuresInStep = 0;
  let logged = 0;
  const countFailure = async ({ reason, waitMs, usage }: FailedRequest) => {
    failuresInStep += 1;
    if (failuresInStep > maxFailures)
      throw protocolError(
        `it reported ${failuresInStep} failed requests in one step; at most ${maxFailures} are possible`,
      );
    await session.countFailedRequest(usage ?? null);
    logged += 1;
    if (logged > MAX_LOGGED_FAILURES) return;
    const more =
      logged === MAX_LOGGED_FAILURES
        ? { note: 'further ones of this model-day are not logged' }
        : {};
    log.warning('model request failed', { ...session.modelDay, reason, waitMs, ...more });
  };
  return async (message) => {
    switch (message.type) {
      case 'prompt':
        if (isPrompted) throw protocolError('it sent a second prompt');
        isPrompted = true;
        await session.prompt(message.messages);
        return null;
      case 'failed_request':
        await countFailure(message);
        return null;
      case 'refused_additions':
        await onRefused(message);
        return null;
      case 'answer': {
        if (session.steps >= maxSteps) throw protocolError(`it continued after ${maxSteps} steps`);
        failuresInStep = 0;
        const results = await answer(message);
        const isHeard = results.again !== undefined || results.end !== undefined;
        return isLastAnswer(message) && !isHeard ? null : results;
      }
    }
  };
}

function protocolError(what: string): ServiceError {
  return new ServiceError('protocol_violation', `The model process broke the protocol: ${what}`);
}
