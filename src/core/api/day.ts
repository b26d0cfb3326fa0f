import * as v from 'valibot';
import { ServiceError } from '#domain/service-error.ts';
import type { AgentDay } from '#trading/agent-days.ts';
import { MAX_DECISION_REASON_LENGTH, tradingDecision } from '#trading/decision.ts';
import { weightsSchema } from '#trading/tool-arguments.ts';
import { toolRefusal, toolResults } from '#trading/tool-results.ts';
import type { Context } from './handler.ts';
import { dateText, figure, named, namedRecord, timestampText } from './schemas.ts';
import { BAD_BODY, route } from './route.ts';

/** The tools of a model-day over HTTP, for the agent that trades on it. */

const limit = v.nullish(v.number());

/** What the agent was sent: docs/guides/your-own-agent.md has its fields. */
export const dayResponse = named('AgentDay', {
  signature: v.string(),
  run: v.string(),
  date: dateText,
  system: v.string(),
  report: v.string(),
  currency: v.optional(v.string()),
  portfolio: named('AgentPortfolio', {
    cash: v.number(),
    holdings: v.array(
      named('AgentHolding', { symbol: v.string(), quantity: v.number(), price: v.number() }),
    ),
    value: v.number(),
  }),
  prices: namedRecord('AgentPrices', named('AgentPrice', { previous_close: figure, open: figure })),
  limits: named('AgentDayLimits', {
    max_weight: limit,
    min_cash: limit,
    max_orders: limit,
    max_tool_calls: v.number(),
    seconds: v.number(),
  }),
  universe: v.array(v.string()),
  day: named('DayAccess', {
    url: v.string(),
    mcp_url: v.string(),
    token: v.string(),
    expires_at: timestampText,
  }),
});

const answerEntries = {
  reason: v.pipe(
    tradingDecision.entries.reason,
    v.metadata({ maxLength: MAX_DECISION_REASON_LENGTH }),
  ),
  usage: v.nullish(namedRecord('AgentUsage', v.nullish(v.number()))),
};
/** What an agent answers, with names and bounds that models do not read. */
export const agentAnswer = v.union([
  v.pipe(
    v.strictObject({
      ...tradingDecision.entries,
      weights: v.nullish(v.pipe(weightsSchema, v.title('TargetWeights'))),
      ...answerEntries,
    }),
    v.title('TradingDecision'),
    v.description('Of `orders` and `weights` it has exactly one; the weights add up to at most 1.'),
  ),
  v.pipe(
    v.strictObject({
      done: v.pipe(v.boolean(), v.metadata({ const: true })),
      ...answerEntries,
    }),
    v.title('DayDone'),
    v.description('The day was traded through its tools.'),
  ),
]);

const toolsResponse = named('DayTools', {
  tools: v.array(
    named('DayTool', {
      name: v.string(),
      description: v.string(),
      parameters: namedRecord('ToolParameters', v.unknown()),
    }),
  ),
});
/** The arguments of a tool, which the tool itself checks. */
export const toolRequest = namedRecord('ToolArguments', v.unknown());
const { buy, sell: _asBuy, ...others } = toolResults;
const shapes = Object.entries(toolResults).map(([name, schema]) => {
  const options = 'options' in schema ? schema.options : [schema];
  return `${name}: ${options.map((one) => v.getTitle(one)).join(' or ')}`;
});
/** Result of a tool call, as a model reads it. */
export const toolResponse = v.pipe(
  v.union([...buy.options, ...Object.values(others), toolRefusal]),
  v.description(`By tool: ${shapes.join(', ')}; or ToolRefusal.`),
);

function findAgentDay({ agentDays }: Context, token: string | null): AgentDay {
  if (agentDays === null)
    throw new ServiceError('no_such_day', 'This service only shows a file: no model-day runs');
  return agentDays.find(token);
}

const DAY_ERRORS = {
  401: 'The token is not that of a model-day that runs.',
  409: 'The day has been decided.',
};

export const dayRoute = route({
  method: 'GET',
  path: '/day',
  tag: 'agents',
  summary: 'The day of an agent, with the portfolio as it is now.',
  response: dayResponse,
  errors: DAY_ERRORS,
  isOfDay: true,
  isDirect: true,
  handle(context, { token }) {
    return JSON.stringify(findAgentDay(context, token).body());
  },
});

export const dayToolsRoute = route({
  method: 'GET',
  path: '/day/tools',
  tag: 'agents',
  summary: 'The tools of the day: name, description, arguments as JSON Schema.',
  response: toolsResponse,
  errors: DAY_ERRORS,
  isOfDay: true,
  isDirect: true,
  handle(context, { token }) {
    const { tools } = findAgentDay(context, token);
    return JSON.stringify({ tools });
  },
});

export const callToolRoute = route({
  method: 'POST',
  path: '/day/tools/{name}',
  tag: 'agents',
  summary: 'Run a tool of the day; the body has its arguments.',
  body: toolRequest,
  response: toolResponse,
  errors: {
    ...DAY_ERRORS,
    ...BAD_BODY,
    503: 'The database cannot be written; the day begins again.',
  },
  isOfDay: true,
  handle(context, { token, params, body }) {
    return findAgentDay(context, token).call(params['name'] ?? '', body);
  },
});
