import { checkDates, WrongUsage, findDatabase } from '#commands/arguments.ts';
import { plural } from '#text/sentences.ts';
import type { Application } from '#http/application.ts';
import { builtPages } from '../pages/built-pages.ts';
import { formatSize, writeWithProgress } from '#commands/terminal.ts';
import { readSettings } from '#settings/settings.ts';
import { forTerminal, findUnprintable } from '#text/text.ts';
import { publishSite as publishTo } from './publish.ts';

type Names = 'job' | 'study' | 'models' | 'start' | 'end' | 'title' | 'url' | 'chromium';
interface PublishArguments extends Record<Names, string | undefined> {
  'without-conversations': boolean;
}

/** The command `publish DIR`: writes a site. 0 when it is complete, otherwise 1. */
export async function publish(
  folder: string,
  given: PublishArguments,
  { routes }: Application,
): Promise<number> {
  const { job, study, models, start, end, url, chromium, title = 'Trading Simulation' } = given;
  checkDates({ start, end });
  const found = findUnprintable(title);
  if (found !== null) throw new WrongUsage(`--title: must not contain ${found}`);
  if (url !== undefined && !/^https?:\/\/[^/]+\/[^\p{C}\s]*$/u.test(url))
    throw new WrongUsage(`--url: expected a URL such as https://example.org/trading/, not ${url}`);
  const publication = {
    title,
    jobId: job,
    study,
    models: models?.split(',').map((name) => name.trim()) ?? [],
    startDate: start,
    endDate: end,
    withConversations: !given['without-conversations'],
    url: url?.replace(/\/?$/, '/') ?? '',
    chromium,
  };
  const settings = readSettings(process.env);
  const path = findDatabase(settings);
  return writeWithProgress(folder, async (watched) => {
    const from = { path, folder, settings, pages: builtPages(), routes };
    const { files, bytes, changed, removed } = await publishTo(from, publication, watched);
    return (
      `${forTerminal(folder)}: ${plural(files, 'file')}, ${formatSize(bytes)}; ` +
      `${plural(changed, 'file')} changed, ${plural(removed, 'file')} removed\n`
    );
  });
}
