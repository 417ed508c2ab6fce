import { spawn } from 'node:child_process';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { Environment } from '../../core/environment.ts';
import { localFailure } from '../../core/failure.ts';
import {
  type ForwardOptions,
  forwardMessage,
  NotAccepted,
  postMessage,
  readReceiver,
} from '../../core/stream/forward.ts';
import type { MessageHandler } from '../../core/stream/listen.ts';
import { DEFAULT_RETRY } from '../../core/transport/retry.ts';
import type { Send } from '../../core/transport/send.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { nextTryText } from '../terminal/text.ts';

/** What a handler needs of its command. */
interface HandlerContext {
  readonly context: Context;
  readonly userAgent: string;
  readonly network: () => Promise<{ readonly send: Send }>;
  readonly maxRetries: number | undefined;
  readonly note: (text: string) => Promise<void>;
}

/** The handler of each message: the address of `--forward-to` or the command of `--exec`. Throws a Failure (exit 2). */
export function messageHandler(flags: FlagValues, handler: HandlerContext): MessageHandler | undefined {
  const address = textFlag(flags, 'forward-to');
  if (address !== undefined) return forwarder(readReceiver(address, isOn(flags, 'allow-http')), handler);
  const line = textFlag(flags, 'exec');
  return line === undefined ? undefined : runner(line, handler);
}

/** A receiver that is down comes back, so retries have no limit unless `--max-retries` sets one. */
function forwarder(url: URL, handler: HandlerContext): MessageHandler {
  const { context, userAgent, maxRetries } = handler;
  const { clock, signal } = context;
  const options = forwardOptions(handler, maxRetries, 'stream.receiver');
  return async (message, text) => {
    const { send } = await handler.network();
    const posting = { send, url, userAgent, signal, now: clock.now };
    await forwardMessage(message.id, () => postMessage(message, text, posting), options);
  };
}

/** A command that keeps failing needs somebody's attention, so retries are limited. */
function runner(line: string, handler: HandlerContext): MessageHandler {
  const { env, signal } = handler.context;
  const options = forwardOptions(handler, handler.maxRetries ?? DEFAULT_RETRY.maxRetries, 'stream.handler');
  return (message, text) =>
    forwardMessage(message.id, () => execMessage(line, message, text, { env, signal }), options);
}

function forwardOptions(
  { context, note }: HandlerContext,
  maxRetries: number | undefined,
  code: 'stream.receiver' | 'stream.handler',
): ForwardOptions {
  const { clock, random, signal } = context;
  return {
    ...{ clock, random, signal, maxRetries, policy: DEFAULT_RETRY },
    onRetry: ({ messageId, reason, wait }) =>
      void note(`Message ${messageId} was not accepted: ${reason} ${nextTryText(wait)}`),
    failureOf: ({ message: reason }, messageId, attempts) =>
      localFailure(code, `Message ${messageId} was not accepted in ${attempts} attempts: ${reason}`, {
        source: code === 'stream.handler' ? '--exec' : '--forward-to',
      }),
  };
}

/** Runs a command line with the message on its standard input; throws NotAccepted unless it exits with 0. Abort kills it. */
async function execMessage(
  line: string,
  message: StreamMessage,
  text: string,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<void> {
  const child = spawn(line, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...env, ...messageVariables(message) },
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  try {
    const ended = new Promise<string | undefined>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, name) => resolve(code === 0 ? undefined : (name ?? `exit code ${code}`)));
    });
    // A command that does not read its input may end before all of it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${text}\n`);
    const problem = await ended;
    if (problem !== undefined) throw new NotAccepted(`The command ended with ${problem}.`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Environment of a command: what it may need before it reads the message. */
function messageVariables({ id, routingKey, domainType, operation, payload }: StreamMessage): Record<string, string> {
  return {
    MOLAR_MESSAGE_ID: String(id),
    MOLAR_MESSAGE_ROUTING_KEY: routingKey,
    MOLAR_MESSAGE_DOMAIN_TYPE: domainType,
    MOLAR_MESSAGE_OPERATION: operation,
    MOLAR_MESSAGE_RECORD_ID: String(payload.id ?? ''),
  };
}
