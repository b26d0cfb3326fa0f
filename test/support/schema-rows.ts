/**
 * Statements over a small database, and whether the schema accepts them: the same in every SQLite
 * from 3.37 on.
 */

import { tableOf } from './text-table.ts';

const JOB = `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode, created_at) VALUES`;
const FINISHED_JOB = `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode, created_at, completed_at) VALUES`;
const RUN = `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family) VALUES`;
const POSITION = `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4) VALUES`;
const SESSION = `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_from_session_id, started_at, completed_at, wording) VALUES`;
const MESSAGE = `INSERT INTO reasoning_logs (session_id, message_index, role, content, tool_name, tool_calls, carried, timestamp) VALUES`;
const PRICE = `INSERT INTO price_data (symbol, date, open, close, written) VALUES`;
const REVISION = `INSERT INTO price_revisions (symbol, date, open, source, written, replaced) VALUES`;
const COVERAGE = `INSERT INTO price_data_coverage (symbol, source, start_date, end_date, recorded_at) VALUES`;
const SPLIT = `INSERT INTO stock_splits (symbol, date, numerator, denominator, written) VALUES`;
const SPLIT_REVISION = `INSERT INTO stock_split_revisions (symbol, date, numerator, denominator, source, written, replaced) VALUES`;
const USED = `INSERT INTO session_prices (session_id, symbol, date, held_since, open_e4, open_date, close_e4, close_date) VALUES`;

const DIVIDEND = `INSERT INTO dividends (symbol, ex_date, cash_e6, written) VALUES`;
const DIVIDEND_COVERAGE = `INSERT INTO dividend_coverage VALUES`;
const DIVIDEND_REVISION = `INSERT INTO dividend_revisions (symbol, ex_date, cash_e6, basis, source, written, replaced) VALUES`;
const KNOWN_DIVIDEND = `INSERT INTO session_dividends VALUES`;

const EXCHANGE = `INSERT INTO exchanges (symbol, date, into_symbol, cash_e6, numerator, denominator, remains, written) VALUES`;
const EXCHANGE_REVISION = `INSERT INTO exchange_revisions (symbol, date, into_symbol, cash_e6, remains, source, written, replaced) VALUES`;
const KNOWN_EXCHANGE = `INSERT INTO session_exchanges VALUES`;

const DOCUMENT = `INSERT INTO documents VALUES`;
const OF_DOCUMENT = `'T', '[]', NULL, NULL, '${'0'.repeat(64)}'`;

const DECISION = `INSERT INTO decisions (session_id, place, message_index, action_id, symbol, amount, detail) VALUES`;

/** One running model-day of one job, one active session. */
export const SEED: readonly string[] = [
  `${JOB} ('j', 'running', '2025-01-06', '2025-01-06', '[]', 0, '{}', 'PROD', 't')`,
  `${RUN} ('j', 'm', 0, '2025-01-06', 't', '{}', 'm')`,
  `INSERT INTO job_details (job_id, date, model, status, started_at) VALUES ('j', '2025-01-06', 'm', 'running', 't')`,
  `INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, wording, started_at, completed_at)
    VALUES (1, 'j', '2025-01-06', 'm', 'active', 5, 1, 't', 't')`,
  `INSERT INTO positions (position_id, session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4) VALUES (1, 1, 1, 'no_trade', 5, 5, 0)`,
];

