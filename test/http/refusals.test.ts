import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';

/** What requests are refused, and the sentence that says what is wrong. */

const DEPLOYMENT = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

/** Status, `METHOD PATH` (of a trigger its body alone) and detail; `…` stands for anything. */
const refusals = tableOf<[status: string, request: string, detail: string]>(String.raw`
  422 | {}                            | end_date is required and cannot be null or empty
  422 | {"end_date":null}             | end_date is required and cannot be null or empty
  422 | {"end_date":""}               | end_date is required and cannot be null or empty
  422 | {"start_date":"2025/01/05","end_date":"2025-1-5"} | start_date: Invalid date format: 2025/01/05. Expected YYYY-MM-DD; end_date: Invalid date format: 2025-1-5. Expected YYYY-MM-DD
  422 | {"end_date":"2025-02-30"}     | end_date: Invalid date format: 2025-02-30. Expected YYYY-MM-DD
  422 | {"end_date":20250105}         | end_date: Invalid date format: 20250105…
  422 | {"start_date":{},"end_date":"2025-11-10"} | start_date: Invalid date format: {}…
  422 | {"start_date":"0000-09-04","end_date":"2025-11-10"} | start_date: Invalid date: 0000-09-04. The earliest is 1900-01-01
  422 | {"end_date":"2025-11-10","models":"model-a"} | models: expected an array of model signatures
  422 | {"end_date":"2025-11-10","models":["a",5]} | models[1]: expected a string
  422 | {"end_date":"2025-11-10","models":[""]} | models[0]: must not be empty
  422 | {"end_date":"2025-11-10","models":["a\u0000b"]} | models[0]: must not contain a control character (U+0000)
  422 | {"end_date":"2025-11-10","models":["\ud800"]} | models[0]: must not contain half a character (U+D800)
  422 | {"end_date":"2025-11-10","replace_existing":"true"} | replace_existing: expected true or false
  422 | {"end_date":"2025-11-10","symbols":[],"bench":1} | symbols: unknown field; bench: unknown field
  422 | {"end_date":"2025-11-10","start":"2025-11-03"} | start: unknown field (did you mean "start_date"?)
  422 | {"end_date":"2025-11-10","date_range":[]} | date_range: …use start_date and end_date
  422 | {"end_date":"2025-11-10","config_path":"/etc/passwd"} | config_path: …no longer accepted…
  422 | {"date_range":[],"config_path":"c","end_date":1} | end_date: …; date_range: …; config_path: …
  422 | {"end_date":"2025-11-10","__proto__":{"replace_existing":true}} | __proto__: unknown field…
  422 | {"end_date":"2024-02-30","end_date":"2024-02-31"} | end_date: given more than once
  422 | {"end_date" : "}\\\"{", "\u0065nd_date" :1} | end_date: given more than once
  422 | {"models":[{"a":{"b":1},"b":[2],"a":3}]} | a: given more than once
  422 | {"end_date":"2024-02-30","models":["end_date","models"]} | end_date: Invalid date format…
  422 | {"__proto__":1,"__proto__":1} | __proto__: given more than once
  422 | []                            | body: expected a JSON object
  422 | null                          | body: expected a JSON object
  400 | {"end_date":                  | …not valid JSON…
  400 | {"start_date":"2025-11-11","end_date":"2025-11-10"} | …is after end_date…
  400 | {"end_date":"2025-12-02"}     | …future…
  400 | {"start_date":"2025-11-15","end_date":"2025-11-16"} | …weekday…
  405 | GET /simulate/trigger         | …has no method GET; it has POST…
  405 | DELETE /results               | …has no method DELETE; it has GET, HEAD…
  404 | GET /nowhere                  | There is no /nowhere…
  404 | GET /health/deep              | There is no…
  404 | GET /simulate/status/         | There is no…
  404 | GET /simulate/status/no-such  | Job no-such not found
  404 | GET /simulate/status/a%2Fb    | Job a/b not found
  404 | GET //simulate/trigger        | There is no //simulate/trigger; …
  404 | POST //simulate/trigger       | There is no //simulate/trigger; …
  400 | GET /simulate/status/%zz      | …percent-encoding…
  422 | POST /simulate/trigger?end_date=2025-11-10 | end_date: unknown query parameter; this path takes none
  422 | GET /health?x=1               | x: unknown query parameter; this path takes none
  400 | GET /reasoning?date=1899-12-31 | Invalid date: 1899-12-31. The earliest is 1900-01-01
  400 | GET /reasoning?date=2025/11/10 | Invalid date format: 2025/11/10. Expected YYYY-MM-DD
  404 | GET /reasoning?model=stranger | No trading sessions found matching the provided filters…
  404 | GET /reasoning?start_date=2025-11-12 | No trading sessions found matching…
  422 | GET /reasoning?include_full_conversation=banana | include_full_conversation: expected true or false
  422 | GET /reasoning?model=a&model=b | model: given more than once
  422 | GET /reasoning?modle=a&dtae=b | modle: unknown query parameter; this path takes job_id, date, model, …include_full_conversation…
  422 | GET /reasoning?date=2025-11-10&start_date=2025-11-09 | date: cannot be combined…
  400 | GET /reasoning?start_date=2025-11-11&end_date=2025-11-10 | Invalid date range…
  422 | GET /results?modle=a          | modle: unknown query parameter; this path takes job_id, …
  422 | GET /results?date=2025-11-10&end_date=2025-11-11 | date: cannot be combined with start_date…
  422 | GET /results?start_date=2025-02-30 | start_date: Invalid date format: 2025-02-30…
  422 | GET /results?format=xlsx      | format: expected json or csv
  422 | GET /jobs?status=done         | status: expected one of pending, downloading_data, running, completed, partial, failed, cancelled, discarded
  422 | GET /jobs?limit=0             | limit: expected a whole number from 1 to 200
  422 | GET /jobs?limit=201           | limit: expected…
  422 | GET /jobs?limit=1e2           | limit: expected…
  422 | GET /jobs?limit=99999999999999999999 | limit: expected…
  422 | GET /jobs?before=job-9        | before: expected the job_id of a job, or a timestamp…
  422 | GET /jobs?before=2025-13-01T00:00:00Z | before: expected…
  422 | GET /decisions?kind=split     | kind: expected one of trade, refusal, malformed, failure, no_trade
  422 | GET /decisions?symbol=A%20B   | symbol: expected a ticker symbol
  422 | GET /decisions?limit=201      | limit: expected a whole number from 1 to 200
  422 | GET /decisions?before=99999   | before: expected the id of a decision
  422 | GET /decisions?before=nonsense | before: expected the id of a decision
  422 | GET /decisions?models=model-x | models: no job has run model-x; GET /models…
  422 | GET /decisions?model=model-x | model: no job has run model-x; GET /models lists the models
  422 | GET /decisions?models=alpha&model=alpha | models: cannot be combined with model…
  400 | GET /decisions?start_date=2025-11-11&end_date=2025-11-10 | Invalid date range…
  404 | GET /decisions?job_id=nothing | Job nothing not found
  422 | GET /search                   | q is required…
  422 | GET /search?q=%22%20*%20-     | q: expected at least one letter or digit
  422 | GET /search?q=a&limit=101     | limit: expected a whole number from 1 to 100
  422 | GET /search?q=a&before=0      | before: expected the next_before of a search
  422 | GET /search?q=a&model=model-x | model: no job has run model-x…
  404 | GET /search?q=a&job_id=nothing | Job nothing not found
  422 | GET /holdings                 | model is required and cannot be null or empty
  422 | GET /holdings?model=          | model is required and cannot be null or empty
  422 | GET /holdings?model=stranger | model: no job has run stranger…
  404 | GET /holdings?model=alpha&job_id=nothing | Job nothing not found
  400 | GET /holdings?model=alpha&start_date=2025-11-12&end_date=2025-11-11 | Invalid date range: …
  422 | GET /holdings?model=alpha&date=2025-11-12 | date: unknown query parameter; this path takes model, study, job_id, start_date, end_date, format
  422 | GET /prices/coverage?date=2025-02-30 | date: Invalid date format…
  422 | GET /prices/coverage?symbol=../etc | symbol: is not a ticker symbol
  404 | GET /performance?job_id=nothing | Job nothing not found
  404 | GET /performance?benchmark=SPY | There are no prices of SPY …: store some (download-prices --symbols SPY, …), or ask for benchmark=universe
  422 | GET /performance?benchmark=no+symbol | benchmark: expected a ticker symbol or 'universe'
  422 | GET /performance?end_date=yesterday | end_date: Invalid date format: yesterday. Expected YYYY-MM-DD
  400 | GET /performance?start_date=2025-11-12&end_date=2025-11-11 | Invalid date range: start_date 2025-11-12 is after end_date…
  422 | GET /performance?models=alpha,alpha | models: a name is repeated; name each model once
  422 | GET /performance?models=alpha, | models: expected names separated by commas
  422 | GET /performance?models=alpha&model=beta | models: cannot be combined with model; name all models in models
  422 | GET /performance?models=alpha,stranger&format=csv | models: no job has run stranger; GET /models lists the models
  422 | GET /performance?model=stranger | model: no job has run stranger; GET /models lists the models
  422 | GET /performance?model=stranger&by=entry&common=true&format=csv | model: no job has run stranger…
  422 | GET /audit?model=stranger   | model: no job has run stranger…
  422 | GET /performance?days=some&format=csv&table=trades | days: expected all or clean
  422 | GET /performance?common=maybe | common: expected true or false
  422 | GET /performance?details=maybe | details: expected true or false
  422 | GET /performance?format=csv&table=holdings | table: expected curve, returns, trades, actions, style or figures
  422 | GET /comparison?models=alpha,stranger | models: no job has run stranger; GET /models lists the models
  422 | GET /comparison?models=alpha,,beta | models: expected names separated by commas
  422 | GET /comparison?against=delta | against: no job has run delta; GET /models lists the models
  422 | GET /comparison?curves=true&models=alpha | curves: expected 2 to 4 models, not 1; name those to compare in models
  422 | GET /comparison?curves=true&models=alpha,beta,gamma,hold,short | curves: expected 2 to 4 models, not 5; …
  404 | GET /comparison?job_id=stranger | Job stranger not found
  404 | GET /comparison?benchmark=NONE | There are no prices of NONE…
  422 | GET /comparison?confidence=1  | confidence: expected a number from 0.0001 to 0.9999
  422 | GET /comparison?looks=weekly  | looks: expected once or daily
  422 | GET /comparison?looks=daily&confidence=0.4 | confidence: expected at least 0.5 with looks=daily, not 0.4
  422 | GET /comparison?align=weekday | align: expected date or number
  422 | GET /comparison?table=leader  | table: expected models or pairs
  422 | GET /comparison?model=alpha   | model: unknown query parameter…
  422 | GET /comparison?start_date=2025-02-30 | start_date: Invalid date…
`);

