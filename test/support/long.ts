/** Whether the long forms of the tests run: `npm run test:long`. */
export const isLong = process.env['LONG_TESTS'] === '1';

/** Whether what the services of tests leave behind is replayed. */
export const isReplayed = isLong || process.env['REPLAY_TESTS'] === '1';

/** How often to do something in `npm test`, and in `npm run test:long`. */
export function runs(short: number, long: number): number {
  return isLong ? long : short;
}

/** Why a test that takes long is left out of `npm test`; false in `npm run test:long`. */
export const leftToLongForm: string | false = isLong ? false : 'part of npm run test:long';

/** For a test that is too expensive for `npm test`. */
export const inLongForm = { skip: leftToLongForm };
