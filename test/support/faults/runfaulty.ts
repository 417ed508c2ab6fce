import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Config } from '@oclif/core/config';
import { type Context, processContext, setContext } from '../../../src/cli/context.ts';
import { type Failure, localFailure } from '../../../src/core/failure.ts';
import { ORGANIZATION, TOKENS } from '../ids.ts';
import { FastClock } from './fastclock.ts';
import { type FaultOptions, FaultPlan } from './faultplan.ts';
import type { FaultProxy } from './faultproxy.ts';
import { seeded } from './seeded.ts';

/** What a command line left behind, and what had been done to its requests. */
export interface FaultyRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** The plan; `describe()` is what a failing test should show. */
  readonly plan: FaultPlan;
}

export interface FaultyWorld extends Omit<FaultOptions, 'seed'> {
  readonly proxy: FaultProxy;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  /** The request (the first is 1) at which the command gets SIGINT. */
  readonly interruptAt?: number;
  /** Takes the place of what the command would have of the world around it. */
  readonly context?: Partial<Context>;
}

const ROOT = resolve(import.meta.dirname, '../../..');
const loading = Config.load({ root: ROOT });

/**
 * Runs a command line in this process against a service behind a fault proxy, over real sockets. Waits between attempts
 * take no time, jitter comes from the seed, and nothing goes to the terminal. Returns when the service has done
 * everything that reached it. A test opens one proxy for all its runs, since the URL must stay the same between them:
 *
 *     const proxy = await openFaultProxy(await service.app.listen({ port: 0, host: '127.0.0.1' }));
 *     const run = await runFaulty(17, ['patients', 'list', '--out', file], { proxy, share: 0.5 });
 *     expect(run.exitCode, run.stderr + run.plan.describe()).toBe(0);
 */
export async function runFaulty(seed: number, argv: readonly string[], world: FaultyWorld): Promise<FaultyRun> {
  const { proxy, interruptAt } = world;
  const clock = new FastClock(() => proxy.idle(), world.now);
  const interrupt = new AbortController();
  const onRequest = (number: number) => {
    world.onRequest?.(number);
    if (number === interruptAt) interrupt.abort(localFailure('run.interrupted', 'Interrupted.'));
  };
  const plan = new FaultPlan({ ...world, seed, onRequest });
  // Back after the second sleep: one attempt in between meets a port that nobody listens on.
  await proxy.follow(plan, (start) => clock.afterSleeps(2, start));
  const ran = await run(argv, { ...world, seed, clock, signal: interrupt.signal });
  await proxy.idle();
  return { ...ran, plan };
}

interface Prepared extends FaultyWorld {
  readonly seed: number;
  readonly clock: FastClock;
  readonly signal: AbortSignal;
}

async function run(argv: readonly string[], world: Prepared): Promise<Omit<FaultyRun, 'plan'>> {
  const { command, id, rest } = await findCommand(argv);
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  let exitCode = 0;
  const { signal } = world;
  // A configuration of its own, since the context hangs on it.
  const config: Config = Object.create(await loading);
  setContext(config, {
    ...processContext({
      signal,
      failure: () => (signal.aborted ? (signal.reason as Failure) : undefined),
      allowEnding: () => undefined,
      terminate: () => undefined,
      stop: () => undefined,
    }),
    streams: {
      stdout: stream(out),
      stderr: stream(errors),
      stdin: { isTTY: false, chunks: once(world.stdin) },
      confirm: () => Promise.reject(new Error('Nobody is to be asked.')),
      ask: undefined,
      startProgress: undefined,
    },
    env: {
      MOLAR_URL: world.proxy.url,
      MOLAR_ORGANIZATION: ORGANIZATION,
      MOLAR_TOKEN: TOKENS.full,
      MOLAR_CONFIG_DIR: '/nonexistent',
      ...world.env,
    },
    clock: world.clock,
    random: seeded(world.seed + 1),
    setExitCode: (code) => {
      exitCode = code;
    },
    ...world.context,
  });
  command.id = id;
  await command.start(rest, config);
  return { exitCode, stdout: Buffer.concat(out), stderr: Buffer.concat(errors).toString() };
}

interface Startable {
  readonly start: (argv: readonly string[], config: Config) => Promise<void>;
  id: string;
}

/** The command that the first words name, as oclif finds it: the longest path below src/commands. */
async function findCommand(argv: readonly string[]) {
  for (let words = Math.min(3, argv.length); words > 0; words--) {
    const named = argv.slice(0, words);
    const path = resolve(ROOT, 'src/commands', ...named);
    const file = [`${path}.ts`, `${path}/index.ts`].find(existsSync);
    if (file === undefined) continue;
    const { default: command } = (await import(file)) as { default: Startable };
    return { command, id: named.join(':'), rest: argv.slice(words) };
  }
  throw new Error(`There is no command ${argv.join(' ')}.`);
}

function stream(chunks: Buffer[]) {
  return {
    write: async (chunk: string | Uint8Array) => {
      chunks.push(Buffer.from(chunk as string));
    },
    isTTY: false,
    columns: undefined,
  };
}

async function* once(bytes: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (bytes !== undefined) yield bytes;
}