const many = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));

/** Bodies of a trigger, as long as they may be or longer; the detail stays short. */
const large: [body: string, status: number, detail: RegExp][] = [
  [`{"end_date":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, 422, /^end_date: [^]{1,300}$/],
  [`{"end_date":[${'{"a":1},'.repeat(16_000)}1]}`, 422, /^end_date: [^]{1,300}$/],
  [
    `{"end_date":"2025-11-10","models":[${'1,'.repeat(65_000)}1]}`,
    422,
    /^models\[0\]: expected a string; .*models\[19\]: expected a string; and 649\d\d more$/,
  ],
  [`{${many(11_000, (index) => `"k${index}":1`)}}`, 422, /^[^]{1,2000}$/],
  [`[${'1,'.repeat(65_000)}1]`, 422, like('body: expected a JSON object')],
  [
    JSON.stringify({ end_date: '2025-11-10', models: ['x'.repeat(130_000)] }),
    422,
    like('models[0]: must not be longer than 200 characters'),
  ],
  [
    JSON.stringify({ end_date: '2025-11-10', models: many(2_001, (index) => `m${index}`) }),
    422,
    like('models: at most 2000 models'),
  ],
  [`"${'x'.repeat(1_100_000)}"`, 413, /larger than 131072 bytes/],
  ['', 400, /not valid JSON/],
];

const JSON_TYPE = { 'content-type': 'application/json' };
const headers: [headers: Record<string, string>, detail: string][] = [
  [{ 'content-type': 'text/plain' }, '…Content-Type must be application/json, got text/plain…'],
  [{ 'content-type': 'application/x-www-form-urlencoded' }, '…Content-Type must be…'],
  [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, '…not be compressed, got Content-Encoding gzip'],
];

test('what is refused, and the sentence that says what is wrong', async (t) => {
  const service = await startTestService(t);
  const runs = ['alpha', 'beta', 'gamma', 'hold', 'short'].map((run) => [run, { returns: [0, 0] }]);
  insertReturns(service.database, {
    dates: weekdays('2025-06-02', '2025-06-03'),
    runs: Object.fromEntries(runs),
  });
  const check = async (path: string, init: RequestInit, status: number, detail: RegExp) => {
    const what = `${init.method} ${path} ${String(init.body ?? '').slice(0, 80)}`;
    const response = await fetch(service.url + path, init);
    const body = (await response.json()) as { detail: string };
    assert.equal(response.status, status, `${what}: ${body.detail}`);
    assert.match(body.detail, detail, what);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const rest = path.startsWith('/results') ? {} : DEPLOYMENT;
    assert.deepEqual({ ...body, detail: '' }, { detail: '', ...rest }, what);
    if (status === 405) assert.match(String(response.headers.get('allow')), /GET, HEAD|POST/);
  };
  const trigger = (body: string, own = JSON_TYPE) => ({ method: 'POST', headers: own, body });
  for (const [status, request, detail] of refusals) {
    const [, method, path = ''] = /^([A-Z]+) (\S+)$/.exec(request) ?? [];
    const isTrigger = method === undefined || method === 'POST';
    const init = isTrigger ? trigger(method ? '{"end_date":"2025-11-10"}' : request) : { method };
    await check(path || '/simulate/trigger', init, Number(status), like(detail));
  }
  for (const [body, ...expected] of large)
    await check('/simulate/trigger', trigger(body), ...expected);
  for (const [own, detail] of headers)
    await check('/simulate/trigger', trigger('{}', own as never), 415, like(detail));
  const names = many(51, (index) => `model-${index}`).join();
  const tooMany = like('models: expected at most 50 models, not 51; …');
  await check(`/comparison?models=${names}`, { method: 'GET' }, 422, tooMany);
  const long = `/search?q=${'a'.repeat(201)}`;
  await check(long, { method: 'GET' }, 422, like('q: expected at most 200 characters'));
});
