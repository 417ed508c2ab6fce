import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { type Faithful, type Options, startFaithful } from '../../faithful/service.ts';
import { START } from '../../support/clock.ts';
import { LOCATIONS, PATIENTS } from '../../support/ids.ts';
import { testService } from '../../support/service.ts';
import { disturbed, openNetwork } from './network.ts';
import { listening } from './practice.ts';

let time = START;

/** The clock of this computer: it begins where our server's does, and goes on with each look; waits take no time. */
export const clock = { now: () => ++time, sleep: async () => {} };

/** A payment, without an id, whose correction and deletion the stream does not tell. */
export const PAYMENT = {
  ...{ ledgerType: 'PatientProcedurePayment', amount: -80, transactionDate: '2026-01-05' },
  ...{ patient: { id: PATIENTS.ann }, location: { id: LOCATIONS.east } },
} as const;

/** A folder that is removed after the test, and the path of a mirror in it. */
export async function mirrorFolder(): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, 'practice.db') };
}

/** Our server, closed after the test, and what connects the command line to it. */
export async function openServer(...[records, options]: Parameters<typeof testService>) {
  const service = await testService(records, options);
  onTestFinished(() => service.close());
  return { service, env: await listening(service) };
}

/** A service that keeps the specification and no more, closed after the test; its moods are plain where none are given. */
export async function openFaithful(options: Options): Promise<Faithful> {
  const service = await startFaithful({ moods: {}, now: clock.now, ...options });
  onTestFinished(() => service.close());
  return service;
}

/** Runs a command over the network; `json` is the object that it wrote, where it wrote one. */
export async function runOnline(id: string, command: unknown, words: readonly string[], world: World) {
  const ran = await runCommand(id, command, words, { clock, openNetwork, ...world });
  return { ...ran, json: ran.stdout.startsWith('{') ? JSON.parse(ran.stdout) : undefined };
}

/** Syncs a mirror, and gives the summary as `json`. */
export function syncTo(to: string, words: readonly string[], world: World) {
  return runOnline('mirror:sync', MirrorSync, ['--to', to, '--json', ...words], world);
}

/** A network on which something happens once, before the request whose address has this text for the nth time. */
export function once(text: string, nth: number, work: () => Promise<unknown>, open = openNetwork) {
  let count = 0;
  return disturbed(async (url) => {
    if (url.includes(text) && ++count === nth) await work();
  }, open);
}
