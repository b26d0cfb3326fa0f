import type { Listed } from '#domain/vocabulary.ts';
import {
  adjustedSourcesInSql,
  hasBarsSql,
  sourcesWithDividendsInSql,
  splitsOfDividend,
  splitsOfExchange,
} from '#database/schema/price-conditions.ts';
import { dividends, exchanges, type RevisedTable, splits } from '#database/schema/price-tables.ts';
import { activeSessions, pickIds } from './session-filters.ts';
import type { Reader } from './database.ts';
import { PROGRAM_NAME } from '#process/program.ts';
import { count, list } from '#text/sentences.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { termsKey } from '#settings/terms.ts';
import { type RowOf, text, reads, orNull, query } from './rows.ts';

/** SQL: what a day that starts from a session takes over from it. */
const closeSql = (
  session: string,
) => `(SELECT json_array(${session}.date, ${session}.note, ${session}.unfilled, cash_e4, portfolio_value_e4,
      (SELECT group_concat(symbol || ' ' || quantity ORDER BY symbol) FROM holdings WHERE holdings.session_id = ${session}.session_id))
    FROM positions WHERE positions.session_id = ${session}.session_id ORDER BY action_id DESC LIMIT 1)`;
const START_NOW = `(SELECT session_id FROM trading_sessions AS earlier
    WHERE earlier.model = own.model AND earlier.date < own.date AND earlier.status IN ('active', 'opening')
    ORDER BY earlier.date DESC, earlier.session_id DESC LIMIT 1)`;

/**
 * SQL: whether a session, `own`, would start otherwise now: from the latest day of its model before
 * it, where that is another one that did not close as the one that it started from.
 */
const STARTS_OTHERWISE = `own.started_from_session_id IS NOT ${START_NOW} AND NOT EXISTS (
    SELECT 1 FROM trading_sessions AS was CROSS JOIN trading_sessions AS now ON now.session_id = ${START_NOW}
    WHERE was.session_id = own.started_from_session_id AND ${closeSql('was')} = ${closeSql('now')})`;

/** SQL: the active sessions of a job that would start otherwise now. */
export const CHANGED_STARTS = `SELECT session_id FROM trading_sessions AS own
  WHERE job_id = ? AND status = 'active' AND ${STARTS_OTHERWISE}`;

/** How a kind of what happens to holdings makes a model-day stale. */
interface EventKind {
  table: RevisedTable;
  /** SQL: what else its evidence says of a row, as it is now. */
  known?: Readonly<Record<string, string>>;
  /** SQL: whether a session, `own`, counts the kind at all. */
  isCounted?: string;
  /** Sources whose series contain it already. */
  containedIn?: string;
  /** SQL: whether a date is one on which the symbol of a row of `used` was held. */
  isHeld?: (date: string) => string;
}

/**
 * SQL: the model-days that know a row of a kind otherwise than it is now, or not at all; and those
 * that know one that is gone.
 */
function changedEvents({
  table: { name, evidence, date, key = [], values },
  known = {},
  isCounted = 'TRUE',
  containedIn,
  isHeld = (day) => `${day} > held_since`,
}: EventKind): string {
  const isSameKey = ['symbol', date, ...key].map((column) => `known.${column} = ${name}.${column}`);
  const isSame = [
    ...['own.session_id = known.session_id', ...isSameKey],
    ...values.map((column) => `known.${column} IS ${name}.${column}`),
    ...Object.entries(known).map(([column, now]) => `known.${column} = ${now}`),
  ];
  const differs = (found: string, conditions: string[], symbol: string) =>
    `${isCounted} AND CASE WHEN EXISTS (SELECT 1 FROM ${found} WHERE ${conditions.join(' AND ')})
     THEN FALSE ELSE ${containedIn === undefined ? 'TRUE' : `NOT ${hasBarsSql(containedIn, symbol)}`} END`;
  return `
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN ${name} ON ${name}.symbol = used.symbol AND ${name}.${date} <= own.date AND ${isHeld(`${name}.${date}`)}
   WHERE ${differs(`${evidence} AS known`, isSame, `${name}.symbol`)}
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN ${evidence} AS known USING (session_id)
   WHERE ${differs(name, isSameKey, 'known.symbol')}`;
}

