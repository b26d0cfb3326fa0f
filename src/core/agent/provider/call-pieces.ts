import { asObject, asText, type Json, plainText } from '#json/json.ts';
import { MAX_TOOL_CALLS } from '#wire/protocol.ts';
import { readCallArguments } from './answer.ts';
import { boundedJson, dropRepeated } from './dialect.ts';

/** A tool call of Chat Completions whose arguments come in pieces. */
interface GrowingCall {
  call: Json & { function: Json };
  text: string;
  /** The ids that came with its name before any arguments: perhaps those of further calls. */
  ids: string[];
  json: ReturnType<typeof followJson>;
}

interface Piece {
  index: string | undefined;
  id: string | undefined;
  name: string | undefined;
  text: string;
}

/**
 * Tool calls of Chat Completions that come in pieces. An index or, where there is none, an id or
 * its place says to which call a piece belongs; but some servers give parallel calls one index,
 * others count on with every piece, and others repeat the id or the name, or invent an id, with
 * every piece. No call is lost, and none is made twice.
 */
export function createCallCollector() {
  const calls: GrowingCall[] = [];
  const byIndex = new Map<string, GrowingCall>();
  const begin = ({ id }: Piece): GrowingCall => {
    if (calls.length === MAX_TOOL_CALLS) throw new Error(`more than ${MAX_TOOL_CALLS} tool calls`);
    const ids = id === undefined ? [] : [id];
    const call = { type: 'function', function: {}, ...(id !== undefined && { id }) };
    const growing = { call, text: '', ids, json: followJson() };
    calls.push(growing);
    return growing;
  };
  const take = (sent: Json): void => {
    const piece = readPiece(sent);
    const { index, id } = piece;
    const ofIndex = index === undefined ? undefined : byIndex.get(index);
    const ofId =
      index === undefined && id !== undefined
        ? calls.find(({ ids }) => ids.includes(id))
        : undefined;
    const known = ofIndex ?? ofId ?? calls.at(-1);
    const isNew = known === undefined || beginsCall(piece, known, ofIndex !== undefined);
    const name = piece.name ?? (isNew ? asText(known?.call.function['name']) : undefined);
    const growing = isNew ? begin(piece) : known;
    if (index !== undefined) byIndex.set(index, growing);
    if (sent['extra_content'] != null) growing.call['extra_content'] = sent['extra_content'];
    addPiece({ ...piece, name }, growing, calls.length === 1);
  };
  return {
    take,
    /**
     * Takes the calls of a whole message, which some servers send after its pieces: they replace
     * those in pieces, unless some are missing or in pieces themselves.
     */
    takeMessage(sent: readonly Json[]): void {
      const isWhole = sent.every((call) => {
        const { name, text } = readPiece(call);
        return name !== undefined && followJson(readCallArguments(text)).isWhole();
      });
      if (!isWhole || sent.length < calls.length) return sent.forEach(take);
      calls.length = 0;
      byIndex.clear();
      sent.forEach((call, index) => take({ ...call, index }));
    },
    list(): Json[] {
      const all = calls.flatMap(({ call, text, ids }): GrowingCall['call'][] =>
        text.trim() === '' && ids.length > 1 ? ids.map((id) => ({ ...call, id })) : [call],
      );
      return dropRepeated(all, ({ id, function: named }) =>
        id === undefined ? null : boundedJson([id, named]),
      );
    },
  };
}

function readPiece(sent: Json): Piece {
  const named = asObject(sent['function']) ?? {};
  const value = named['arguments'] ?? '';
  if (typeof value !== 'string' && asObject(value) === undefined)
    throw new Error(`a piece that is not text: ${boundedJson(value)}`);
  // An empty object announces arguments that come in pieces.
  const text = typeof value === 'string' ? value : readCallArguments(value);
  return {
    index: plainText(sent['index']),
    id: asText(sent['id']),
    name: asText(named['name']),
    text: typeof value !== 'string' && text === '{}' ? '' : text,
  };
}

/** Whether a piece begins another call than the one to which its index, id or place points. */
function beginsCall(
  piece: Piece,
  { call, text, ids, json }: GrowingCall,
  isOfIndex: boolean,
): boolean {
  const { index, id, name } = piece;
  const before = asText(call.function['name']);
  const isOtherId = id !== undefined && id !== (call['id'] ?? id);
  const isBlank = piece.text.trim() === '';
  const isHead = name !== undefined || (isOtherId && isBlank);
  const isContinued = id !== undefined && !isOtherId && call['id'] === id && !json.isWhole();
  if (index !== undefined && !isOfIndex && isHead) return !isContinued;
  if (name === undefined) return isOtherId && json.isWhole() && ids.includes(id);
  const isOtherName = before !== undefined && !name.startsWith(before);
  if (json.isWhole()) {
    const isRepeated = index !== undefined && (isBlank || piece.text === text);
    return isOtherId || isOtherName || (id === undefined && !isRepeated);
  }
  return isOtherName && (isOtherId || index === undefined || text !== '');
}

function addPiece({ id, name, text }: Piece, growing: GrowingCall, isOnly: boolean): void {
  const { call, ids } = growing;
  const before = asText(call.function['name']) ?? '';
  if (name !== undefined && name !== before)
    call.function['name'] = name.startsWith(before) ? name : before + name;
  if (id !== undefined) call['id'] ??= id;
  const mayBeAnother = id !== undefined && name !== undefined && growing.text + text === '';
  if (mayBeAnother && !ids.includes(id) && ids.length < MAX_TOOL_CALLS) ids.push(id);
  const isRepeated = growing.json.isWhole() && text === growing.text;
  if (text === '' || (isRepeated && (isOnly || id === call['id']))) return;
  growing.json.take(text);
  growing.text += text;
  call.function['arguments'] = growing.text;
}

/** Whether JSON that comes in pieces, an object, a list or a text, is whole. */
function followJson(begun = '') {
  let [depth, isInText, isEscaped, hasBegun] = [0, false, false, false];
  const takeCharacter = (character: string) => {
    if (isEscaped) isEscaped = false;
    else if (isInText) {
      isEscaped = character === '\\';
      isInText = character !== '"';
    } else if (character === '"') isInText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    hasBegun ||= isInText || depth > 0;
  };
  const take = (text: string) => {
    for (const character of text) takeCharacter(character);
  };
  take(begun);
  return { take, isWhole: () => hasBegun && depth <= 0 && !isInText };
}
