// Prints the main figures of GET /comparison, rounded to four decimals:
// node examples/compare.mjs 'models=gpt-5-notes&against=gpt-5'
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();
const { API_URL, API_PORT = '8080', API_TOKEN } = process.env;
const service = API_URL ?? `http://localhost:${API_PORT}`;
const response = await fetch(`${service}/comparison?${process.argv[2] ?? ''}`, {
  headers: API_TOKEN ? { authorization: `Bearer ${API_TOKEN}` } : {},
});
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
const { days, left_out, models, pairs } = await response.json();

const rounded = (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value);
const print = (figures) => console.log(JSON.stringify(figures, rounded));

print({ days, left_out: left_out.length });
for (const { model, total_return, interval, probability_best } of models)
  print({ model, total_return, interval, probability_best });
for (const { sentence, p_value, p_value_holm, variance_share_of_runs } of pairs) {
  console.log(sentence);
  print({ p_value, p_value_holm, variance_share_of_runs });
}
