const STEPS_PER_DAY = 3;

/**
 * What a model of the benches answers in a step of its day, from 1: it looks at prices and buys,
 * and in its last step ends the day.
 */
export function answerOf(step: number): object {
  const calls = [
    ['get_price_history', '{"symbol":"AAPL","days":30}'],
    ['buy', '{"symbol":"AAPL","amount":1}'],
  ].map(([name, args], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message =
    step < STEPS_PER_DAY
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: 'I bought a little.' };
  return {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3_000, completion_tokens: 50 },
  };
}
