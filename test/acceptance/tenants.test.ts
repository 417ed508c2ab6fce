import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import sharp from 'sharp';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connection, molar, ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

/** Megabytes that a server may take, whatever one tenant asks of it (contract §8). */
const MEMORY = 400;
/** So many that a delivery of all of them is under way while the other requests come. */
const PATIENTS = 5_000;
const CREDENTIAL = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
/** Pixels: an image is as large as may be (contract §8). */
const EDGE = 7071;

/**
 * Megabytes that a process and those that it started have in memory now; the program itself, a file that they all run, is
 * there once.
 */
function residentOf(pid: number): number {
  const read = (path: string) => {
    try {
      return readFileSync(`/proc/${path}`, 'utf8');
    } catch {
      // It has just ended.
      return '';
    }
  };
  const all = [pid, ...read(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)];
  const has = (kind: string) =>
    all.map((each) => Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(read(`${each}/status`))?.[1] ?? 0) / 1024);
  return has('RssAnon').reduce((sum, own) => sum + own, Math.max(...has('RssFile')));
}

describe('a server with a tenant that asks for too much', () => {
  let place: Awaited<ReturnType<typeof workplace>>;
  let served: Served;
  beforeAll(async () => {
    place = await workplace();
    await writeFixture(place.path, PATIENTS);
    served = await serve(place.path, [
      '--data',
      'd',
      '--import',
      'fixture.ndjson',
      '--max-connections',
      '60',
      '--max-images',
      '4',
    ]);
  });
  afterAll(async () => {
    await dispatcher.close();
    await served.stop();
    await place.remove();
  });

  // As many connections as requests at once, and no more: what is left of those that may be is for others. An image is
  // answered when it has been decoded, which on a busy machine takes minutes.
  const dispatcher = new Agent({ connections: 50, headersTimeout: 0 });
  const get = (path: string) => fetch(served.url + path, { headers: CREDENTIAL, dispatcher });

  test('two hundred async requests make four deliveries at a time, and little memory', async (context) => {
    if (process.platform !== 'linux') return context.skip('the system does not tell the memory of a process');
    const statuses: number[] = [];
    // As many at once as there may be connections.
    for (let n = 0; n < 4; n++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const answer = await get('/api/v1/patients/async');
          // Until it is read its connection is taken, and the next request opens another one.
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
      statuses.push(...answers);
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

  test('large images, each of which a decoder holds whole, take little memory together', async (context) => {
    if (process.platform !== 'linux') return context.skip('the system does not tell the memory of a process');
    const image = sharp({ create: { width: EDGE, height: EDGE, channels: 3, background: '#345678' } });
    const contents = [
      ['JPEG', await image.clone().jpeg({ progressive: true, quality: 40 }).toBuffer()],
      ['PNG', await image.clone().png({ progressive: true, compressionLevel: 1 }).toBuffer()],
    ] as const;
    const crop = { fromX: 0, fromY: 0, width: 3000, height: 2000, ratio: 0.5 };
    const post = ([mimeType, content]: (typeof contents)[number], n: number) =>
      fetch(`${served.url}/api/v1/documents`, {
        method: 'POST',
        dispatcher,
        headers: { ...CREDENTIAL, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `large ${n}`, mimeType, file: { content: content.toString('base64'), ...crop } }),
      });
    const pid = served.child.pid as number;
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, residentOf(pid));
    }, 50);
    try {
      const answers = await Promise.all([...contents, contents[0]].map(post));
      expect(answers.map(({ status }) => status)).toEqual(Array(3).fill(201));
    } finally {
      clearInterval(watching);
    }
    // That it was watched: a decoder has at least the pixels of one of them.
    expect(peak).toBeGreaterThan((EDGE * EDGE * 3) / 1e6);
    expect(peak).toBeLessThan(MEMORY);
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
