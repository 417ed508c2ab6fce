import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import { jsonFailure, runCommand } from '../../cli/runcommand.ts';
import { TestClock } from '../../support/clock.ts';
import { big, CLAIMS } from '../../support/ids.ts';
import { allRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { queried } from './oracle.ts';
import { listening } from './practice.ts';

let service: TestService;
let folder: string;
let file: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  const images = Array.from({ length: 25 }, (_, index) =>
    line('ImageAttachmentV1', { id: big(60_000 + index), insuranceClaim: { id: CLAIMS.sent } }),
  );
  service = await testService([...allRecords(), ...images], { clock: new TestClock(Date.now()) });
  env = await listening(service);
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A body without its first delivered record. */
async function* lossy(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = '';
  let isLost = false;
  for await (const part of body) {
    rest += Buffer.from(part).toString();
    const frames = rest.split(/(?<=\n\n)/);
    rest = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '');
    for (const frame of frames) {
      const isRecord = frame.includes('"operation":"READ"');
      if (isRecord && !isLost) isLost = true;
      else yield Buffer.from(frame);
    }
  }
}

it('a delivery that lacks a record is no load', async () => {
  let isLossy = true;
  const network = (options: NetworkOptions): ReturnType<typeof openNetwork> => {
    const opened = openNetwork(options);
    const send: typeof opened.send = async (request) => {
      const response = await opened.send(request);
      return isLossy && request.url.includes('/stream') ? { ...response, body: lossy(response.body) } : response;
    };
    return { ...opened, send };
  };
  const sync = () =>
    runCommand('mirror:sync', MirrorSync, ['imageattachments', '--to', file, '--json'], {
      ...{ env, openNetwork: network, clock: { now: Date.now, sleep: async () => {} } },
    });
  const state = () => queried(file, "SELECT complete, rows FROM _mirror WHERE resource = 'imageattachments'");
  expect(jsonFailure(await sync())).toMatchObject({ exitCode: 8, code: 'stream.incomplete' });
  expect(state()).toEqual([{ complete: 0, rows: 0 }]);
  isLossy = false;
  expect((await sync()).exitCode).toBe(0);
  const [{ count } = {}] = queried(file, 'SELECT count(*) AS count FROM image_attachments');
  expect([state(), Number(count) >= 25]).toEqual([[{ complete: 1, rows: count }], true]);
});