/** Each on its own is refused where the rows of SEED and of `accepted` are. */
export const forbidden = tableOf<[name: string, sql: string]>(`
  a second unfinished job                                        | ${JOB} ('k', 'pending', '2025-01-06', '2025-01-06', '[]', 0, '{}', 'PROD', 't')
  a second unfinished job that downloads                         | ${JOB} ('k', 'downloading_data', '2025-01-06', '2025-01-06', '[]', 0, '{}', 'PROD', 't')
  an unknown job status                                          | ${FINISHED_JOB} ('k', 'done', '2025-01-06', '2025-01-06', '[]', 0, '{}', 'PROD', 't', 't')
  a finished job without an end                                  | ${JOB} ('k', 'completed', '2025-01-06', '2025-01-06', '[]', 0, '{}', 'PROD', 't')
  a job that ends before it starts                               | ${FINISHED_JOB} ('k', 'completed', '2025-01-07', '2025-01-06', '[]', 0, '{}', 'PROD', 't', 't')
  a job whose dates are no JSON                                  | UPDATE jobs SET dates = '[' WHERE job_id = 'j'
  a run of an unknown job                                        | ${RUN} ('stranger', 'm', 0, '2025-01-06', 't', '{}', 'm')
  a run with an unknown status                                   | UPDATE simulation_runs SET status = 'gone'
  a sloppy date                                                  | INSERT INTO job_details (job_id, date, model) VALUES ('j', '2025-1-7', 'm')
  a model-day of an unknown run                                  | INSERT INTO job_details (job_id, date, model) VALUES ('j', '2025-01-07', 'stranger')
  a model-day that failed without a reason                       | UPDATE job_details SET status = 'failed', completed_at = 't'
  a second active generation                                     | ${SESSION} ('j', '2025-01-06', 'm', 'active', 5, NULL, 't', 't', 1)
  a session with two pasts                                       | ${SESSION} ('j', '2025-01-06', 'm', 'superseded', 5, 1, 't', 't', 1)
  a session without a past                                       | ${SESSION} ('j', '2025-01-06', 'm', 'superseded', NULL, NULL, 't', 't', 1)
  a session of no job                                            | ${SESSION} (NULL, '2025-01-06', 'm', 'superseded', 5, NULL, 't', 't', 1)
  an opening of a job                                            | ${SESSION} ('j', '2025-01-03', 'm', 'opening', 5, NULL, 't', 't', NULL)
  an opening that continues                                      | ${SESSION} (NULL, '2025-01-03', 'm', 'opening', NULL, 1, 't', 't', NULL)
  an opening that has not ended                                  | ${SESSION} (NULL, '2025-01-03', 'm', 'opening', 5, NULL, 't', NULL, NULL)
  a second counter of writes                                     | INSERT INTO price_writes VALUES (2, 0)
  a number of writes below zero                                  | UPDATE price_writes SET number = -1
  a session that was committed before its morning                | UPDATE trading_sessions SET morning_write = 2, commit_write = 1
  a changed start of an unknown session                          | INSERT INTO changed_starts VALUES (99)
  a changed start, moved to an unknown session                   | UPDATE changed_starts SET session_id = 99
  words of no version                                            | UPDATE trading_sessions SET wording = 0
  a risk-free rate of -100 %                                     | INSERT INTO figure_settings VALUES (1, -1)
  a risk-free rate that becomes -200 %                           | UPDATE figure_settings SET risk_free_rate = -2
  a second row of settings                                       | INSERT INTO figure_settings VALUES (2, 0.04)
  a lot of nothing                                               | INSERT INTO opening_lots VALUES (1, 'MSFT', 1, '2025-01-03', 0, 5)
  a lot of an unknown opening                                    | INSERT INTO opening_lots VALUES (99, 'MSFT', 1, '2025-01-03', 1, 5)
  a lot that becomes nothing                                     | UPDATE opening_lots SET quantity = 0
  a manifest that becomes half a hash                            | UPDATE package_manifest SET sha256 = 'abc'
  half a hash                                                    | INSERT INTO package_manifest VALUES ('jobs', 1, 'abc')
  a document that is out before it is published                  | ${DOCUMENT} (1735689599000000, 'd', '2025-01-01T00:00:00.000Z', '2025-01-01', 'news', ${OF_DOCUMENT}, 1)
  a document that is out before its date is over                 | ${DOCUMENT} (1735775999000000, 'd', '2025-01-01', '2025-01-01', 'news', ${OF_DOCUMENT}, 1)
  a document of no time                                          | ${DOCUMENT} (1735776000000000, 'd', 'soon', '2025-01-01', 'news', ${OF_DOCUMENT}, 1)
  a document whose kind is two words                             | ${DOCUMENT} (1735776000000000, 'd', '2025-01-01', '2025-01-01', 'big news', ${OF_DOCUMENT}, 1)
  a document of no import                                        | ${DOCUMENT} (1735776000000000, 'd', '2025-01-01', '2025-01-01', 'news', ${OF_DOCUMENT}, 99)
  a second document of an id and a time                          | ${DOCUMENT} (2, 'm', '1970-01-01T00:00:00.000Z', '1970-01-01', 'news', ${OF_DOCUMENT}, 1)
  a document without a text                                      | UPDATE document_texts SET text = ''
  an empty text                                                  | INSERT INTO document_texts VALUES (1, '')
  half a digest of a document                                    | UPDATE documents SET digest = 'abc'
  an import before the first write                               | INSERT INTO document_imports VALUES (9, 't', 0)
  an import that moves before the first write                    | UPDATE document_imports SET written = 0
  a document that an unknown session read                        | UPDATE document_sessions SET session_id = 99
  a document that an unknown session was shown                   | INSERT INTO document_sessions VALUES (99, 1)
  a number of documents that is not JSON                         | UPDATE trading_sessions SET documents = '['
  a job of an unknown mode                                       | UPDATE jobs SET deployment_mode = 'TEST'
  a session that failed without a reason                         | UPDATE trading_sessions SET status = 'failed', error = NULL
  a decision of an unknown session                               | ${DECISION} (99, 9, NULL, NULL, NULL, NULL, NULL)
  a decision that loses its session                              | UPDATE decisions SET session_id = 99
  a second decision in the same place                            | ${DECISION} (1, 1, NULL, NULL, NULL, NULL, NULL)
  a decided trade without an action                              | ${DECISION} (1, 9, 2, NULL, 'AAPL', NULL, NULL)
  a refusal without its sentence                                 | ${DECISION} (1, 9, 2, 1, 'AAPL', 1, NULL)
  a refusal that traded                                          | ${DECISION} (1, 9, 2, 1, 'AAPL', 1, 'e')
  a quiet day of no session                                      | ${DECISION} (NULL, 9, NULL, NULL, NULL, NULL, NULL)
  a quiet day that orders                                        | ${DECISION} (1, 9, NULL, NULL, 'AAPL', NULL, NULL)
  negative cash                                                  | ${POSITION} (1, 9, 'buy', 'AAPL', 1, 1, -1, 5, 0)
  an action out of nowhere                                       | ${POSITION} (99, 1, 'buy', 'AAPL', 1, 1, 1, 5, 0)
  the same action twice                                          | ${POSITION} (1, 1, 'buy', 'AAPL', 1, 1, 1, 5, 0)
  a purchase of nothing                                          | ${POSITION} (1, 9, 'buy', 'AAPL', 0, 1, 1, 5, 0)
  a sale of less than nothing                                    | ${POSITION} (1, 9, 'sell', 'AAPL', -5, 1, 1, 5, 0)
  a trade without a price                                        | ${POSITION} (1, 9, 'buy', 'AAPL', 1, NULL, 1, 5, 0)
  a no_trade with a symbol                                       | ${POSITION} (1, 9, 'no_trade', 'AAPL', NULL, NULL, 1, 5, 0)
  a value below the cash                                         | ${POSITION} (1, 9, 'buy', 'AAPL', 1, 1, 5, 4, 0)
  cash that is not an integer                                    | ${POSITION} (1, 9, 'buy', 'AAPL', 1, 1, 1.5, 5, 0)
  cash that becomes negative                                     | UPDATE positions SET cash_e4 = -1
  a holding of zero                                              | INSERT INTO holdings VALUES (1, 'MSFT', 0)
  a negative holding                                             | INSERT INTO holdings VALUES (1, 'MSFT', -1)
  a holding that becomes zero                                    | UPDATE holdings SET quantity = 0
  a price of 0                                                   | ${PRICE} ('MSFT', '2025-01-06', 0, NULL, 1)
  a close of 0                                                   | ${PRICE} ('MSFT', '2025-01-06', 1, 0, 1)
  an absurd price                                                | ${PRICE} ('MSFT', '2025-01-06', 1e73, NULL, 1)
  a price that becomes text                                      | UPDATE price_data SET open = 'high'
  a revision without a price                                     | ${REVISION} ('AAPL', '2025-01-06', NULL, 's', 1, 2)
  a revision that loses its price                                | UPDATE price_revisions SET open = NULL
  coverage that ends before it starts                            | ${COVERAGE} ('A', 'csv', '2025-01-07', '2025-01-06', 't')
  coverage that comes to end before it starts                    | UPDATE price_data_coverage SET start_date = '2026-01-01'
  a split into as many shares                                    | ${SPLIT} ('MSFT', '2025-01-06', 2, 2, 1)
  a split that becomes one of 0 shares                           | UPDATE stock_splits SET numerator = 0
  a revision of a split without numbers                          | ${SPLIT_REVISION} ('AAPL', '2025-01-06', NULL, 1, 's', 1, 2)
  a revision of a split that becomes text                        | UPDATE stock_split_revisions SET numerator = 'two'
  the prices that an unknown session used                        | ${USED} (99, 'ZZZ', '2025-01-06', NULL, 1, '2025-01-06', 1, '2025-01-06')
  a price of a later date                                        | ${USED} (1, 'MSFT', '2025-01-06', NULL, 1, '2025-01-07', 1, '2025-01-06')
  a price of no date                                             | ${USED} (1, 'MSFT', '2025-01-06', NULL, 1, NULL, 1, '2025-01-06')
  a price that loses its date                                    | UPDATE session_prices SET close_date = NULL
  something held since a later date                              | UPDATE session_prices SET held_since = '2025-01-06'
  a committed session without a version of its words             | UPDATE trading_sessions SET wording = NULL WHERE session_id = 1
  a job without a mode                                           | UPDATE jobs SET deployment_mode = NULL
  a run without its entry                                        | UPDATE simulation_runs SET entry = NULL
  a run whose entry is not JSON                                  | UPDATE simulation_runs SET entry = '{'
  a run of no family                                             | UPDATE simulation_runs SET family = NULL
  a split known with half a ratio                                | INSERT INTO session_splits VALUES (1, 'MSFT', '2025-01-06', 2, NULL)
  a known split that gets half a ratio                           | UPDATE session_splits SET numerator = NULL
  splits known through a sloppy date                             | INSERT INTO stock_split_coverage VALUES ('AAPL', '2025-1-6', 's', 't')
  splits that come to be known through none                      | UPDATE stock_split_coverage SET end_date = ''
  a dividend of nothing                                          | ${DIVIDEND} ('MSFT', '2025-01-06', 0, 1)
  an absurd dividend                                             | ${DIVIDEND} ('MSFT', '2025-01-06', 1000000000001, 1)
  a dividend on a sloppy date                                    | ${DIVIDEND} ('MSFT', '2025-1-6', 1, 1)
  a dividend that comes to mean something else                   | UPDATE dividends SET basis = 'guessed'
  a dividend from nowhere                                        | UPDATE dividends SET source = ''
  dividends known until before they are                          | ${DIVIDEND_COVERAGE} ('A', 'csv', '2025-01-07', '2025-01-06', 't')
  dividends that come to be known until before they are          | UPDATE dividend_coverage SET start_date = '2026-01-01'
  a revision of a dividend without cash                          | ${DIVIDEND_REVISION} ('AAPL', '2025-01-06', NULL, 'as_paid', 's', 1, 2)
  a revision of a dividend that becomes text                     | UPDATE dividend_revisions SET cash_e6 = 'two'
  a dividend that an unknown session knew                        | ${KNOWN_DIVIDEND} (99, 'AAPL', '2025-01-06', 1, 'as_paid', '', 1)
  a known dividend that took cash                                | UPDATE session_dividends SET paid_e6 = -1
  a session that half pays dividends                             | UPDATE trading_sessions SET pays_dividends = 2
  an exchange into itself                                        | ${EXCHANGE} ('AAPL', '2025-01-06', 'AAPL', 0, 2, 1, 0, 1)
  an exchange into shares without a ratio                        | ${EXCHANGE} ('AAPL', '2025-01-06', 'META', 0, NULL, NULL, 0, 1)
  an exchange into no shares with a ratio                        | ${EXCHANGE} ('AAPL', '2025-01-06', '', 1, 1, 1, 0, 1)
  an exchange that remains and brings no shares                  | ${EXCHANGE} ('AAPL', '2025-01-06', '', 1, NULL, NULL, 1, 1)
  an exchange that comes to take cash                            | UPDATE exchanges SET cash_e6 = -1
  a revision of an exchange without cash                         | ${EXCHANGE_REVISION} ('AAPL', '2025-01-06', '', NULL, 0, 's', 1, 2)
  a revision of an exchange that half remains                    | UPDATE exchange_revisions SET remains = 'half'
  an exchange that an unknown session knew                       | ${KNOWN_EXCHANGE} (99, 'AAPL', '2025-01-06', '', 1, NULL, NULL, 0, '', '')
  a known exchange that took cash                                | UPDATE session_exchanges SET cash_e6 = -1
  a dividend on no share                                         | ${POSITION} (1, 9, 'dividend', 'AAPL', 0, 1, 5, 20, 0)
  a dividend without cash per share                              | ${POSITION} (1, 9, 'dividend', 'AAPL', 1, NULL, 5, 20, 0)
  a dividend that takes cash                                     | ${POSITION} (1, 9, 'dividend', 'AAPL', 1, -1, 5, 20, 0)
  a purchase at the price 0                                      | ${POSITION} (1, 9, 'buy', 'AAPL', 1, 0, 5, 20, 0)
  a factor on a sloppy date                                      | INSERT INTO factors VALUES ('market', '2025-1-6', 0.01, 's', 't')
  a factor of 100 percent                                        | INSERT INTO factors VALUES ('market', '2025-01-06', 1, 's', 't')
  a factor that comes to have no name                            | UPDATE factors SET factor = ''
  a market day on a sloppy date                                  | INSERT INTO market_days VALUES ('s', '2025-1-6', 't')
  a market day that comes to have no source                      | UPDATE market_days SET source = NULL
  splits known until before they are                             | INSERT INTO stock_split_spans VALUES ('A', 's', '2025-01-07', '2025-01-06', 't')
  splits that come to be known until before they are             | UPDATE stock_split_spans SET start_date = '2026-01-01'
  a tool message without a tool                                  | ${MESSAGE} (1, 9, 'tool', '', NULL, NULL, NULL, 't')
  an unknown role                                                | ${MESSAGE} (1, 9, 'oracle', '', NULL, NULL, NULL, 't')
  tool calls that are no JSON                                    | ${MESSAGE} (1, 9, 'assistant', '', NULL, '[{', NULL, 't')
  tool calls of a user                                           | ${MESSAGE} (1, 9, 'user', '', NULL, '[]', NULL, 't')
  carried fields that are not JSON                               | ${MESSAGE} (1, 9, 'assistant', '', NULL, NULL, '{', 't')
  something carried by a user                                    | UPDATE reasoning_logs SET carried = '{}' WHERE role = 'user'
  tool calls that become no JSON                                 | UPDATE reasoning_logs SET tool_calls = '' WHERE role = 'assistant'
  what a provider said of itself with a message of the user      | UPDATE reasoning_logs SET served = '{}' WHERE role = 'user'
  what a provider said of itself that is not JSON                | UPDATE reasoning_logs SET served = 'x' WHERE role = 'assistant'
  an infinite cost                                               | UPDATE job_details SET cost_usd = 9e999
  what is left out that is not JSON                              | UPDATE simulation_runs SET left_out = 'x'
  more refusals than calls                                       | INSERT INTO tool_usage VALUES (1, 'sell', 1, 2, 0)
  calls that come to be none                                     | UPDATE tool_usage SET calls = 0
  an empty idempotency key                                       | INSERT INTO idempotency_keys VALUES ('', 'j', 'h', '{}')
  a remembered answer that becomes no JSON                       | UPDATE idempotency_keys SET answer = '{'
  a second key for a job                                         | INSERT INTO idempotency_keys VALUES ('another', 'j', 'h', '{}')
  an announcement of an unknown job                              | INSERT INTO announcements VALUES ('stranger', '{}')
  a second announcement of a job                                 | INSERT INTO announcements VALUES ('j', '{}')
  an announcement that becomes no JSON                           | UPDATE announcements SET body = '{'`);

