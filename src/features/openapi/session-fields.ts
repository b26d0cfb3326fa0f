/** Fields of positions, sessions and decisions, and of the day of an agent. The build reads them. */
export const sessionFields: Readonly<Record<string, string>> = {
  // Positions.
  results: 'The positions, by date, model and action.',
  'NewsFound.results': 'The articles that were published before the session.',
  id: 'The id of the document.',
  'ResultsRecord.id': 'The id of the position in the database.',
  'Served.id': 'The provider’s id of the answer.',
  'Decision.id': 'The id of the decision, for `before`.',
  'McpMessage.id': 'The id of the request, which the response repeats; absent in a notification.',
  action_id: 'The number of the action on its model-day, from 1.',
  action_type:
    'The action: an order (`buy`, `sell`), a `split`, a `dividend`, an `exchange` and what was `received` in it, or `no_trade`.',
  amount:
    'Shares: of an order those traded, of a split those added (below 0: removed), of a dividend those that it was ' +
    'paid on, of an exchange those that left or were received; null for `no_trade`.',
  'Decision.amount':
    'Shares, as ordered. A refused order may name any number; null without an order.',
  'ExecutedOrder.amount': 'Shares that were traded.',
  'PlacedOrder.amount': 'Shares of the order.',
  'RefusedOrder.amount': 'Shares of the order; absent when it names none.',
  'WaitingOrder.amount': 'Shares of the order.',
  'DecisionOrder.amount': 'Whole shares, as a number or as digits in text.',
  'ResultsRecord.symbol': 'The ticker symbol; null for `no_trade`.',
  'PositionSummary.symbol': 'The ticker symbol; null for `no_trade`.',
  'ResultsRecord.price':
    'The fill price; of a dividend or an exchange the cash per share, of a split or what was received the price of a fraction; ' +
    'null without one.',
  'PositionSummary.price':
    'The fill price; of a dividend or an exchange the cash per share, of a split or what was received the price of a fraction; ' +
    'null without one.',
  'Decision.price': 'The price at which the order filled; null when it did not.',
  'ValuedHolding.price':
    'The price at which the ledger valued a share at the close; null without a price.',
  'ExecutedOrder.price': 'The price at which the order filled, slippage included.',
  cash: 'Cash.',
  'ResultsRecord.cash': 'Cash after the action.',
  'ExecutedOrder.cash': 'Cash after the order.',
  'RebalanceResult.cash':
    'Cash after the orders; absent with a hidden open, where `cash_left` replaces it.',
  cash_after: 'Cash after the action.',
  portfolio_value: 'Cash and holdings.',
  'ResultsRecord.portfolio_value':
    'Cash and holdings after the action, at the prices of the day’s close.',
  'PositionSummary.portfolio_value':
    'Cash and holdings after the action, at the prices of the day’s close.',
  'OpeningPortfolio.portfolio_value': 'Cash and holdings at that close.',
  'Model.portfolio_value':
    'Cash and holdings at the close of its last completed date; null before the first.',
  daily_profit:
    'Value after the action minus the closing value of the day that this one started from.',
  daily_return_pct:
    '`daily_profit` in percent of that closing value: 1 is 1 %. Null when that value was 0.',
  holdings: 'The shares that are held.',
  'ResultsRecord.holdings': 'The shares that are held after the action, by symbol.',
  'DayHoldings.holdings': 'The shares that are held at the close, the largest value first.',
  quantity: 'Shares.',

  // Sessions.
  sessions: 'The trading sessions, by date and model.',
  session_id: 'The id of the trading session.',
  'Decision.session_id':
    'The id of the trading session; null when the model-day failed before it began.',
  'AuditFinding.session_id': 'The id of the trading session; null when there is none.',
  session_summary: 'What the model said last; null until the session has completed.',
  confidence: 'How sure the model was, from 0 to 1; null unless its decision says so.',
  'ComparisonResponse.confidence': 'The confidence of the intervals, such as 0.95.',
  'TradingDecision.confidence': 'How sure the agent is, from 0 to 1; may be left out.',
  note: 'The note that the model keeps, at the end of the day; null without one.',
  total_messages: 'How many messages the conversation has so far.',
  previous_date: 'The model’s completed model-day before this one; null without one.',
  next_date: 'The model’s completed model-day after this one; null without one.',
  opening:
    'The portfolio that the session started from; null unless `include_full_conversation=true`.',
  'OpeningPortfolio.date':
    'The date of the close that it started from; null when it started from the initial cash.',
  positions: 'The positions of the session, one for each action.',
  'AuditCounts.positions': 'Positions that were computed again.',
  conversation: 'The messages, in order; null unless `include_full_conversation=true`.',
  title: 'The title.',
  version: 'The version that the session read, by its `published_at`.',
  latest_version:
    'The newest version that is stored now. When it differs, the document has been corrected since.',
  message_index: 'The place of the message in the conversation, from 0.',
  'Decision.message_index':
    'The message with the result of the order or call, or with the last words of a day; null without one.',
  role: 'Who speaks: the service (`system`, `user`), the model (`assistant`) or a `tool`.',
  content: 'The text of the message.',
  summary: 'The model’s reasoning that came with the answer; null without any.',
  tool_name: 'The tool whose result this is; null for other messages.',
  tool_input: 'The arguments of the call, as the model sent them; null for other messages.',
  timestamp: 'When the message was recorded, in UTC.',
  served: 'What the provider reported about itself with the answer; null when it reported nothing.',
  'Model.served':
    'The models that answered on its completed days, by the provider’s names. More than one means that the provider changed the model.',
  'Served.model': 'The model that answered, by the provider’s name.',
  'ServedModel.model': 'The model that answered, by the provider’s name.',
  system_fingerprint: 'The provider’s fingerprint of the system that answered.',
  service_tier: 'The provider’s service tier.',
  provider: 'The provider behind a gateway.',
  fault:
    'What is wrong with an answer: it was `cut_off` or `refused`, or a call is written as text (`written_call`); null when nothing is.',

  // Decisions and search.
  decisions: 'The decisions, the newest first.',
  side: 'Whether shares are bought or sold.',
  'Decision.side': 'Whether shares were to be bought or sold; null without an order.',
  'Decision.symbol': 'The ticker symbol of the order; null without one.',
  'Decision.timestamp': 'When the decision was made, in UTC.',
  'Decision.reason':
    'The model’s own words before it, shortened; its reasoning when it said nothing; null without either.',
  'Decision.detail':
    'Why an order was refused or a model-day failed, or what is wrong with a call; null for an executed order.',
  messages: 'The messages that contain the words, the newest first.',
  excerpt: 'The beginning of the document, or the part around the words of the search.',
  'FoundMessage.excerpt':
    'The part of the message, of its tool call or of its reasoning that contains the words.',
  matches: 'Where the words are in `excerpt`: start and length of each, in Unicode characters.',
  'SearchResponse.next_before':
    'The value of `before` for the next page; null when everything has been searched. A short page may have a next one.',

  // The day of an agent.
  system: 'The system prompt that a model would read.',
  report: 'The morning report that a model would read.',
  'AgentDay.date': 'The date that is traded.',
  'AgentDay.currency': 'The currency of the money; absent when it is USD.',
  portfolio: 'Cash and holdings as they are now.',
  'AgentHolding.price': 'The price that the agent decides on.',
  prices: 'The prices of each symbol that may be bought or is held.',
  day: 'How to reach the tools of the day.',
  previous_close: 'The last close before the date; null without one.',
  'DayAccess.url': 'The address of the service, for `/day` and its tools.',
  mcp_url: 'The address of the same tools for the Model Context Protocol.',
  token: 'The token of this day, for the Authorization header. It opens nothing else.',
  expires_at: 'When the day ends if it has no answer, in UTC.',
  description: 'What the tool does.',
  'DayTool.name': 'The name of the tool.',
  executed: 'Whether shares were bought or sold.',
  cut: 'Why fewer shares were ordered than asked for; absent when all were.',
  holding: 'Shares of the symbol after the order.',
  placed: 'Whether shares are to be bought or sold, at the open that is still hidden.',
  'PortfolioResult.placed': 'The orders that wait for the hidden open; absent with a shown one.',
  at_previous_close: 'The previous close, which the order was checked with.',
  cash_left: 'Cash that would be left if the orders filled at the previous close.',
  orders: 'The orders, in their order.',
  'TradingDecision.orders':
    'Orders, carried out one after another. A decision has either `orders` or `weights`.',
  weights:
    'The target fraction of the portfolio for each symbol, at most 1 together. Symbols that are not named are sold.',
  'ToolHolding.price': 'The price that the model decides on.',
  'PriceResult.date': 'The date of the bar.',
  'PriceBar.date': 'The date of the bar.',
  high: 'The high of the date; absent when unknown, as on the date that is traded.',
  low: 'The low of the date; absent when unknown, as on the date that is traded.',
  close: 'The close of the date; absent when unknown, as on the date that is traded.',
  volume: 'The shares that were traded; absent when unknown, as on the date that is traded.',
  result: 'The result.',
  undated: 'How many articles were left out because their date of publication is unknown.',
  'NewsItem.date': 'The date of publication.',
  'NewsItem.url': 'The address of the article.',
  snippet: 'A part of the text.',
  characters: 'How many characters the whole text has.',
  'NoteSaved.characters': 'How many characters the note has.',
  offset: 'At which character this part begins.',
  'DocumentPart.text': 'This part of the text.',
  left: 'How many characters come after this part.',
  saved: 'Whether the note was saved.',
  done: 'True: the day was traded through its tools, and nothing is left to do.',

  // The Model Context Protocol.
  jsonrpc: 'The version of JSON-RPC.',
  method: 'The method, such as `tools/list` or `tools/call`.',
  params: 'The parameters of the method.',
};
