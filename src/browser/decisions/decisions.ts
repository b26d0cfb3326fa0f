import { modelDayPath, modelPath } from '../../page-paths.ts';
import { link, section } from '../parts/blocks.ts';
import { h, replace } from '../parts/element.ts';
import { count } from '../parts/format.ts';
import { type Page, heading } from '../parts/page.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import { getModels } from '../service/requests.ts';
import type { KnownModels } from '../service/responses.ts';

type Known = KnownModels['models'][number];

/** What the models decided: each with its latest day, where its conversation and its orders are. */
export const showDecisions: Page = async (host, _params, signal) => {
  const content = h('div.stack');
  replace(host, heading('Decisions'), content);
  const { models } = await getModels(signal);
  const rows = models.filter(({ completed_model_days: days }) => days > 0);
  if (rows.length === 0) return replace(content, h('p.notice', 'No model has decided anything yet.'));
  const latest = (row: Known) => row.last_completed_date;
  const columns = [
    textColumn<Known>('Model', ({ signature }) => signature, {
      isName: true,
      cell: ({ signature }) => link(modelPath(signature), signature),
    }),
    textColumn<Known>('Latest day', latest, { cell: (row) => linkToDay(row.signature, latest(row)) }),
    numberColumn<Known>('Days', (row) => row.completed_model_days, count),
  ];
  replace(content, section('Latest decisions', table({ caption: 'The latest day of each model', rows, columns })));
};

function linkToDay(model: string, date: string | null): HTMLElement | null {
  return date === null ? null : link(modelDayPath(model, date), date);
}
