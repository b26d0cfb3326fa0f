import assert from 'node:assert/strict';
import * as v from 'valibot';
import { signatureSchema } from '#settings/configuration-schema.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { MAX_RUNS } from '#domain/runs.ts';
import { deploymentFields } from '#settings/settings.ts';
import {
  dateText,
  deploymentEntries,
  describedAsDate,
  existsInCalendar,
  integerSchema,
  invalidDate,
  named,
  nullableText,
  warningEntries,
  warningFields,
} from './schemas.ts';
import { BAD_BODY, REQUIRED, route } from './route.ts';

/** The length of an `Idempotency-Key`, of which UUIDs and hashes are far shorter, and of a name. */
const MAX_KEY_LENGTH = 200;

export const triggerRequest = v.pipe(
  v.strictObject({
    start_date: v.pipe(
      v.nullish(
        v.union(
          [v.literal(''), dateText],
          (issue) => issue.issues?.at(-1)?.message ?? issue.message,
        ),
      ),
      v.description(
        'The first date. Null, absent or empty: each model continues after its last completed date.',
      ),
    ),
    end_date: v.pipe(
      v.string((issue) => (issue.input === null ? REQUIRED : invalidDate(issue.input))),
      v.nonEmpty(REQUIRED),
      existsInCalendar,
      describedAsDate,
      v.description('The last date; both ends are included.'),
    ),
    models: v.pipe(
      v.nullish(
        v.pipe(
          v.array(signatureSchema, 'expected an array of model signatures'),
          v.maxLength(MAX_RUNS, `at most ${MAX_RUNS} models`),
        ),
      ),
      v.description(
        'Signatures, each with all its repeats, or names of single runs such as `gpt-5#2`. Null, absent or empty: the ' +
          'models that the configuration enables.',
      ),
    ),
    universe: v.pipe(
      v.nullish(signatureSchema),
      v.description(
        'A universe that the configuration names: what the models may buy. Null or absent: that of the study.',
      ),
    ),
    study: v.pipe(
      v.nullish(v.pipe(v.string('expected the name of a study'), v.maxLength(MAX_KEY_LENGTH))),
      v.description(
        'A study that the configuration names: its terms, in ledgers of its own. Null, absent or empty: the one without a name.',
      ),
    ),
    change_terms: v.pipe(
      v.nullish(v.boolean('expected true or false')),
      v.description(
        'Whether completed model-days may be replaced on other terms than theirs. Null or absent: only in the study ' +
          'without a name, with a warning.',
      ),
    ),
    terms_of: v.pipe(
      v.nullish(v.string('expected a job_id')),
      v.description(
        'A job on whose terms to run, in its study, whatever the configuration has now; without models, the models of ' +
          'that job. Not together with universe.',
      ),
    ),
    // No default in the schema, because some generators would make the field required.
    replace_existing: v.optional(
      v.pipe(
        v.boolean('expected true or false'),
        v.description(
          'Whether completed model-days are run again and replaced; false when absent.',
        ),
      ),
    ),
  }),
  v.title('TriggerRequest'),
);

const keyMessage = `must be 1 to ${MAX_KEY_LENGTH} printable ASCII characters`;

export const triggerHeaders = v.object({
  'Idempotency-Key': v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(keyMessage),
      v.maxLength(MAX_KEY_LENGTH, keyMessage),
      v.regex(/^[!-~]([ -~]*[!-~])?$/, keyMessage), // spaces at the ends are not part of a header's value
      v.description(
        'Repeating a request with the same key returns the first job and creates no second one.',
      ),
    ),
  ),
});

export const triggerResponse = named('TriggerResponse', {
  job_id: v.pipe(v.string(), v.uuid()),
  status: v.literal('pending'),
  total_model_days: integerSchema,
  message: v.string(),
  study: nullableText,
  ...deploymentEntries,
  ...warningEntries,
});

export type TriggerResponse = v.InferOutput<typeof triggerResponse>;

export const triggerRoute = route({
  method: 'POST',
  path: '/simulate/trigger',
  tool: 'start_job',
  tag: 'jobs',
  summary: 'Start a simulation job: every model on every weekday of a range.',
  body: triggerRequest,
  headers: triggerHeaders,
  response: triggerResponse,
  errors: {
    400: 'Invalid range, no models, another job is running, or the body is not JSON.',
    ...BAD_BODY,
  },
  /** A repeated `Idempotency-Key` returns its first job again. */
  async handle({ jobs, settings }, { body, headers }) {
    const request = {
      startDate: body.start_date || null,
      endDate: body.end_date,
      models: body.models ?? [],
      replaceExisting: body.replace_existing ?? false,
      universe: body.universe ?? null,
      study: body.study ?? null,
      changeTerms: body.change_terms ?? null,
      termsOf: body.terms_of || null,
    };
    if (request.termsOf !== null && request.universe !== null)
      throw invalidFilter('terms_of', 'cannot be combined with universe; the job has one');
    assert(jobs !== null, 'a view refuses whatever would change something');
    const job = await jobs.submit(request, headers['Idempotency-Key']);
    return JSON.stringify({
      job_id: job.jobId,
      status: 'pending',
      total_model_days: job.totalModelDays,
      message: job.message,
      study: job.study,
      ...deploymentFields(settings),
      ...warningFields(job.warnings.length === 0 ? null : job.warnings),
    });
  },
});
