import type { Tag } from '#api/route.ts';

/**
 * What each part and each operation of the interface is for, when to use it, and its exception.
 * The build reads it; the page /api and docs/reference/api-fields.md show it.
 */

export const tagTexts: Readonly<Record<Tag, string>> = {
  jobs: 'Start simulation jobs, watch their progress, cancel or discard them. One job runs at a time.',
  results:
    'Read what the models did, said and achieved. Discarded and replaced model-days are not counted.',
  agents:
    'Trade with an agent of your own, or connect an assistant: the tools of a day, and the Model Context Protocol.',
  data: 'See which models, prices and documents the service has.',
  service: 'Check the service itself, and whether its database replays to the same results.',
};

/** By method and path. */
export const operationTexts: Readonly<Record<string, string>> = {
  'POST /simulate/trigger':
    'Creates a job and returns at once; GET /simulate/status/{job_id} shows its progress. ' +
    'Use it without start_date to continue each model after its last completed date. ' +
    'It is refused while another job runs, and when no model has a date left to run.',
  'GET /simulate/status/{job_id}':
    'Returns the whole job: progress, terms, the resolved entry of each model, and every model-day ' +
    'with its tokens and cost. Use GET /jobs for a summary of many jobs.',
  'POST /simulate/cancel/{job_id}':
    'Ends the processes of the job’s models. Completed model-days are kept; those in progress end ' +
    'without a result. A job that ended in another way is refused with 409.',
  'DELETE /jobs/{job_id}':
    'Removes the results of an ended job from all figures. Results that the job had replaced are ' +
    'counted again. Nothing is deleted from the database, but a discard cannot be undone. Cancel a job that still runs first.',
  'GET /jobs':
    'Lists jobs with status, progress, cost and warnings. Use it to find a job_id, or to see what a nightly run did.',
  'GET /results':
    'Returns the ledger: one record for each action, with the cash, the holdings and the value after it. ' +
    'Use it to check a figure or to rebuild a portfolio. A filter that matches nothing returns an empty list.',
  'GET /reasoning':
    'Returns trading sessions with their actions; with include_full_conversation=true also every message, ' +
    'tool call and reasoning. Use it to see why a model traded. It returns 404 when nothing matches.',
  'GET /decisions':
    'Returns orders, refused orders, malformed calls, failed days and days without a trade, each with the ' +
    'model’s own words. Use it to follow what happened without reading whole conversations.',
  'GET /search':
    'Searches messages, reasoning, tool calls and tool results; not the system prompt and the morning report. ' +
    'A page may be short when the search took long; next_before continues it.',
  'GET /performance':
    'Returns the metrics of each model over its own days, next to a benchmark. Use common=true to measure ' +
    'all models over the same days, and GET /comparison to learn whether a difference is more than chance.',
  'GET /holdings':
    'Returns the portfolio of one model at the close of each model-day, and how much of it each symbol was.',
  'GET /comparison':
    'Compares models over the days that all of them share, and says whether the difference could be chance. ' +
    'Use looks=daily when you look again as days arrive. It has no figures for fewer than 20 days.',
  'GET /models':
    'Lists every run that the configuration or a job names, with its entry and its completed dates. ' +
    'Use it to find the names that other requests take.',
  'GET /prices/coverage':
    'Shows which prices and dividends are stored for each symbol, and where data may be missing. ' +
    'Use date to list the symbols that had a price on a date. Bars are counted only for a single symbol.',
  'GET /documents/coverage':
    'Counts the stored filings and news by kind and symbol. Use it to see what models may read.',
  'GET /documents/{id}':
    'Returns a document as models could read it on a morning (as_of), or one version of it. Give either as_of or version.',
  'GET /day':
    'Returns what the agent was sent, with its portfolio as it is now. Only the token of the day opens it, ' +
    'and only until the day is decided.',
  'GET /day/tools':
    'Lists the tools that the agent may call on this day. They are those that models have.',
  'POST /day/tools/{name}':
    'Runs a tool and returns what a model would read. A refused call is a 200 with an error. Calls run one after another.',
  'POST /mcp':
    'Offers tools to assistants and agents that speak the Model Context Protocol, one JSON-RPC message per request. ' +
    'The token of a day opens the tools of that day; other clients get the tools of the service. Batches are refused.',
  'GET /audit':
    'Replays every model-day from its recorded answers and prices, and reports what differs. ' +
    'Use it before you publish or trust results. It reads the whole database, which may take minutes.',
  'GET /health':
    'Returns 200 as long as the service answers; the status says whether the database can be read and written. ' +
    'It needs no token.',
  'GET /openapi.json':
    'Describes every operation, parameter and field of this version. Use it to generate a client.',
  'POST /agentDay':
    'The service sends this request to the URL of an entry with "api": "agent", once for each model-day, and takes ' +
    'the response as the decision. A failed request is repeated with the same Idempotency-Key.',
};

/** Parameters whose schema has no description. */
export const parameterTexts: Readonly<Record<string, string>> = {
  status: 'Only jobs with this status.',
  date: 'Only symbols with a bar on this date.',
  job_id: 'The job_id of the response to the trigger.',
  name: 'The name of a tool of the day.',
  id: 'The id of a document.',
  'MCP-Protocol-Version': 'The revision of the protocol; required from 2026-07-28 on.',
  'Mcp-Method': 'The method of the message; required from 2026-07-28 on.',
  'Mcp-Name': 'The name of the tool that is called; required for calls from 2026-07-28 on.',
};
