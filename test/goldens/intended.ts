/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /days=clean/, why: 'move 1: one rule of clean days' },
  { where: /--help|import-factors/, why: 'words of the issue before' },
  {
    where: /\/?simulate\/(status|trigger)|GET \/jobs|jobs\.json/,
    part: /,\s*"warning_codes": ?(null|\[[^\]]*\])/g,
    why: 'move 6: codes beside the sentences',
  },
  { where: /openapi\.json/, why: 'move 6: warning_codes, and the code of an error' },
];