/** One after another, each is accepted. */
export const accepted = tableOf<[name: string, sql: string]>(`
  a finished job                                                 | ${FINISHED_JOB} ('k', 'partial', '2025-01-06', '2025-01-07', '["2025-01-06"]', 1, '{}', 'PROD', 't', 't')
  warnings of any kind                                           | UPDATE jobs SET warnings = '{not json', error = 'e'
  another run                                                    | ${RUN} ('k', 'm', 0, '2025-01-06', 't', '{}', 'm')
  a trade, a refusal of anything, a quiet day                    | ${DECISION} (1, 1, 2, 1, 'AAPL', NULL, NULL), (1, 2, 4, NULL, NULL, -0.5, 'e'), (1, 3, NULL, NULL, NULL, NULL, NULL)
  a decision of another message                                  | UPDATE decisions SET message_index = 3 WHERE place = 1
  a run that is superseded                                       | UPDATE simulation_runs SET status = 'superseded' WHERE job_id = 'k'
  another model-day                                              | INSERT INTO job_details (job_id, date, model) VALUES ('k', '2025-01-07', 'm')
  a model-day that takes 12.345 seconds                          | UPDATE job_details SET status = 'completed', started_at = '2025-01-06T23:59:59.900Z', completed_at = '2025-01-07T00:00:12.245Z' WHERE job_id = 'k'
  a session that runs                                            | ${SESSION} ('j', '2025-01-06', 'm', 'running', NULL, 1, 't', NULL, NULL)
  a model-day that ends without its session                      | UPDATE job_details SET status = 'failed', error = 'e', completed_at = 't' WHERE job_id = 'j'
  a session with a summary                                       | UPDATE trading_sessions SET session_summary = 's' WHERE session_id = 1
  an opening                                                     | ${SESSION} (NULL, '2025-01-03', 'm', 'opening', 5, NULL, 't', 't', NULL)
  an opening without an initial cash                             | UPDATE trading_sessions SET initial_cash_e4 = NULL WHERE status = 'opening'
  a write                                                        | UPDATE price_writes SET number = number + 1
  a counter of writes, as it is                                  | INSERT INTO price_writes VALUES (1, 0) ON CONFLICT DO UPDATE SET number = number + 1
  a changed start                                                | INSERT INTO changed_starts VALUES (1)
  a changed start, as it was                                     | UPDATE changed_starts SET session_id = 1
  words of a version                                             | UPDATE trading_sessions SET wording = 1 WHERE session_id = 1
  a risk-free rate                                               | INSERT INTO figure_settings VALUES (1, -0.0075) ON CONFLICT (only_row) DO UPDATE SET risk_free_rate = excluded.risk_free_rate
  another risk-free rate                                         | UPDATE figure_settings SET risk_free_rate = 0.04
  a lot                                                          | INSERT INTO opening_lots SELECT session_id, 'AAPL', 1, date, 2, 5 FROM trading_sessions WHERE status = 'opening'
  a lot that costs more                                          | UPDATE opening_lots SET cost_e4 = 6
  a manifest                                                     | INSERT INTO package_manifest VALUES ('jobs', 1, '${'0'.repeat(64)}')
  a manifest of more rows                                        | UPDATE package_manifest SET rows = 2
  an import of documents                                         | INSERT INTO document_imports VALUES (1, 't', 1), (2, 't', NULL)
  a document                                                     | ${DOCUMENT} (1, 'm', '1970-01-01T00:00:00.000Z', '1970-01-01', 'news', ${OF_DOCUMENT}, 1)
  its text                                                       | INSERT INTO document_texts VALUES (1, 'x')
  a document that a session was shown                            | INSERT INTO document_sessions VALUES (1, 1)
  an import that is whole                                        | UPDATE document_imports SET written = 2
  a document with a source                                       | UPDATE documents SET source = 's'
  a text that changes                                            | UPDATE document_texts SET text = 'y'
  the same document again                                        | UPDATE document_sessions SET version = 1
  a job of a known mode                                          | UPDATE jobs SET deployment_mode = 'DEV'
  a purchase                                                     | ${POSITION} (1, 2, 'buy', 'AAPL', 3, 5, 5, 20, -1)
  a split that takes shares away                                 | ${POSITION} (1, 3, 'split', 'AAPL', -1, 5, 5, 20, -1)
  a return                                                       | UPDATE positions SET daily_return_pct = -0.5
  a holding                                                      | INSERT INTO holdings VALUES (1, 'AAPL', 3)
  a holding that grows                                           | UPDATE holdings SET quantity = 4
  a message without tool calls                                   | ${MESSAGE} (1, 0, 'user', 'u', NULL, NULL, NULL, 't')
  an answer without tool calls                                   | ${MESSAGE} (1, 1, 'assistant', '', NULL, NULL, NULL, 't')
  an answer with tool calls                                      | ${MESSAGE} (1, 2, 'assistant', '', NULL, '[{"name":"a\\u0000","x":[-0.5e-3]}]', '{"y":null}', 't')
  the message of a tool                                          | ${MESSAGE} (1, 3, 'tool', '', 'buy', NULL, NULL, 't')
  a message that changes                                         | UPDATE reasoning_logs SET summary = 's'
  what is left out                                               | UPDATE simulation_runs SET left_out = '["stream"]'
  calls of a tool                                                | INSERT INTO tool_usage VALUES (1, 'buy', 2, 1, 0.5)
  calls that become more                                         | UPDATE tool_usage SET calls = 3, duration_ms = 7
  a bar                                                          | ${PRICE} ('AAPL', '2025-01-06', 100, 101.25, 1)
  a bar of an adjusted source                                    | INSERT INTO price_data (symbol, date, open, source) VALUES ('MSFT', '2025-01-06', 1, 'yahoo')
  a bar that is revised                                          | UPDATE price_data SET close = 102, written = 2 WHERE symbol = 'AAPL'
  a bar that is revised without a word on when                   | UPDATE price_data SET close = 103 WHERE symbol = 'AAPL'
  a revision                                                     | ${REVISION} ('X', '2025-01-06', 1, 's', 1, 2)
  a revision that changes                                        | UPDATE price_revisions SET volume = 5 WHERE symbol = 'X'
  coverage                                                       | ${COVERAGE} ('AAPL', 'csv', '2025-01-06', '2025-01-06', 't')
  coverage that grows                                            | UPDATE price_data_coverage SET end_date = '2025-01-07'
  a split                                                        | ${SPLIT} ('AAPL', '2025-01-06', 2, 1, 1)
  a split that is revised                                        | UPDATE stock_splits SET numerator = 3
  a revision of a split                                          | ${SPLIT_REVISION} ('X', '2025-01-06', 2, 1, 's', 1, 2)
  a revision of a split that changes                             | UPDATE stock_split_revisions SET source = 'r' WHERE symbol = 'X'
  the prices that a session used                                 | ${USED} (1, 'AAPL', '2025-01-06', '2025-01-03', 1, '2025-01-03', 1, '2025-01-06')
  unknown prices in the evidence                                 | UPDATE session_prices SET open_e4 = NULL, open_date = NULL
  a split that a session knew                                    | INSERT INTO session_splits VALUES (1, 'AAPL', '2025-01-06', 2, 1)
  a split that a session knew otherwise                          | UPDATE session_splits SET numerator = 3
  splits that are known                                          | INSERT INTO stock_split_coverage VALUES ('AAPL', '2025-01-06', 's', 't')
  splits that are known further                                  | UPDATE stock_split_coverage SET end_date = '2025-01-07'
  an idempotency key                                             | INSERT INTO idempotency_keys VALUES ('key', 'j', 'h', '{}')
  an announcement                                                | INSERT INTO announcements VALUES ('j', '{}')
  an announcement that changes                                   | UPDATE announcements SET body = '[1]'
  a remembered answer that changes                               | UPDATE idempotency_keys SET answer = '[1]'
  a factor                                                       | INSERT INTO factors VALUES ('market', '2025-01-06', 0.01, 's', 't')
  a factor that is revised                                       | UPDATE factors SET value = 0.02
  a market day                                                   | INSERT INTO market_days VALUES ('s', '2025-01-06', 't')
  a market day that is answered again                            | UPDATE market_days SET recorded_at = 'u'
  a span of known splits                                         | INSERT INTO stock_split_spans VALUES ('AAPL', 's', '2025-01-06', '2025-01-06', 't')
  a span of known splits that grows                              | UPDATE stock_split_spans SET end_date = '2025-01-07'
  a dividend                                                     | ${DIVIDEND} ('AAPL', '2025-01-06', 250000, 1)
  a dividend that is revised                                     | UPDATE dividends SET cash_e6 = 260000
  a dividend that comes to be split-adjusted                     | UPDATE dividends SET basis = 'split_adjusted'
  a revision of a dividend                                       | ${DIVIDEND_REVISION} ('X', '2025-01-06', 1, 'as_paid', 's', 1, 2)
  a revision of a dividend that changes                          | UPDATE dividend_revisions SET source = 'r' WHERE symbol = 'X'
  dividends that are known                                       | ${DIVIDEND_COVERAGE} ('AAPL', 'csv', '2025-01-06', '2025-01-06', 't')
  dividends that are known further                               | UPDATE dividend_coverage SET end_date = '2025-01-07'
  a session that pays dividends                                  | UPDATE trading_sessions SET pays_dividends = 1 WHERE session_id = 1
  a dividend that a session knew                                 | ${KNOWN_DIVIDEND} (1, 'AAPL', '2025-01-06', 260000, 'split_adjusted', '2025-01-06 3:1', 780000)
  a known dividend that is too small to pay                      | UPDATE session_dividends SET paid_e6 = 0
  an exchange into shares                                        | ${EXCHANGE} ('AAPL', '2025-01-06', 'META', 5000000, 1, 4, 1, 1)
  an exchange that is revised                                    | UPDATE exchanges SET cash_e6 = 6000000, remains = 0
  a worthless end                                                | ${EXCHANGE} ('SIVB', '2025-01-06', '', 0, NULL, NULL, 0, 1)
  a revision of an exchange                                      | ${EXCHANGE_REVISION} ('X', '2025-01-06', '', 1, 0, 's', 1, 2)
  a revision of an exchange that changes                         | UPDATE exchange_revisions SET source = 'r' WHERE symbol = 'X'
  an exchange that a session knew                                | ${KNOWN_EXCHANGE} (1, 'AAPL', '2025-01-06', 'META', 1, 1, 4, 0, '', '2025-01-07 2:1')
  a known exchange that remains                                  | UPDATE session_exchanges SET remains = 1
  an exchange in which nothing left                              | ${POSITION} (1, 5, 'exchange', 'AAPL', 0, 0, 5, 20, -1)
  shares that were received without a price                      | ${POSITION} (1, 6, 'received', 'META', 0, NULL, 5, 20, -1)
  a dividend that was paid                                       | ${POSITION} (1, 4, 'dividend', 'AAPL', 3, 7800, 5, 20, -1)
  a dividend of less than 1/10000 dollar a share                 | UPDATE positions SET price_e4 = 0 WHERE action_type = 'dividend'`);
