import type { BenchOptions, Measurement } from './support.ts';
import { measureWaitingChildren } from './waiting-children.ts';

const WAITING = { children: Number(process.env['CHILDREN'] ?? 50), thinkingMs: 10_000 };

/**
 * Status while fifty children wait for slow models, and what they cost, without TLS and with it.
 */
export async function* measureWaiting(options: BenchOptions): AsyncGenerator<Measurement> {
  for (const tls of [false, true]) yield* measureWaitingChildren({ ...WAITING, tls, ...options });
}
