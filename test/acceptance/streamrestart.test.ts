import { afterEach, beforeEach, expect, test } from 'vitest';
import { ORGANIZATION, PATIENT, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

/** Twenty-five of the chunks that a delivery is written in, so that it is not at its end when its first one is heard. */
const COUNT = 2500;
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

let place: Awaited<ReturnType<typeof workplace>>;
const running: Served[] = [];

beforeEach(async () => {
  place = await workplace();
});

afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  await place.remove();
});

async function started(...args: string[]): Promise<Served> {
  const served = await serve(place.path, ['--data', 'd', ...args]);
  running.push(served);
  return served;
}

interface Message {
  readonly id: number;
  readonly operation: string;
  readonly correlationId: string | null;
  readonly payload: { readonly id?: number; readonly total?: number };
}

/** The messages after a position, until `last` says so or the server goes away. */
async function hear(url: string, after: number, last: (message: Message) => boolean): Promise<Message[]> {
  const heard: Message[] = [];
  const abort = new AbortController();
  try {
    const response = await fetch(`${url}/api/v1/stream?lastEventId=${after}`, {
      headers: { ...HEADERS, accept: 'application/x-ndjson' },
      signal: abort.signal,
    });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) {
        const message = JSON.parse(line) as Message;
        heard.push(message);
        if (!last(message)) continue;
        abort.abort();
        return heard;
      }
    }
  } catch {
    // Killed, or left.
  }
  return heard;
}

async function newest(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^molar_stream_newest_message (\d+)$/m.exec(metrics)?.[1]);
}

test('an async delivery that kill -9 interrupts is completed by the next server, in order and once', async () => {
  await writeFixture(place.path, COUNT);
  let served = await started('--import', 'fixture.ndjson');
  const start = await newest(served.url);
  const answer = await fetch(`${served.url}/api/v1/patients/async`, { headers: HEADERS });
  const correlationId = answer.headers.get('x-correlation-id');
  expect(answer.status).toBe(200);
  const heard = await hear(served.url, start, ({ operation }) => operation === 'READ');
  await served.stop('SIGKILL');
  served = await started();
  heard.push(...(await hear(served.url, heard.at(-1)?.id ?? start, ({ operation }) => operation === 'READ_COMPLETE')));
  const own = heard.filter((message) => message.correlationId === correlationId);
  expect(own.slice(0, -1).map(({ payload }) => payload.id)).toEqual(
    Array.from({ length: COUNT }, (_, index) => PATIENT + COUNT - 1 - index),
  );
  expect(own.at(-1)).toMatchObject({ operation: 'READ_COMPLETE', payload: { total: COUNT } });
});

test('SIGTERM ends open streams, and the server with 0', async () => {
  await writeFixture(place.path, 20);
  const served = await started('--import', 'fixture.ndjson');
  const listening = hear(served.url, 0, () => false);
  await expect.poll(async () => (await fetch(`${served.url}/metrics`)).text()).toMatch(/^molar_stream_listeners 1$/m);
  expect(await served.stop('SIGTERM')).toBe(0);
  await listening;
});
