import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { exit, ORGANIZATION, PATIENT, start, TOKEN } from './molar.ts';

type Env = Readonly<Record<string, string>>;

/** A `molar stream listen`, and the whole lines it has printed. */
export interface Listener {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly errors: () => string;
  readonly ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Ends what a test that failed has left behind. */
export function endListeners(): void {
  for (const child of running) child.kill('SIGKILL');
}

export function listener(folder: string, args: readonly string[], env: Env): Listener {
  const child = start(folder, ['stream', 'listen', ...args], env);
  running.add(child);
  child.once('close', () => running.delete(child));
  const lines: string[] = [];
  let rest = '';
  let errors = '';
  child.stdout?.on('data', (chunk) => {
    const pieces = `${rest}${chunk}`.split('\n');
    rest = pieces.pop() ?? '';
    lines.push(...pieces);
  });
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  return { child, lines, errors: () => errors, ended: exit(child) };
}

/** Waits until something holds; fails with `what` when it does not for five minutes. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 300_000; Date.now() < end; await sleep(50)) {
    if (await holds()) return;
  }
  throw new Error(`Not within five minutes: ${what}`);
}

/** Waits until so many listeners are connected, as the server counts them. */
export function connected(url: string, count: number): Promise<void> {
  return until(`${count} listeners`, async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^molar_stream_listeners (\d+)$/m.exec(text)?.[1]) === count;
  });
}

/** Changes the preferred name of a patient: each change is a message that holds it. */
export async function rename(url: string, name: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/patients/${PATIENT}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ preferredName: name }),
  });
  if (!answer.ok) throw new Error(`PUT answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** The preferred name that a message tells. */
export function nameIn(line: string): string {
  const { payload } = JSON.parse(line) as { payload: { preferredName?: string } };
  return String(payload.preferredName);
}

/** The preferred name that the oldest message with a routing key tells, as the server sends it to anybody with HTTP. */
export async function oldestName(url: string, routingKey: string): Promise<string> {
  const { body } = await fetch(`${url}/api/v1/stream?${new URLSearchParams({ lastEventId: '0', routingKey })}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION },
  });
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk);
    const [, data] = /^data: ?(.*)\r?\n/m.exec(text) ?? [];
    if (data !== undefined) return nameIn(data);
  }
  throw new Error(`The stream ended: ${text}`);
}

export function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}
