import { COMMENT } from './market-term.ts';
import * as v from 'valibot';
import { configurationSchema, signatureSchema, studySchema } from './configuration-schema.ts';
import { asArray, asObject } from '#json/json.ts';
import { hint, list, nearestName } from '#text/sentences.ts';
import { innerSchema, type Shape } from '#json/shape.ts';
import { quote } from '#text/text.ts';

/**
 * The keys in a configuration's file that no program reads, and what was probably meant by each.
 */

/**
 * What other programs of the AI-Trader family read and this one does not, by place: from their
 * public configurations, and from what their sources ask of one. Inside a block that has no line
 * here, any key may be theirs.
 */
const familyKeys: Readonly<Record<string, string>> = {
  '': `agent_type alpaca_config challenge_config cost_tracking crypto_config date_range description
    environment fusion_config instance live_config live_loop_config log_config market max_symbols mt4_mt5_config
    performance_monitoring provider risk_management schedule strategy_config top_by_24h_value trading_pairs universe
    use_today`,
  '.models[]': `alpaca_api_key alpaca_secret_key anthropic_api_key api_provider lookback_period
    max_position_pct model momentum_threshold priority stop_loss_pct strategy theme top_n_stocks use_risk_management`,
  '.agent_config': `disabled_tools max_stock_weight memory_lookback_days min_cash_ratio recursion_limit
    trading_interval verbose`,
  '.date_range': 'end_date init_date',
  '.log_config': 'log_level log_path max_log_size_mb rotate_logs save_intermediate_steps',
};

/** Keys that the warning names: each of thousands of entries may have one. */
const MAX_NAMED_KEYS = 10;

/** Where a study is, which has the keys of `agent_config` and its own. */
const STUDY = '.studies[]';
const LIMITS = ['.agent_config.limits', `${STUDY}.limits`];
/** The blocks that this program reads, by their place, with their keys. */
const ownKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ...listBlocks(configurationSchema, ''),
  ...listBlocks(studySchema, STUDY),
]);

function* listBlocks(
  shape: Shape | undefined,
  block: string,
): Generator<[block: string, keys: readonly string[]]> {
  const { entries = {}, item } = innerSchema(shape) ?? {};
  const keys = Object.keys(entries);
  if (keys.length > 0) yield [block, keys];
  if (item) yield* listBlocks(item, `${block}[]`);
  for (const key of keys) yield* listBlocks(entries[key], `${block}.${key}`);
}

interface UnknownKey {
  key: string;
  /** The block that it is in, as `familyKeys` names it: `.models[]`. */
  block: string;
  /** Where it is, for a reader. */
  place: string;
}

/**
 * A warning of the keys in a configuration that no program reads, each with its place and what was
 * probably meant; none without any. A limit among them is a problem: who sets one relies on it.
 */
export function checkUnknownKeys(content: unknown): { warnings: string[]; problems: string[] } {
  const unknown = [...findUnknownKeys(content)];
  const withAdvice = (words: string) => (one: UnknownKey) => one.place + words + keyAdvice(one);
  const keys = list(unknown.slice(0, MAX_NAMED_KEYS).map(withAdvice('')), {
    total: unknown.length,
  });
  const warning = `Unknown keys in the configuration are ignored: ${keys}`;
  const problems = unknown.filter(isLimit).map(withAdvice(': sets no limit'));
  return { warnings: unknown.length === 0 ? [] : [warning], problems };
}

function* findUnknownKeys(value: unknown, place = '', block = ''): Generator<UnknownKey> {
  for (const [index, part] of asArray(value)?.entries() ?? [])
    yield* findUnknownKeys(part, `${place}${itemKey(index, part)}`, `${block}[]`);
  if (block === '.studies')
    for (const [name, part] of Object.entries(asObject(value) ?? {}))
      yield* findUnknownKeys(part, `${place}.${name}`, STUDY);
  const known = blockKeys(block);
  if (known.length === 0) return;
  for (const [key, part] of Object.entries(asObject(value) ?? {}))
    if (known.includes(key)) yield* findUnknownKeys(part, `${place}.${key}`, `${block}.${key}`);
    else if (!COMMENT.test(key)) yield { key, block, place: `${place}.${quote(key)}`.slice(1) };
}

/** Which one of a list: an entry by its signature, anything else by its index. */
export function itemKey(index: number, one: unknown): string {
  const signature = asObject(one)?.['signature'];
  return `[${v.is(signatureSchema, signature) ? `'${signature}'` : index}]`;
}

/** The keys that some program reads in a block. */
function blockKeys(block: string): string[] {
  return [...(ownKeys.get(block) ?? []), ...(familyKeys[block]?.split(/\s+/) ?? [])];
}

/** The blocks in which this program reads a key; those of a study are said of `agent_config`. */
function findBlocks(key: string): string[] {
  return [...ownKeys].flatMap(([block, keys]) =>
    keys.includes(key) && !block.startsWith(STUDY) ? block : [],
  );
}

/** Whether a key was to be a limit, or the block of them. */
function isLimit({ key, block }: UnknownKey): boolean {
  if (key === 'limits' || [block, ...findBlocks(key)].some((one) => LIMITS.includes(one)))
    return true;
  return limitNames().includes(nearestName(key, [...blockKeys(block), ...limitNames()]) ?? '');
}

const limitNames = () => ['limits', ...blockKeys('.agent_config.limits')];

/** ` (...)` with where a key belongs or what was probably meant; empty where neither is known. */
function keyAdvice({ key, block }: UnknownKey): string {
  const homes = findBlocks(key);
  const places = homes.map((home) => (home === '' ? 'the top level' : `\`${home.slice(1)}\``));
  const ofJob = homes.every((home) => home.startsWith('.agent_config'));
  const rest = ofJob ? ' and holds for the whole job' : '';
  if (homes.length > 0) return ` (\`${key}\` belongs to ${places.join(' or ')}${rest})`;
  const otherwise = LIMITS.includes(block) ? ` (the limits are ${list(blockKeys(block))})` : '';
  return hint(key, [...blockKeys(block), ...limitNames()]) || otherwise;
}
