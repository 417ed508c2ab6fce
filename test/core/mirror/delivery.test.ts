import { beforeEach, describe, expect, it } from 'vitest';
import { type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import { jsonFailure } from '../../cli/runcommand.ts';
import { big, CLAIMS, PATIENTS } from '../../support/ids.ts';
import { allRecords, line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { mirrorFolder, openServer, syncTo } from './mirroring.ts';
import { queried } from './oracle.ts';

let service: TestService;
let file: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  const images = Array.from({ length: 25 }, (_, index) =>
    line('ImageAttachmentV1', { id: big(60_000 + index), insuranceClaim: { id: CLAIMS.sent } }),
  );
  ({ file } = await mirrorFolder());
  ({ service, env } = await openServer([...allRecords(), ...images]));
});

/** The events of a stream (messages, heartbeats), each as it was sent. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of body) {
    rest += Buffer.from(part).toString();
    const frames = rest.split(/(?<=\n\n)/);
    rest = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '');
    yield* frames;
  }
}

/** A body without its first delivered record. */
async function* lossy(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isLost = false;
  for await (const event of eventsOf(body)) {
    if (event.includes('"operation":"READ"') && !isLost) isLost = true;
    else yield Buffer.from(event);
  }
}

/** A body whose delivered records have no ids. */
async function* nameless(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const event of eventsOf(body)) yield Buffer.from(event.replace(/"payload":\{"id":\d+,/, '"payload":{'));
}

/** A body that ends in order, behind so many events. */
async function* ended(body: AsyncIterable<Uint8Array>, events: number): AsyncGenerator<Uint8Array> {
  let left = events;
  for await (const event of eventsOf(body)) {
    if (left-- <= 0) return;
    yield Buffer.from(event);
  }
}

/** A network whose streams have another body. */
function streams(body: (of: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>) {
  return (options?: NetworkOptions): ReturnType<typeof openNetwork> => {
    const opened = openNetwork(options);
    const send: typeof opened.send = async (request) => {
      const response = await opened.send(request);
      return request.url.includes('/stream') ? { ...response, body: body(response.body) } : response;
    };
    return { ...opened, send };
  };
}

const sync = (resource: string, network = openNetwork) => syncTo(file, [resource], { env, openNetwork: network });

const stateOf = (resource: string) =>
  queried(file, `SELECT complete, rows FROM _mirror WHERE resource = '${resource}'`);

it.each([
  ['lacks a record', 'stream.incomplete', lossy],
  ['ends in its middle', 'stream.incomplete', (body: AsyncIterable<Uint8Array>) => ended(body, 12)],
  ['has records without ids', 'response.malformed', nameless],
])('a delivery that %s is no load', async (_, code, body) => {
  expect(jsonFailure(await sync('imageattachments', streams(body)))).toMatchObject({ exitCode: 8, code });
  expect(stateOf('imageattachments')).toEqual([{ complete: 0, rows: 0 }]);
  expect((await sync('imageattachments')).exitCode).toBe(0);
  const [{ count } = {}] = queried(file, 'SELECT count(*) AS count FROM image_attachments');
  expect([stateOf('imageattachments'), Number(count) >= 25]).toEqual([[{ complete: 1, rows: count }], true]);
});

describe('a stream whose connections end in order', () => {
  const nameOfAnn = () => queried(file, `SELECT preferred_name AS name FROM patients WHERE id = ${PATIENTS.ann}`);
  const rename = (preferredName: string) =>
    service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName } });

  it('is heard to its end over as many as it takes', async () => {
    await sync('patients');
    for (let count = 1; count <= 8; count++) await rename(`Annie ${count}`);
    const ran = await sync(
      'patients',
      streams((body) => ended(body, 2)),
    );
    expect([ran.exitCode, ran.stderr, nameOfAnn()]).toEqual([0, '', [{ name: 'Annie 8' }]]);
  });

  it('ends the sync when they bring nothing', async () => {
    await sync('patients');
    const before = nameOfAnn();
    await rename('Nan');
    const ran = await sync(
      'patients',
      streams((body) => ended(body, 0)),
    );
    expect(jsonFailure(ran)).toMatchObject({ exitCode: 8, code: 'network.unreachable' });
    expect(nameOfAnn()).toEqual(before);
    await sync('patients');
    expect(nameOfAnn()).toEqual([{ name: 'Nan' }]);
  });
});
