/** Who held a symbol on a date is found by the date since when. Released: never edit it. */
export const sql = `
  CREATE INDEX session_prices_by_holding ON session_prices (symbol, held_since, date) WHERE held_since IS NOT NULL;
`;
