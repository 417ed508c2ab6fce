import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { openNetwork } from '../../../src/core/transport/network.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { TestClock } from '../../support/clock.ts';
import { type TestService, testService } from '../../support/service.ts';
import { connectionTo } from './practice.ts';

let service: TestService;
let folder: string;
let file: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  service = await testService(undefined, { clock: new TestClock(Date.now()) });
  env = connectionTo(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a health check', () => {
  it('hears of start, success and failure, and of nothing else', async () => {
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
    const words = ['transactiontags', '--to', file, '--quiet', '--ping', `http://127.0.0.1:${port}/check/abc`];
    try {
      await runCommand('mirror:sync', MirrorSync, words, { env, openNetwork, clock });
      await runCommand('mirror:sync', MirrorSync, words, { env: { ...env, MOLAR_TOKEN: 'wrong' }, openNetwork, clock });
      expect(heard).toEqual([
        'POST /check/abc/start molar mirror sync',
        'POST /check/abc molar mirror sync exit 0',
        'POST /check/abc/start molar mirror sync',
        'POST /check/abc/fail molar mirror sync exit 3 auth.token_unknown',
      ]);
    } finally {
      health.close();
    }
  });
});
