import type { ApiDialect } from '../../domain.ts';
import { chat } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

/** The dialects by the name that an entry's `api` has. */
export const dialects: Record<ApiDialect, Dialect> = { chat, responses, messages };
