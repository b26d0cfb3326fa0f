import { integer, text, orNull, real, type RowOf, oneOf, reads } from '#database/rows.ts';
import { type SessionFilters, dateBounds } from '#database/session-filters.ts';
import { messageRoles } from '#domain/vocabulary.ts';

/** A completed model-day, and its return at the close in percent. */
export type CompletedDay = RowOf<typeof completedDays>;

/** The completed model-days that the filters choose, by date and model. */
export const completedDays = reads(
  'all',
  `SELECT {own}, family AS family, study AS study,
     (SELECT daily_return_pct FROM positions WHERE positions.session_id = own.session_id
       ORDER BY action_id DESC LIMIT 1) AS returnPercent
   FROM trading_sessions AS own JOIN simulation_runs AS run ON run.job_id = own.job_id AND run.model = own.model
     JOIN jobs ON jobs.job_id = own.job_id
   WHERE own.status = 'active' AND own.date BETWEEN ?1 AND ?2 AND (?3 IS NULL OR own.job_id = ?3)
     AND (?4 IS NULL OR own.model IN (SELECT value FROM json_each(?4)))
   ORDER BY own.date, own.model`,
  {
    sessionId: integer,
    jobId: text,
    date: text,
    model: text,
    family: text,
    study: orNull(text),
    returnPercent: orNull(real),
  },
  ({ jobId, models, ...window }: SessionFilters) => [
    ...dateBounds(window),
    jobId ?? null,
    models ?? null,
  ],
);

/** A message as it was logged; calls are a list of `{id, name, arguments}` as JSON. */
export type ConversationMessage = RowOf<typeof readConversation>;

/** The messages of a model-day, in order. */
export const readConversation = reads(
  'all',
  `SELECT {}, summary AS reasoning FROM reasoning_logs WHERE session_id = ? ORDER BY message_index`,
  {
    role: oneOf(messageRoles),
    content: text,
    toolCalls: orNull(text),
    servedModel: orNull(text),
    reasoning: orNull(text),
  },
  ({ sessionId }: CompletedDay) => [sessionId],
);
