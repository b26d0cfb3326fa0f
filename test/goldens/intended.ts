/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  {
    where: /./,
    part: /\s*("agent": ?null|"decision": ?"tools"|"?rebalance"?|"outside": ?\[\]|"confidence": ?null),?/g,
    why: 'an entry may be an agent or answer once; a tool more; what is outside is marked',
  },
  {
    where: /\/decisions|file \w+\/data\/decisions/,
    part: /"(id|next_before)": ?"\d+(:\d+)*"/g,
    why: 'several orders of one call have ids of their own',
  },
  { where: /GET \/openapi\.json/, why: 'the days of agents, and decisions' },
  { where: /GET \/models|data\/models\.json/, why: 'an entry may be an agent or answer once' },
  { where: /\/day\b/, why: 'the days of agents' },
  { where: /before=\d+%3A\d+/, why: 'a page after a decision, by its id' },
];
