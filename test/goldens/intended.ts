/**
 * The differences that are meant to be: whatever a row's `where` finds among the requests and
 * commands may differ, for its reason; with a `part`, only in what that finds in the answer. A row
 * that finds no difference is an error, so that the list never outlives its reasons.
 */
export const intended: readonly { where: RegExp; part?: RegExp; why: string }[] = [
  { where: /GET \/audit/, why: 'it plays model-days again, and takes job_id and model (1)' },
  { where: /\$ check|\$ view package\.db/, why: 'it plays model-days again (1)' },
  {
    where: /GET \/openapi\.json/,
    why: 'what /audit takes, and words on the days that count (1, 8)',
  },
  {
    where: /GET \/performance\?(.*&)?common=true/,
    why: 'by run, too, the days that models share are those of a comparison (8)',
  },
  { where: /\$ serve, until SIGTERM/, why: 'a restart is noted when the job is resumed (6)' },
  { where: /\$ restore --help/, why: 'a restore is a rename (10)' },
  { where: /\$ --licenses/, why: 'plots are drawn without a library (14)' },
  {
    where: /\$ (--help|help check)|\$ [a-z-]+ --help/,
    why: 'help texts of a screen each; results is gone, check plays again (1, 22)',
  },
  {
    where: /(GET |file \w+\/data\/)\/?performance/,
    part: /,"units":\{[^}]*\}/,
    why: 'the units of figures, for the pages (15)',
  },
  {
    where: /file \w+\/data\/(holdings|decisions,kind=failure),model=|\$ publish /,
    why: 'the model page asks for neither holdings nor failures (15)',
  },
  { where: /\$ import-prices /, why: 'the sentences of one reader of tables (19)' },
  {
    where: /\/simulate\/status\/|file \w+\/data\/simulate,status/,
    part: /"open":"shown","limits":null,/,
    why: 'the terms of a job say whether its open is hidden, and its limits',
  },
  { where: /\$ demo/, why: 'refused orders are those of /performance (22)' },
];
