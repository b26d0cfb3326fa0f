/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /openapi\.json/, why: '54, 2.5: the version of a document; the documents of a session' },
  {
    where: /\/reasoning|model-days\//,
    part: /"documents":(null|\[[^\]]*\]),/g,
    why: '54, 2.5: which versions a session was shown',
  },
  {
    where: /\/documents\//,
    part: /as_of is required and cannot be null or empty|expected either as_of or version/g,
    why: '54, 2.5: a version, or the morning',
  },
];
