import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Aging from '../../src/commands/agingbalances/report.ts';
import Export from '../../src/commands/export/index.ts';
import Production from '../../src/commands/locationproductionnetschedule/report.ts';
import MirrorSync from '../../src/commands/mirror/sync.ts';
import { openNetwork } from '../../src/core/transport/network.ts';
import { listening } from '../core/mirror/practice.ts';
import { TestClock } from '../support/clock.ts';
import { LOCATIONS } from '../support/ids.ts';
import { type TestService, testService } from '../support/service.ts';
import { runCommand } from './runcommand.ts';

let service: TestService;
let folder: string;
let file: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  service = await testService(undefined, { clock: new TestClock(Date.now()) });
  env = await listening(service);
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Commands that ping, lines of theirs that succeed, and what the health check hears of one with a wrong token. */
const COMMANDS = [
  ['molar mirror sync', 'mirror:sync', MirrorSync, () => ['transactiontags', '--to', file]],
  ['molar export', 'export', Export, () => ['transactiontags', '--to', join(folder, 'nightly')]],
  ['molar agingbalances report', 'agingbalances:report', Aging, () => ['--location', 'ALL', '--totals-only']],
  [
    'molar locationproductionnetschedule report',
    'locationproductionnetschedule:report',
    Production,
    () => ['--from', '2026-03-09', '--location', String(LOCATIONS.east), '--range', '5'],
  ],
] as const;

describe('a health check', () => {
  it.each(COMMANDS)(
    'hears of start, success and failure of %s, and of nothing else',
    async (name, id, command, words) => {
      const heard: string[] = [];
      const health = createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += chunk));
        request.on('end', () => {
          heard.push(`${request.method} ${request.url} ${body} ${request.headers.authorization ?? ''}`.trim());
          response.end('OK');
        });
      });
      await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
      const { port } = health.address() as { port: number };
      const clock = { now: Date.now, sleep: async () => {} };
      const line = [...words(), '--quiet', '--ping', `http://127.0.0.1:${port}/check/abc`];
      try {
        const done = await runCommand(id, command, line, { env, openNetwork, clock });
        expect(done.exitCode, done.stderr).toBe(0);
        const failed = await runCommand(id, command, line, {
          env: { ...env, MOLAR_TOKEN: 'wrong' },
          openNetwork,
          clock,
        });
        expect(failed).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/^Error: /) });
        expect(heard).toEqual([
          `POST /check/abc/start ${name}`,
          `POST /check/abc ${name} exit 0`,
          `POST /check/abc/start ${name}`,
          `POST /check/abc/fail ${name} exit 3 auth.token_unknown`,
        ]);
      } finally {
        health.close();
      }
    },
  );

  it('that does not answer fails nothing', async () => {
    const clock = { now: Date.now, sleep: async () => {} };
    const line = ['transactiontags', '--to', join(folder, 'nightly'), '--ping', 'http://127.0.0.1:1/check/abc'];
    const ran = await runCommand('export', Export, line, { env, openNetwork, clock });
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining('did not answer')]);
    expect(ran.stderr).not.toContain('/check/abc');
  });
});
