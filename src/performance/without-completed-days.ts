import { countActiveDays } from '../database/chosen.ts';
import { count } from '../sentences.ts';
import type { Choice } from './choice.ts';
import type { LeftOutModel } from './common-dates.ts';

/**
 * The models, all or only the named ones, with failed model-days that match the filters and no
 * completed one. They have no figures; a response that did not list them would hide them. `failed`
 * counts the failed model-days by model.
 */
export function modelsWithoutCompletedDays(
  { database, filters }: Choice,
  failed: ReadonlyMap<string, number>,
  named: readonly string[] | undefined,
): LeftOutModel[] {
  const models: LeftOutModel[] = [];
  for (const [model, failures] of [...failed].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (
      failures === 0 ||
      named?.includes(model) === false ||
      countActiveDays(database, model, filters) > 0
    )
      continue;
    models.push({
      model,
      reason: `${count(failures, 'model-day')} failed, and none was completed`,
    });
  }
  return models;
}
