import { asObject, asText, repeatedName, tryParse } from '#json/json.ts';
import { cutText } from '#text/text.ts';
import { MAX_SERVED_LENGTH } from '#wire/protocol.ts';
import { readUsage } from './answer.ts';
import { type Dialect, boundedJson } from './dialect.ts';

/**
 * An agent of the user's: it gets the day in one request, and answers with a decision.
 * docs/guides/your-own-agent.md has the contract.
 */
export const agent: Dialect = {
  path: (base) => base,
  body({ conversation, parameters }) {
    const day = asObject(tryParse(conversation.at(-1)?.content ?? '')) ?? {};
    return { ...day, ...parameters };
  },
  read({ usage: reported, ...decision }, _step, headers = {}, text = '') {
    const { usage, note } = readUsage(reported, 'cost_usd');
    const version = asText(headers['agent-version']);
    return {
      // A key that stands twice is refused where decisions are read.
      content: repeatedName(text) === undefined ? boundedJson(decision) : text,
      toolCalls: [],
      reasoning: null,
      usage,
      note,
      served: version === undefined ? null : { model: cutText(version, MAX_SERVED_LENGTH) },
    };
  },
  assemble() {
    throw new Error('agents are not asked for streams');
  },
};
