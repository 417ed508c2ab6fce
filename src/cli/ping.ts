import { pingOf, readPingUrl } from '../core/ping.ts';
import type { Connections } from './connections.ts';
import type { Context } from './context.ts';
import { failureOf } from './errors/report.ts';
import { flagGroup } from './flags/declare.ts';
import { type FlagValues, textFlag } from './flags/values.ts';

/** The flag of commands that tell a health check how they went. */
export const pingFlags = {
  ping: flagGroup().text(
    'URL',
    'Tell a health check: POST to URL/start, then to URL or URL/fail, with exit code and error code',
  ),
};

/** What a pinging command has. */
interface Pinging {
  /** `molar mirror sync`. */
  readonly command: string;
  readonly flags: FlagValues;
  readonly context: Context;
  readonly connections: Connections;
  readonly note: (text: string) => Promise<void>;
}

/** Does a command's work, and tells the health check of `--ping` before and after it. Throws what the work throws. */
export async function pinged(
  { command, flags, context, connections, note }: Pinging,
  work: (done: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const text = textFlag(flags, 'ping');
  if (text === undefined) return work(async () => {});
  const url = readPingUrl(text);
  const { send } = await connections.network();
  const onFailure = () => note('The health check of --ping did not answer.');
  const ping = pingOf(url, command, { send, clock: context.clock, onFailure });
  let isDone = false;
  const done = async () => {
    isDone = true;
    await ping.end(0, undefined);
  };
  await ping.start();
  try {
    await work(done);
    if (!isDone) await done();
  } catch (cause) {
    const { exitCode, code } = failureOf(context.interrupted() ?? cause);
    // A command that goes on until a signal has said before that it works.
    if (!isDone || context.interrupted() === undefined) await ping.end(exitCode, code);
    throw cause;
  }
}
