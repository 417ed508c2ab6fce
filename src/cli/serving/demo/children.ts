import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EXIT } from '../../../catalog/failures.ts';
import type { Environment } from '../../../core/environment.ts';
import { Failure } from '../../../core/failure.ts';
import { readAll } from '../../terminal/streams.ts';

/** How to start molar again: its script, and a folder and environment for the new process. */
export interface Launcher {
  readonly script: string;
  readonly folder: string;
  readonly env: Environment;
}

/** The output of a finished command. */
export interface Finished {
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in a process of its own. */
interface ServerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs one molar command to its end. Throws a Failure with the command's own exit code when it fails. */
export async function runMolar(launcher: Launcher, args: readonly string[], signal: AbortSignal): Promise<Finished> {
  const child = start(launcher, args, signal);
  const [stdout, stderr, code] = await Promise.all([readAll(child.stdout), readAll(child.stderr), exitOf(child)]);
  if (code === 0) return { stdout, stderr };
  throw new Failure(`molar ${args.join(' ')} failed: ${stderr.trim()}`, {
    code: 'run.partial',
    exitCode: code ?? EXIT.unexpected,
  });
}

/** Starts `molar serve` and waits until it listens. Throws a Failure with its error output when it does not. */
export async function startServer(launcher: Launcher, args: readonly string[]): Promise<ServerProcess> {
  const child = start(launcher, ['serve', ...args, '--json', '--log-level', 'error']);
  const stderr = readAll(child.stderr);
  const ended = exitOf(child);
  const url = await Promise.race([listening(child.stdout), ended.then(() => undefined)]);
  if (url === undefined) {
    throw new Failure(`The server did not start: ${(await stderr).trim()}`, {
      code: 'run.unexpected',
      exitCode: EXIT.unexpected,
    });
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start({ script, folder, env }: Launcher, args: readonly string[], signal?: AbortSignal): Child {
  const options = { cwd: folder, env: { ...env }, ...(signal && { signal }) };
  return spawn(process.execPath, [script, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function listening(stdout: Readable): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const { event, url } = JSON.parse(line) as { event?: string; url?: string };
    if (event === 'listening') return url;
  }
  return undefined;
}

function exitOf(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