const EVENT_KINDS: readonly EventKind[] = [
  { table: splits, containedIn: adjustedSourcesInSql },
  {
    table: dividends,
    known: { splits: splitsOfDividend() },
    isCounted: 'pays_dividends',
    containedIn: sourcesWithDividendsInSql,
  },
  {
    table: exchanges,
    known: {
      splits: splitsOfExchange('symbol'),
      into_splits: splitsOfExchange('into_symbol'),
    },
    // What another exchange brings is held from that date on.
    isHeld: (
      date,
    ) => `(${date} > held_since OR ${date} >= (SELECT min(date) FROM session_exchanges AS brought
         WHERE brought.session_id = own.session_id AND brought.into_symbol = used.symbol))`,
  },
];

/**
 * SQL: the model-days that paid a fraction of what they received at the close before, because the
 * open of their date was hidden or there was none, where that is another one now. A close that
 * splits convert is not compared.
 */
const CHANGED_FRACTIONS = `
   SELECT own.model, own.date FROM own CROSS JOIN session_exchanges AS brought USING (session_id)
     CROSS JOIN positions AS paid ON paid.session_id = own.session_id AND paid.symbol = into_symbol AND action_type = 'received'
     CROSS JOIN price_data AS bar ON bar.symbol = paid.symbol AND bar.date = (
       SELECT date FROM price_data AS earlier
       WHERE earlier.symbol = paid.symbol AND earlier.date < own.date ORDER BY close IS NULL, date DESC LIMIT 1)
   WHERE price_e4 IS NOT round(coalesce(bar.close, bar.open) * 10000)
     AND NOT EXISTS (SELECT 1 FROM session_prices AS known WHERE known.session_id = own.session_id AND known.symbol = paid.symbol
       AND open_date = own.date AND (SELECT agent_config ->> '$.open' FROM jobs WHERE jobs.job_id = own.job_id) IS NOT 'hidden')
     AND NOT EXISTS (SELECT 1 FROM stock_splits AS split WHERE split.symbol = paid.symbol AND split.date <= own.date
       AND split.date > min(bar.date, (SELECT date FROM trading_sessions AS was WHERE was.session_id = own.started_from_session_id)))`;

/** Why model-days are stale, in words. */
export const STALE_CAUSE = 'earlier results, prices, splits, dividends or exchanges changed since';

type StaleModelDay = RowOf<typeof findStaleDays>;

/**
 * The stale model-days among some sessions, by model and date.
 *
 * Compares what a session knew with what is stored now: the day it started from, the bars of its
 * date (one that was removed has not changed), the closes at which it paid fractions of what it
 * received, and of what it held in the morning the splits and the dividends since. A series that is
 * adjusted for splits ignores splits, and one that contains dividends ignores those.
 *
 * The order of the joins is fixed, because there are few rows in each after the first. Whether a
 * series is adjusted is the slowest question, since it reads all bars of one that is not: it is
 * asked last, and only of what differs. A term without columns of the last table, or on the other
 * side of an AND, would be evaluated earlier; hence the CASEs.
 */
export const findStaleDays = reads(
  'all',
  `WITH own AS MATERIALIZED (
     SELECT session_id, job_id, model, date, started_from_session_id, pays_dividends
     FROM json_each(?) AS chosen CROSS JOIN trading_sessions ON session_id = chosen.value WHERE status = 'active')
   SELECT model, date FROM own
   WHERE session_id IN (SELECT session_id FROM changed_starts) OR ${STARTS_OTHERWISE}
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN price_data AS bar ON bar.symbol = used.symbol AND bar.date = own.date
   WHERE open_date IS NOT bar.date OR close_date IS NOT bar.date OR open_e4 IS NOT round(bar.open * 10000)
     OR close_e4 IS NOT round(coalesce(bar.close, bar.open) * 10000)
   UNION ${[...EVENT_KINDS.map(changedEvents), CHANGED_FRACTIONS].join(' UNION ')}
   ORDER BY 1, 2`,
  { model: text, date: text },
  (sessions: readonly { sessionId: number }[]) => [pickIds(sessions)],
);

const TERMS = query('SELECT study, agent_config AS terms FROM jobs WHERE job_id = ?', {
  study: orNull(text),
  terms: text,
});

