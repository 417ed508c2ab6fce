import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { type Context, setContext } from '../../../src/cli/context.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';

/** What a command line left behind. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface World {
  readonly send: Send;
  readonly stdin?: string | Buffer;
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly ask?: Context['streams']['ask'];
  /** Answers questions; there is a terminal to ask on then. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** oclif's own `Command.run` loads the configuration again, and the context would be lost. */
type CommandClass = new (argv: string[], config: Config) => Command & { _run(): Promise<unknown> };

const noKeyring = () => Promise.reject(new Error('The keyring is not to be used.'));

/** Runs a command in this process against a server that is called through `send`. */
export async function runCommand(command: unknown, argv: readonly string[], world: World): Promise<Ran> {
  const config = await Config.load({ root: resolve(import.meta.dirname, '../../..') });
  const out: Buffer[] = [];
  let stderr = '';
  let exitCode = 0;
  const context: Context = {
    shell: 'sh',
    streams: {
      stdout: stream((chunk) => out.push(chunk), world.isTTY ?? false),
      stderr: stream((chunk) => {
        stderr += chunk.toString();
      }, world.confirm !== undefined),
      stdin: { isTTY: world.confirm !== undefined, chunks: once(world.stdin ?? '') },
      confirm: world.confirm ?? (() => Promise.resolve(false)),
      ask: world.ask,
      startProgress: undefined,
    },
    env: {
      MOLAR_URL: 'http://localhost',
      MOLAR_ORGANIZATION: ORGANIZATION,
      MOLAR_TOKEN: TOKENS.full,
      MOLAR_CONFIG_DIR: '/nonexistent',
      MOLAR_KEYRING: 'off',
      NO_COLOR: '1',
      ...world.env,
    },
    clock: { now: Date.now, sleep: async (_, signal) => signal?.throwIfAborted() },
    random: () => 0,
    newId: () => crypto.randomUUID(),
    temporaryFolder: tmpdir(),
    keyring: { read: noKeyring, write: noKeyring, remove: noKeyring },
    openNetwork: () => ({ send: world.send, close: async () => undefined }),
    signal: new AbortController().signal,
    interrupted: () => undefined,
    allowEnding: () => undefined,
    terminate: () => undefined,
    setExitCode: (code) => {
      exitCode = code;
    },
  };
  setContext(config, context);
  const running = new (command as CommandClass)([...argv], config);
  await running._run();
  return { exitCode, stdout: Buffer.concat(out), stderr };
}

function stream(take: (chunk: Buffer) => void, isTTY: boolean) {
  return {
    write: async (chunk: string | Uint8Array) => take(Buffer.from(chunk as string)),
    isTTY,
    columns: isTTY ? 200 : undefined,
  };
}

async function* once(text: string | Buffer): AsyncGenerator<Uint8Array> {
  if (text.length > 0) yield Buffer.from(text as string);
}

/** Calls an app in process as `send` would over the network. */
export function sendTo(app: () => FastifyInstance): Send {
  return async ({ method, url, headers, body }) => {
    const { pathname, search } = new URL(url);
    const response = await app().inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: pathname + search,
      headers: { host: 'localhost', ...headers },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : await bytesOf(body.open()) }),
    });
    const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
    return { status: response.statusCode, headers: Object.fromEntries(pairs), body: once(response.rawPayload) };
  };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
