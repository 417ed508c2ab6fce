import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queried } from '../core/mirror/oracle.ts';
import { molarIn } from './inprocess.ts';
import { connection, exit, PATIENT, type Served, serve, start, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let file: string;

beforeEach(async () => {
  place = await workplace();
  file = join(place.path, 'practice.db');
  await writeFixture(place.path, 5);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson', '--rate-limit', '0']);
});

afterEach(async () => {
  await served.stop();
  await place.remove();
});

const names = () => queried(file, 'SELECT last_name FROM patients ORDER BY id').map((row) => row.last_name);

describe('a mirror that is followed', () => {
  it('has each change as it tells it, over a restart of the server, until it is interrupted', async () => {
    const env = connection(served.url);
    const change = (name: string) =>
      molarIn(place.path, ['patients', 'update', String(PATIENT), '--last-name', name], env);
    const running = start(place.path, ['mirror', 'sync', '--to', file, '--follow', '--json'], env);
    const lines = createInterface({ input: running.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
    expect(await next()).toMatchObject({ event: 'synced', deleted: 0 });
    await change('First');
    expect(await next()).toMatchObject({ event: 'changed', added: 0, changed: 1, deleted: 0 });
    expect(names()[0]).toBe('First');
    await served.stop();
    expect(await next()).toMatchObject({ event: 'disconnected' });
    served = await serve(place.path, ['--data', './d', '--port', new URL(served.url).port]);
    expect(await next()).toMatchObject({ event: 'connected' });
    await change('Second');
    expect(await next()).toMatchObject({ event: 'changed', changed: 1 });
    expect(names()[0]).toBe('Second');
    running.kill('SIGINT');
    expect(await exit(running)).toBe(130);
    const again = await molarIn(place.path, ['mirror', 'sync', '--to', file, '--json'], env);
    expect(again.code, again.stderr).toBe(0);
  });
});