/**
 * The options of a command that runs days again on the terms of a job: its study, if that has a
 * name, and a job, the same for equal terms.
 */
export function createRerunOptions(reader: Reader) {
  /** By job, and by study and terms. */
  const options = new Map<string, string>();
  return (jobId: string): string => {
    const known = options.get(jobId);
    if (known !== undefined) return known;
    const { study, terms } = TERMS.one(reader, jobId);
    const key = JSON.stringify([study, termsKey(parseAgentConfiguration(terms))]);
    const ofStudy = study === null ? '' : `${shellOption('study', study)} `;
    const option = options.get(key) ?? `${ofStudy}--terms-of ${jobId}`;
    options.set(jobId, option).set(key, option);
    return option;
  };
}

/** The model-days of a run, in order. */
export interface RunDays {
  run: string;
  days: readonly { date: string; isStale: boolean | null; jobId: string }[];
}

/** Runs that a command names. */
const MAX_NAMED_RUNS = 20;

/**
 * How many later model-days rest on stale ones, and the commands that run them again, as a clause;
 * `optionOf` has the option by which a command runs days on the terms of a job. After the first stale
 * day of a run each is stale, or started from the day before it.
 */
export function staleRemedy(runs: readonly RunDays[], optionOf: (jobId: string) => string): string {
  let [all, stale] = [0, 0];
  const commands = new Map<string, string[]>();
  for (const { run, days } of runs) {
    const rest = days.slice(days.findIndex(({ isStale }) => isStale));
    if (!rest[0]?.isStale) continue;
    all += rest.length;
    stale += rest.filter(({ isStale }) => isStale).length;
    const options = rest.map(({ jobId }) => optionOf(jobId));
    let start = rest[0].date;
    for (const [place, { date }] of rest.entries()) {
      if (options[place + 1] === options[place]) continue;
      const command = `${PROGRAM_NAME} trigger --start ${start} --end ${date} \n ${options[place]} --replace`;
      commands.set(command, [...(commands.get(command) ?? []), run]);
      start = rest[place + 1]?.date ?? date;
    }
  }
  const whole = [...commands].map(([command, own]) => {
    const models = `${own.slice(0, MAX_NAMED_RUNS)}${own.length > MAX_NAMED_RUNS ? ',…' : ''}`;
    return command.replace('\n', () => shellOption('models', models));
  });
  const rest = `rest${all - stale === 1 ? 's' : ''} on ${stale === 1 ? 'it' : 'them'}`;
  const resting = all > stale ? `${count(all - stale, 'later model-day')} ${rest}; ` : '';
  const verb = whole.length === 1 ? 'runs' : 'run';
  return `${resting}${list(whole)} ${verb} ${all === 1 ? 'it' : 'them'} again`;
}

/** An option of a command with its value, as a shell reads it. */
function shellOption(name: string, value: string): string {
  const word = /^#|[^\w.,:@#…-]/.test(value) ? `'${value.replaceAll("'", "'\\''")}'` : value;
  return `--${name}${value.startsWith('-') ? '=' : ' '}${word}`;
}

/** Stale model-days, and the remedy as a clause; '' where there are none. */
export type StaleModelDays = Listed<StaleModelDay> & { remedy: string };

/**
 * The stale model-days of some models, in the order of the models and by date; `most` are kept, the
 * rest counted. With a job, only those that it ran.
 */
export function staleModelDays(
  database: Reader,
  models: Iterable<string>,
  { most, jobId }: { most: number; jobId?: string | undefined },
): StaleModelDays {
  const stale: Listed<StaleModelDay> = { total: 0, first: [] };
  const runs: RunDays[] = [];
  for (const model of models) {
    const sessions = [...activeSessions(database, { jobId, model })];
    const found = findStaleDays(database, sessions);
    const dates = new Set(found.map(({ date }) => date));
    const days = sessions.map((own) => ({ ...own, isStale: dates.has(own.date) }));
    stale.total += found.length;
    stale.first.push(...found.slice(0, most - stale.first.length));
    if (found.length > 0) runs.push({ run: model, days });
  }
  const remedy = stale.total === 0 ? '' : staleRemedy(runs, createRerunOptions(database));
  return { ...stale, remedy };
}
