import type { MessageHandler } from '../../core/stream/listen.ts';
import {
  jsonMessages,
  type MessageFormat,
  type MessageFormatter,
  ndjsonMessages,
} from '../../core/stream/messageforms.ts';
import type { Context } from '../context.ts';
import type { FlagValues } from '../flags/values.ts';
import { readClock } from '../flags/zone.ts';
import { ClosedPipe, unlessAborted } from '../terminal/streams.ts';
import { styleOf } from '../terminal/style.ts';

/** Prints messages as they come. */
export interface MessagePrinter {
  readonly take: MessageHandler;
  /** Closes what was begun; where listening failed before the first message, nothing is printed. */
  readonly end: (failure: unknown) => Promise<void>;
}

/** A printer to standard output in a form; the flags name the time zone of a table. */
export async function messagePrinter(
  format: MessageFormat,
  flags: FlagValues,
  context: Context,
): Promise<MessagePrinter> {
  const { stdout } = context.streams;
  const form = await formOf(format, flags, context);
  let hasBegun = false;
  return {
    take: (message, text) => {
      hasBegun = true;
      return unlessAborted(stdout.write(form.message(message, text)), context.signal);
    },
    end: async (failure) => {
      if (failure instanceof ClosedPipe || (failure !== undefined && !hasBegun)) return;
      const text = form.end();
      if (text !== '') await stdout.write(text);
    },
  };
}

async function formOf(format: MessageFormat, flags: FlagValues, context: Context): Promise<MessageFormatter> {
  if (format === 'json') return jsonMessages();
  if (format === 'ndjson') return ndjsonMessages();
  const { tableMessages } = await import('../../core/stream/messagetable.ts');
  const { isTTY, columns } = context.streams.stdout;
  const width = isTTY ? (columns ?? 80) : undefined;
  return tableMessages({ clock: readClock(flags, context), width, style: styleOf(context, isTTY) });
}
