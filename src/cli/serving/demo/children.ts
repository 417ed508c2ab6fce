import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EXIT } from '../../../catalog/failures.ts';
import { Failure } from '../../../core/failure.ts';

/** How to start molar again: the program and the script this process runs from, and a folder and environment of its own. */
export interface Launcher {
  readonly script: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a command that ended printed. */
export interface Finished {
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs one molar command to its end. Throws a Failure with the command's own exit code when it fails. */
export async function runMolar(launcher: Launcher, args: readonly string[], signal: AbortSignal): Promise<Finished> {
  const child = spawn(process.execPath, [launcher.script, ...args], {
    cwd: launcher.folder,
    env: { ...launcher.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), exitOf(child)]);
  if (code === 0) return { stdout, stderr };
  throw new Failure(`molar ${args.join(' ')} failed: ${stderr.trim()}`, {
    code: 'run.partial',
    exitCode: code ?? EXIT.unexpected,
  });
}

/** Starts `molar serve` and waits until it listens. Throws a Failure with what it said when it does not. */
export async function startServer(launcher: Launcher, args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, [launcher.script, 'serve', ...args, '--json', '--log-level', 'error'], {
    cwd: launcher.folder,
    env: { ...launcher.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stderr = textOf(child.stderr);
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

async function listening(stdout: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const { event, url } = JSON.parse(line) as { event?: string; url?: string };
    if (event === 'listening') return url;
  }
  return undefined;
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
}
