import type { CalendarDate } from '../calendar.ts';
import { baselineOf } from '../configuration-schema.ts';
import { parseAgentConfiguration, universeOf } from '../configuration.ts';
import type { Database } from '../database/database.ts';
import { storedRequests } from '../database/records/returns.ts';
import { askedHash, decodeEntry } from '../entry.ts';
import { isDeterministic } from '../repeats.ts';

/** What a run was asked in a job, as far as it is stored. */
export interface Asked {
  /** Equal where the job's terms do not differ in anything that can change what a model does. */
  terms: string;
  /** The same of entry and terms. */
  way: string;
  universe: readonly string[];
  knowledgeCutoff: CalendarDate | null;
  /** Whether all runs of the entry would be the same. */
  isDeterministic: boolean;
}

/** What a run was asked in some jobs, by job. */
export type AskedReader = (run: string, jobIds: Iterable<string>) => ReadonlyMap<string, Asked>;

/** Reads each combination of entry and terms once. */
export function createAskedReader(database: Database): AskedReader {
  const known = new Map<string, Asked>();
  return (run, jobIds) =>
    new Map(
      storedRequests(database, run, jobIds).map(([jobId, entry, agentConfig]) => {
        const key = `${entry} ${agentConfig}`;
        const asked = known.get(key) ?? readAsked(entry, agentConfig);
        known.set(key, asked);
        return [jobId, asked];
      }),
    );
}

function readAsked(storedEntry: string, agentConfig: string): Asked {
  const entry = decodeEntry(storedEntry);
  const configuration = parseAgentConfiguration(agentConfig);
  const baseline = baselineOf(entry);
  return {
    terms: askedHash(null, configuration),
    way: askedHash(entry, configuration),
    universe: universeOf(configuration),
    knowledgeCutoff: entry.knowledge_cutoff,
    isDeterministic: baseline !== null && isDeterministic(baseline),
  };
}
