/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /openapi\.json/, why: '54, 2.1 and 2.8: marks of compared models; no selection' },
  {
    where: /\/comparison/,
    why: '54, 2.1, 2.2 and 2.7: who is left out, the least lead, the order by return',
  },
  {
    where: /\/performance/,
    why: '54, 2.8 and 2.19: no selection, alpha in words, exact curves of entries',
  },
];
