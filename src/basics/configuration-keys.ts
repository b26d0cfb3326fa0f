import { configurationSchema } from './configuration-schema.ts';
import { asArray, asObject } from './json.ts';
import { hint, list } from './sentences.ts';
import { quote } from './text.ts';

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

/** People's comments. */
const COMMENT = /^([_$]|comment$)/;
/** Keys that the warning names: each of thousands of entries may have one. */
const MAX_NAMED = 10;

/** The parts of a Valibot schema that lead to the keys below it. */
interface Shape {
  kind: string;
  entries?: Readonly<Record<string, Shape>>;
  item?: Shape;
  wrapped?: Shape;
  pipe?: readonly Shape[];
}

/**
 * A warning of the keys in a configuration's file that no program reads, each with its place and
 * the known key that it resembles; none when there are none.
 */
export function warnOfUnknownKeys(content: unknown): string[] {
  const unknown = [...unknownKeys(content, '', configurationSchema)];
  const named = unknown
    .slice(0, MAX_NAMED)
    .map(({ path, key, known }) => `${path}.${quote(key)}${hint(key, known)}`.slice(1));
  if (named.length === 0) return [];
  const keys = list(named, { total: unknown.length });
  return [`Unknown keys in the configuration are ignored: ${keys}`];
}

function* unknownKeys(
  value: unknown,
  path: string,
  shape: Shape | undefined,
): Generator<{ path: string; key: string; known: readonly string[] }> {
  const { entries = {}, item } = insideOf(shape) ?? {};
  for (const [index, part] of asArray(value)?.entries() ?? [])
    yield* unknownKeys(part, `${path}[${index}]`, item);
  const ofFamily = familyKeys[path.replace(/\[\d+\]/g, '[]')];
  const known = [...Object.keys(entries), ...(ofFamily?.split(/\s+/) ?? [])];
  if (known.length === 0) return;
  for (const [key, part] of Object.entries(asObject(value) ?? {}))
    if (known.includes(key)) yield* unknownKeys(part, `${path}.${key}`, entries[key]);
    else if (!COMMENT.test(key)) yield { path, key, known };
}

/** The schema of an object or a list, without those around it that wrap or check it. */
function insideOf(shape: Shape | undefined): Shape | undefined {
  if (shape?.entries || shape?.item) return shape;
  return shape?.wrapped ? insideOf(shape.wrapped) : shape?.pipe?.find(({ entries }) => entries);
}
