import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import Serve from '../../../src/commands/serve.ts';
import { systemClock as clock } from '../../../src/core/clock.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { runCommand } from '../runcommand.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-serve-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('a server may take its drain time to end, and 25 s for what runs then', async () => {
  const ending = new AbortController();
  const allowed: number[] = [];
  const ran = await runCommand(
    'serve',
    Serve,
    ['--data', join(folder, 'd'), '--port', '0', '--behind-proxy', '--drain-time', '40', '--log-level', 'silent'],
    {
      clock,
      signal: ending.signal,
      allowEnding: (milliseconds) => allowed.push(milliseconds),
      // It listens when it says so.
      write: async () => ending.abort(localFailure('run.interrupted', 'Interrupted.')),
    },
  );
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(allowed).toEqual([65_000]);
});
