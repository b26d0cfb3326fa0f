import assert from 'node:assert/strict';

/** The cells of a table in a text: a line per row, `|` between cells; each row has as many. */
export function tableOf<Row extends string[]>(text: string): Row[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const rows = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  for (const row of rows) assert.equal(row.length, rows[0]?.length, row.join(' | '));
  return rows as Row[];
}

/** A pattern of a whole sentence, in which `…` stands for anything. */
export function like(sentence: string): RegExp {
  return new RegExp(`^${sentence.split('…').map(RegExp.escape).join('[^]*')}$`);
}

/** Sentences that say these facts, `…` for the words between; as many, in this order. */
export function assertLike(sentences: unknown, facts: readonly string[], name?: string): void {
  assert.ok(Array.isArray(sentences), name);
  const said = `${name ?? ''}\n${sentences.join('\n')}`;
  assert.equal(sentences.length, facts.length, said);
  for (const [place, fact] of facts.entries())
    assert.match(sentences[place], like(fact), `${fact}\n${said}`);
}
