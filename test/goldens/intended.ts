/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  {
    where: /\/simulate\/status|GET \/jobs|jobs\.json/,
    part: /,\s*"cancelled": ?\d+/g,
    why: 'progress counts what a cancellation left',
  },
  { where: /model=unknown/, why: 'a model that no job has run is refused' },
  {
    where: /performance/,
    part: /\s*"left_out_factors": ?\[\],/g,
    why: 'style names the factors that it leaves out',
  },
  { where: /openapi\.json/, why: 'both, and the statuses of /day' },
  { where: /prod: \$ serve/, why: 'a start in PROD says that any client may do everything' },
  { where: /\$ (import-factors|trigger)/, why: 'units, --remove, the id of the job' },
];
