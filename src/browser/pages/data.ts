import { get } from '../api.ts';
import { h, replace } from '../element.ts';
import { count } from '../format.ts';
import type { Coverage, DocumentCoverage } from '../responses.ts';
import { heading, type Page } from '../router.ts';
import { dateColumn, nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { section } from '../ui.ts';

/** What is stored that models trade by: prices, and documents. */
export const showData: Page = async (host, _params, signal) => {
  const content = h('div.stack');
  replace(host, heading('Data'), content);
  const [{ symbols }, { coverage }] = await Promise.all([
    get('/prices/coverage', '', signal),
    get('/documents/coverage', '', signal),
  ]);
  replace(content, section('Prices', prices(symbols)), section('Documents', documents(coverage)));
};

function prices(rows: readonly Coverage[]): HTMLElement {
  const weekdays = ({ gaps }: Coverage) => gaps.reduce((sum, gap) => sum + gap.weekdays, 0);
  return table<Coverage>({
    caption: 'Stored prices',
    rows,
    none: 'No prices are stored.',
    columns: [
      nameColumn('Symbol', 'symbol'),
      textColumn('Source', 'source'),
      dateColumn('First', 'first_bar'),
      dateColumn('Last', 'last_bar'),
      numberColumn('Missing weekdays', weekdays, count),
      numberColumn('Dividends', ({ dividends }) => dividends.count, count),
    ],
  });
}

function documents(rows: readonly DocumentCoverage[]): HTMLElement {
  return table<DocumentCoverage>({
    caption: 'Stored documents',
    rows,
    none: 'No documents are stored.',
    columns: [
      nameColumn('Kind', 'kind'),
      textColumn('Symbol', ({ symbol }) => symbol ?? 'of all'),
      numberColumn('Documents', 'documents', count),
      dateColumn('First', 'first_date'),
      dateColumn('Last', 'last_date'),
    ],
  });
}
