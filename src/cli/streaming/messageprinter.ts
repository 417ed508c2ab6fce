import { untilAborted } from '../../core/abort.ts';
import { FORMATS, type Format, terminalSafe } from '../../core/output/formats.ts';
import type { MessageHandler } from '../../core/stream/listen.ts';
import type { Context } from '../context.ts';
import type { FlagValues } from '../flags/values.ts';
import { writerOptions } from '../rows/output.ts';
import { ClosedPipe } from '../terminal/streams.ts';

/** Prints messages as they arrive. */
export interface MessagePrinter {
  readonly take: MessageHandler;
  /** Closes what was begun; where listening failed before the first message, nothing is printed. */
  readonly end: (failure: unknown) => Promise<void>;
}

/** A printer to standard output in a format; the flags name the time zone of a table. */
export async function messagePrinter(format: Format, flags: FlagValues, context: Context): Promise<MessagePrinter> {
  const { stdout } = context.streams;
  const form = await FORMATS[format].messages?.(writerOptions(stdout.isTTY, flags, context));
  if (form === undefined) throw new Error(`${format} is not written message by message.`);
  const safe = stdout.isTTY ? terminalSafe(format) : (text: string) => text;
  let hasBegun = false;
  return {
    take: (message, text) => {
      hasBegun = true;
      return untilAborted(stdout.write(safe(form.message(message, text))), context.signal);
    },
    end: async (failure) => {
      if (failure instanceof ClosedPipe || (failure !== undefined && !hasBegun)) return;
      const text = form.end();
      if (text !== '') await stdout.write(text);
    },
  };
}
