/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /openapi\.json/, why: '54, 2.13, 2.15 and 2.18: tables, replies, decisions' },
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
