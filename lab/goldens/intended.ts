/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [];
