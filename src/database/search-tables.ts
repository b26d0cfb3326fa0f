/** The tables of the search in conversations, which it fills itself: log-words.ts. */
export const searchTables = `
-- The words of the reasoning logs by their rows, without the texts.
CREATE VIRTUAL TABLE log_words USING fts5(words, content='', columnsize=0, tokenize='ascii');
`;
