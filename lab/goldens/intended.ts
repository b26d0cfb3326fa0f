/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  {
    where: /\/decisions\b|data\/decisions/,
    why: 'a malformed call is a decision of its own kind, without side, symbol and amount (54, 2.6)',
  },
  {
    where: /openapi\.json/,
    why: '54: kinds, codes, documents of a session, schemas of tools; 55, part 3: examples, histogram',
  },
  {
    where: /(\/|data\/)(performance|comparison)\b/,
    why:
      'who is left out, least lead, order by return (54, 2.1, 2.2, 2.7); no selection, exact curves of entries (2.8, 2.19); ' +
      'what refused_orders counts (2.6); fewer stale days, so more model-days have figures (2.17); CSV (2.13); ' +
      'no histogram and rolling figures (55, part 3)',
  },
  {
    where: /\/audit\b|\$ check/,
    why: 'a replacement that closes as before makes no day stale (54, 2.17)',
  },
  {
    where: /\/simulate\/|data\/simulate|\/jobs\b|data\/jobs|\$ (trigger|watch|status|live)/,
    why: 'a warning of unknown dividends; fewer stale days in the warnings (54, 2.17)',
  },
  {
    where: /\/reasoning|model-days\//,
    part: /"documents":(null|\[[^\]]*\]),|,"fault":(null|"\w+")/g,
    why: '54, 2.5: which versions a session was shown; 1.2: what is wrong with an answer',
  },
  {
    where: /\/documents\//,
    part: /as_of is required and cannot be null or empty|expected either as_of or version/g,
    why: '54, 2.5: a version, or the morning',
  },
  {
    where: /(GET|HEAD) \/(jobs|decisions)(\?| |$)/,
    part: /(?<=^vary: Accept-Encoding)(, Accept)?$/m,
    why: '54, 2.13: they answer in CSV too',
  },
  { where: /\/(jobs|decisions)\?.*(format=|nonsense|text\/csv)/, why: '54, 2.13: CSV of them' },
  { where: /table=(trades|actions).*csv/, why: '54, 2.13: the column entry' },
  { where: /table=(figures|nonsense)/, why: '54, 2.13: the table of figures' },
  {
    where: /import-prices .*missing\.csv/,
    part: /(?<=Cannot import missing\.csv: ).*/,
    why: '54, 2.14: a sentence instead of ENOENT',
  },
  { where: /by=entry.*format=csv/, why: '54, 2.13: the curves of entries' },
];
