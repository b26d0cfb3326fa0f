/**
 * SQL: a JSON object of columns as a SELECT names them (`date`, `price_e4 / 10000.0 AS price`), in
 * their order.
 */
export function jsonObject(columns: readonly string[]): string {
  const members = columns.map((column) => {
    const [, value = '', name = value] = /^(.*?)(?: AS (\w+))?$/s.exec(column) ?? [];
    return `'${name}', ${value}`;
  });
  return `json_object(${members.join(', ')})`;
}
