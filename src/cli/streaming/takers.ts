import { localFailure } from '../../core/failure.ts';
import { type ForwardOptions, forwardMessage, postMessage, readReceiver } from '../../core/stream/forward.ts';
import type { MessageHandler } from '../../core/stream/listen.ts';
import { DEFAULT_RETRY } from '../../core/transport/retry.ts';
import type { Send } from '../../core/transport/send.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { execMessage } from './execcommand.ts';

interface Taking {
  readonly context: Context;
  readonly userAgent: string;
  readonly network: () => Promise<{ readonly send: Send }>;
  readonly maxRetries: number | undefined;
  readonly note: (text: string) => Promise<void>;
}

/** What each message is handed on to: the address of `--forward-to` or the command of `--exec`. Throws a Failure (exit 2). */
export function handerOn(flags: FlagValues, taking: Taking): MessageHandler | undefined {
  const address = textFlag(flags, 'forward-to');
  if (address !== undefined) return forwarder(readReceiver(address, isOn(flags, 'allow-http')), taking);
  const line = textFlag(flags, 'exec');
  return line === undefined ? undefined : runner(line, taking);
}

/** A receiver that is away comes back some time, so it is tried for ever unless `--max-retries` says otherwise. */
function forwarder(url: URL, taking: Taking): MessageHandler {
  const { context, userAgent, maxRetries } = taking;
  const { clock, signal } = context;
  const options = handing(taking, maxRetries, 'stream.receiver');
  return async (message, text) => {
    const { send } = await taking.network();
    const posting = { send, url, userAgent, signal, now: clock.now };
    await forwardMessage(message.id, () => postMessage(message, text, posting), options);
  };
}

/** A command that fails again and again has to be looked at. */
function runner(line: string, taking: Taking): MessageHandler {
  const { env, signal } = taking.context;
  const options = handing(taking, taking.maxRetries ?? DEFAULT_RETRY.maxRetries, 'stream.handler');
  return (message, text) =>
    forwardMessage(message.id, () => execMessage(line, message, text, { env, signal }), options);
}

function handing(
  { context, note }: Taking,
  maxRetries: number | undefined,
  code: 'stream.receiver' | 'stream.handler',
): ForwardOptions {
  const { clock, random, signal } = context;
  return {
    ...{ clock, random, signal, maxRetries, policy: DEFAULT_RETRY },
    onRetry: ({ messageId, reason, wait }) =>
      void note(`Message ${messageId} was not accepted: ${reason} Next try in ${(wait / 1000).toFixed(1)} s.`),
    failureOf: ({ message: reason }, messageId, attempts) =>
      localFailure(code, `Message ${messageId} was not accepted in ${attempts} attempts: ${reason}`, {
        source: code === 'stream.handler' ? '--exec' : '--forward-to',
      }),
  };
}
