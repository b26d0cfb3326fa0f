/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /\/documents|import-documents|\$ --help/, why: 'documents are imported and shown' },
  { where: /openapi\.json/, why: 'documents, and universes as of a date' },
  { where: /package\.db/, part: /all \d+ tables/g, why: 'documents have four tables' },
  { where: /GET \/jobs\?limit=200 \(2\)/, why: 'a sweep asks for an id of a document too' },
  {
    where: /\/simulate\/status|GET \/reasoning/,
    part: /"(list|read)_documents?",?|\\n\\nDocuments published before this morning[^\\]*/g,
    why: 'a job with documents offers them',
  },
];
