import type { Database, Reader } from '#database/database.ts';
import { amount, integer, oneOf, orNull, query, reads, text, type RowOf } from '#database/rows.ts';
import { jobStatuses } from '#domain/vocabulary.ts';

/** SQL: the study of the job of a row. */
export const studySql = (row = 'own') =>
  `(SELECT study FROM jobs WHERE jobs.job_id = ${row}.job_id)`;

/**
 * SQL: a model's newest run; that of a discarded job is superseded, and counts where there is no
 * other.
 */
const newestRunSql = (model: string) =>
  `(SELECT run_id FROM simulation_runs WHERE model = ${model} ORDER BY status, run_id DESC LIMIT 1)`;

/** A model of a job: one run of an entry. */
export type Run = Omit<RowOf<typeof knownRuns>, 'jobId'>;

/**
 * Every run that a job has named, or those of a study ('' is the one without a name): its family, and its knowledge cutoff and basemodel as
 * its newest job has them. Two look-ups each, however many jobs named it.
 */
export const knownRuns = reads(
  'all',
  `WITH RECURSIVE named (model) AS (
     SELECT min(model) FROM simulation_runs
     UNION ALL SELECT (SELECT min(model) FROM simulation_runs AS next WHERE next.model > named.model)
     FROM named WHERE named.model IS NOT NULL)
   SELECT {own}, json_extract(entry, '$.knowledge_cutoff') AS knowledgeCutoff,
     json_extract(entry, '$.basemodel') AS basemodel,
     ${studySql()} AS study
   FROM named CROSS JOIN simulation_runs AS own ON run_id = ${newestRunSql('named.model')}
   WHERE ?1 IS NULL OR coalesce(study, '') = ?1
   ORDER BY own.model`,
  {
    model: text,
    family: text,
    jobId: text,
    knowledgeCutoff: orNull(text),
    basemodel: orNull(text),
    study: orNull(text),
  },
  (study?: string) => [study ?? null],
);

const LAST_RUN = query(
  `SELECT {}, jobs.status AS jobStatus, jobs.created_at AS jobCreatedAt
   FROM simulation_runs JOIN jobs USING (job_id) WHERE run_id = ${newestRunSql('?1')}`,
  {
    model: text,
    family: text,
    entry: text,
    jobId: text,
    jobStatus: oneOf(jobStatuses),
    jobCreatedAt: text,
  },
);

/** Reads only the index of active generations. */
const DAYS = query(
  `SELECT min(date) AS firstDate, max(date) AS lastDate, count(*) AS modelDays
   FROM trading_sessions WHERE model = ? AND status = 'active'`,
  { firstDate: orNull(text), lastDate: orNull(text), modelDays: integer },
);

/**
 * The models that answered for a run, in their providers' names, with the dates of its completed
 * days; by first date.
 */
export const servedModels = reads(
  'all',
  `SELECT served_model AS model, min(date) AS first_date, max(date) AS last_date FROM trading_sessions AS own
     CROSS JOIN reasoning_logs USING (session_id) WHERE own.model = ? AND status = 'active' AND served_model IS NOT NULL
   GROUP BY served_model ORDER BY first_date, served_model`,
  { model: text, first_date: text, last_date: text },
  (model: string) => [model],
);

const CLOSING_VALUE = query('SELECT end_value_e4 FROM daily_returns WHERE model = ? AND date = ?', [
  orNull(amount),
]);

/**
 * A model that some job has named, with its newest job, what it has completed, and its value at the
 * close of its last completed date; dates and value are null before its first day. Undefined when
 * no job has named it.
 */
export function findModel(database: Database, model: string) {
  const run = LAST_RUN.get(database, model);
  if (run === undefined) return undefined;
  const days = DAYS.one(database, model);
  const closing =
    days.lastDate === null ? undefined : CLOSING_VALUE.get(database, model, days.lastDate);
  return { ...run, ...days, portfolioValue: closing?.[0] ?? null };
}

const FIRST_RUN = query(
  `SELECT (SELECT min(run_id) FROM simulation_runs WHERE model = ?1), family
   FROM simulation_runs WHERE run_id = ${newestRunSql('?1')}`,
  [integer, text],
);

/**
 * The families of some models in the order in which jobs first named one of these, from 0. Reads two rows
 * and a stretch of an index for each model, because no index leads to the families themselves.
 */
export function familyOrder(database: Database, models: Iterable<string>): Map<string, number> {
  const firstRuns = new Map<string, number>();
  for (const model of models) {
    const [run, family] = FIRST_RUN.one(database, model);
    firstRuns.set(family, Math.min(run, firstRuns.get(family) ?? run));
  }
  const inOrder = [...firstRuns].sort(([, one], [, other]) => one - other);
  return new Map(inOrder.map(([family], index) => [family, index]));
}

/** SQL, of a row of jobs. */
export const CURRENCY = `coalesce(json_extract(agent_config, '$.market.currency'), 'USD')`;

const CURRENCIES = query(`SELECT job_id, ${CURRENCY} FROM jobs`, [text, text]);

/** In which currency each job trades. */
export function currenciesOfJobs(reader: Reader): Map<string, string> {
  return new Map(CURRENCIES.all(reader));
}

/** What tables say of each run and of each entry, by name: its study, and its currency in its newest job. */
export function ledgersByName(database: Database) {
  const currencies = currenciesOfJobs(database);
  return new Map(
    knownRuns(database).flatMap(({ model, family, jobId, study }) => {
      const ledger = { study, currency: currencies.get(jobId) ?? 'USD' };
      return [[family, ledger] as const, [model, ledger] as const];
    }),
  );
}
