import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connection, molar, ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

/** Megabytes that a server may take, whatever one tenant asks of it (contract §8). */
const MEMORY = 400;
const PATIENTS = 20_000;

describe('a server with a tenant that asks for too much', () => {
  let place: Awaited<ReturnType<typeof workplace>>;
  let served: Served;
  beforeAll(async () => {
    place = await workplace();
    await writeFixture(place.path, PATIENTS);
    served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson', '--max-connections', '60']);
  });
  afterAll(async () => {
    await served.stop();
    await place.remove();
  });

  const get = (path: string) =>
    fetch(served.url + path, { headers: { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION } });

  test('two hundred async requests make four deliveries at a time, and little memory', async (context) => {
    if (process.platform !== 'linux') return context.skip('the system does not tell the memory of a process');
    const statuses: number[] = [];
    // As many at once as there may be connections.
    for (let n = 0; n < 4; n++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => get('/api/v1/patients/async')));
      statuses.push(...answers.map(({ status }) => status));
    }
    const accepted = statuses.filter((status) => status === 200).length;
    expect(accepted).toBeGreaterThanOrEqual(4);
    // More than four only as some were complete: what is left is in the metrics.
    const metrics = await (await get('/metrics')).text();
    const used = Number(/^molar_budget_used\{budget="async"\} (\d+)$/m.exec(metrics)?.[1]);
    expect(used).toBeLessThanOrEqual(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(200 - accepted);
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${served.child.pid}/status`, 'utf8'))?.[1]);
    expect(peak / 1024).toBeLessThan(MEMORY);
  });

  test('a client waits until there is room, for a delivery and for a connection', async () => {
    // Whatever of the deliveries above is unfinished by now: the client comes to the end of its own.
    const listing = await molar(place.path, ['patients', 'list', '--limit', '1', '--json'], connection(served.url));
    expect(listing).toMatchObject({ code: 0 });
    const { port } = new URL(served.url);
    const knock = () => connect(Number(port), '127.0.0.1').on('error', () => undefined);
    const held = Array.from({ length: 60 }, knock);
    const [told] = (await once(knock(), 'data')) as [Buffer];
    expect(String(told)).toMatch(/^HTTP\/1\.1 503 /);
    const waiting = molar(place.path, ['patients', 'list', '--limit', '1', '--json'], connection(served.url));
    // Those that ask for nothing are closed after ten seconds; these go a moment after the client came.
    setTimeout(() => {
      for (const socket of held) socket.destroy();
    }, 3000);
    expect(await waiting).toMatchObject({ code: 0 });
  });
});
