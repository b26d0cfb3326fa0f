import * as v from 'valibot';

const TRUE_WORDS = ['true', '1', 'yes', 'on', 't', 'y'];
const FALSE_WORDS = ['false', '0', 'no', 'off', 'f', 'n'];

/**
 * True or false as text, in the words of environment variables and of clients in several languages,
 * in either case.
 */
export function flag(message: v.ErrorMessage<v.PicklistIssue>) {
  return v.pipe(
    v.string(),
    v.toLowerCase(),
    v.picklist([...TRUE_WORDS, ...FALSE_WORDS], message),
    v.transform((word) => TRUE_WORDS.includes(word)),
    v.boolean(),
  );
}
