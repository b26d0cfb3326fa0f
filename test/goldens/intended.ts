/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason. A row that finds no difference is an error, so that the list
 * never outlives its reasons.
 */
export const intended: readonly { where: RegExp; why: string }[] = [
  {
    where: /\$ check --replay package\.db/,
    why: 'a package has the table of decisions (7 of the house)',
  },
];
