import { beforeEach, describe, expect, it } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import type { World } from '../../cli/runcommand.ts';
import { Draws } from '../../faithful/random.ts';
import { TestClock } from '../../support/clock.ts';
import { big, CLAIMS, PATIENTS } from '../../support/ids.ts';
import { allRecords, line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { mirrorFolder, once, openServer, PAYMENT, syncTo } from './mirroring.ts';
import { openNetwork } from './network.ts';
import { queried, wrongTables } from './oracle.ts';
import { serverRecords } from './practice.ts';
import { troubled } from './troubles.ts';

const MINUTE = 60_000;
const ONE = big(1);
const OF_ONE = `FROM transactions WHERE id = ${ONE}`;
const OTHER = big(70_002);
/** The first of some more payments. */
const MORE = big(80_000);
const ANN = `/patients/${PATIENTS.ann}`;

let service: TestService;
let file: string;
let env: Readonly<Record<string, string>>;
/** Ours, which is hours ahead of the server's. */
const clock = { now: () => service.clock.now() + 180 * MINUTE, sleep: async () => {} };

beforeEach(async () => {
  const images = Array.from({ length: 25 }, (_, index) =>
    line('ImageAttachmentV1', {
      id: big(60_000 + index),
      examName: `Exam ${index}`,
      insuranceClaim: { id: CLAIMS.sent },
    }),
  );
  const options = { clock: new TestClock(), listeners: { heartbeatMs: 20 } };
  ({ file } = await mirrorFolder());
  ({ service, env } = await openServer([...allRecords(), ...images], options));
  service.clock.advance(60 * MINUTE);
});

const sync = (words: readonly string[] = [], world: World = {}) => syncTo(file, words, { env, clock, ...world });

/** Where two resources tell as much as all of them. */
const TWO = ['patients', 'transactiontags'];

/** Syncs, which has to succeed, and says what is wrong in the copy then, of all resources or of `TWO`. */
async function wrongAfter(words: readonly string[] = [], world: World = {}): Promise<Record<string, string[]>> {
  const { exitCode, stderr } = await sync(words, world);
  expect(exitCode, stderr).toBe(0);
  const lists = words.includes('patients') ? TWO : undefined;
  return wrongTables(file, await serverRecords(service, lists), lists);
}

const change = async (path: string, body: object) =>
  expect((await service.call('PUT', path, { body })).status).toBe(200);
const correct = () =>
  service.import([line('Transaction', { ...PAYMENT, id: OTHER, previousTransaction: { id: ONE } })]);

describe('what the stream tells', () => {
  it('is applied in its order, each change as of its own time', async () => {
    expect(await wrongAfter(['--history'])).toEqual({});
    const times: string[] = [];
    for (const body of [{ preferredName: 'First' }, { address1: '2 Second Street' }]) {
      service.clock.advance(MINUTE);
      times.push(service.clock.text());
      await change(ANN, body);
    }
    service.clock.advance(MINUTE);
    const [tag] = queried(file, 'SELECT max(id) AS id FROM transaction_tags');
    expect((await service.call('DELETE', `/transactiontags/${tag?.id}`)).status).toBe(200);
    const deleted = service.clock.text();
    service.clock.advance(30 * MINUTE);
    expect(await wrongAfter()).toEqual({});
    // Written last by this sync, whenever it changed.
    const written = `SELECT p._synced_at = m.as_of AS equal FROM patients AS p, _mirror AS m WHERE p.id = ${PATIENTS.ann}`;
    expect(queried(file, `${written} AND m.resource = 'patients'`)).toEqual([{ equal: 1 }]);
    const versions = `SELECT _operation AS o, _valid_from AS f, _valid_to AS t FROM patients_history WHERE id = ${PATIENTS.ann} AND _operation <> 'CREATE' ORDER BY rowid`;
    expect(queried(file, versions)).toEqual([
      { o: 'UPDATE', f: times[0], t: times[1] },
      { o: 'UPDATE', f: times[1], t: null },
    ]);
    expect(queried(file, 'SELECT id, _deleted_at AS at FROM transaction_tags_deleted')).toEqual([
      { id: tag?.id, at: deleted },
    ]);
  });

  it('is kept of the chosen fields alone', async () => {
    const words = ['patients', '--columns', 'patients:lastName,phones'];
    await sync(words);
    await change(ANN, { firstName: 'Secret', lastName: 'Changed' });
    const { body } = await service.call('GET', ANN);
    const { id: _, ...record } = body.data as Record<string, unknown>;
    expect((await service.call('POST', '/patients', { body: { ...record, firstName: 'Secret' } })).status).toBe(201);
    await sync(words);
    const rows = queried(file, 'SELECT last_name, _record FROM patients');
    expect(rows.filter(({ last_name }) => last_name === 'Changed')).toHaveLength(2);
    const names = rows.flatMap((row) => Object.keys(JSON.parse(String(row._record))));
    expect([...new Set(names)].sort()).toEqual(['id', 'lastName', 'phones']);
  });

  it('of a record that another program removed from the copy brings it back', async () => {
    await sync(TWO);
    const connection = openConnection(file);
    connection.exec(
      `DELETE FROM patients WHERE id = ${PATIENTS.ann}; DELETE FROM patient_phones WHERE patient_id = ${PATIENTS.ann}`,
    );
    connection.close();
    service.clock.advance(30 * MINUTE);
    await change(ANN, { preferredName: 'Annie' });
    expect(await wrongAfter(TWO)).toEqual({});
  });

  it('says nothing of another address, where everything is compared again', async () => {
    await sync();
    const connection = openConnection(file);
    connection.exec('DELETE FROM transaction_tags');
    connection.close();
    const moved = { ...env, MOLAR_URL: String(env.MOLAR_URL).replace('127.0.0.1', 'localhost') };
    expect(await wrongAfter(['--moved'], { env: moved })).toEqual({});
  });

  it('over a connection that is lost twice is all applied', async () => {
    await sync(TWO);
    for (let count = 0; count < 5; count++) await change(ANN, { preferredName: `Annie ${count}` });
    let left = 3;
    const draws = { chance: () => left-- > 0, whole: () => 0 } as unknown as Draws;
    const cutting = troubled(draws, { cuts: 1 });
    expect(await wrongAfter(TWO, { openNetwork: cutting })).toEqual({});
  });

  it('since an interrupted first load began is applied by the run that completes it', async () => {
    const words = [...TWO, '--page-size', '1', '--parallel', '1'];
    const { id: _, ...ann } = (await service.call('GET', ANN)).body.data as Record<string, unknown>;
    const { body } = await service.call('POST', '/patients', { body: ann });
    for (let count = 0; count < 15; count++) await service.call('POST', '/patients', { body: ann });
    const killed = new AbortController();
    const began: unknown[] = [];
    const after: unknown[] = [];
    const asked: string[] = [];
    const watched: NonNullable<World['openNetwork']> = (options) => {
      const network = openNetwork(options);
      const send: typeof network.send = async (request) => {
        asked.push(request.url);
        if (asked.filter((url) => url.includes('/patients?')).length === 14)
          killed.abort(localFailure('run.interrupted', 'Killed.'));
        const response = await network.send(request);
        if (request.url.includes('/stream')) {
          after.push(request.headers['last-event-id']);
          began.push(response.headers['x-stream-position']);
        }
        return response;
      };
      return { ...network, send };
    };
    expect((await sync(words, { openNetwork: watched, signal: killed.signal })).exitCode).not.toBe(0);
    const [position] = began.splice(0);
    expect([after.splice(0), typeof position]).toEqual([[undefined], 'string']);
    asked.length = 0;
    await change(ANN, { preferredName: 'Annie' });
    await service.import([line('PatientV1', { id: (body.data as { id: number }).id, deleted: true })]);
    service.clock.advance(30 * MINUTE);
    expect(await wrongAfter(words, { openNetwork: watched })).toEqual({});
    expect(after).toContain(position);
    // No list of the ids was needed to find the one that is gone.
    expect(asked.filter((url) => /responseFields=id(&|$)/.test(url))).toEqual([]);
  });

  it('comes again over another connection, and then changes nothing that is newer', async () => {
    await sync(TWO);
    for (const preferredName of ['First', 'Second']) await change(ANN, { preferredName });
    await change(`/patients/${PATIENTS.bob}`, { preferredName: 'Third' });
    let connections = 0;
    let first = '';
    const openTwice: NonNullable<World['openNetwork']> = (options) => {
      const network = openNetwork(options);
      const send: typeof network.send = async (request) => {
        const response = await network.send(request);
        if (request.headers['last-event-id'] === undefined) return response;
        return { ...response, body: ++connections === 1 ? broken(response.body) : repeated(response.body) };
      };
      return { ...network, send };
    };
    /** The first two messages, and no more. */
    async function* broken(body: AsyncIterable<Uint8Array>) {
      let text = '';
      for await (const part of body) {
        text += Buffer.from(part).toString();
        const frames = text.split(/(?<=\n\n)/).filter((frame) => /^data:/m.test(frame) && frame.endsWith('\n\n'));
        if (frames.length < 2) continue;
        [first = ''] = frames;
        yield Buffer.from(frames.slice(0, 2).join(''));
        throw new Error('The connection was cut off.');
      }
    }
    async function* repeated(body: AsyncIterable<Uint8Array>) {
      yield Buffer.from(first);
      yield* body;
    }
    expect(await wrongAfter(TWO, { openNetwork: openTwice })).toEqual({});
    expect([connections, first.includes('First')]).toEqual([2, true]);
  });

  it('of deliveries is counted once, also where messages come again, and of the own delivery alone', async () => {
    const network = troubled(new Draws('deliveries'), {
      before: async () => void (await service.call('GET', '/imageattachments/async')),
      repeats: 1,
    });
    expect(await wrongAfter([], { openNetwork: network })).toEqual({});
    expect(queried(file, 'SELECT count(*) > 25 AS all_there FROM image_attachments')).toEqual([{ all_there: 1 }]);
  });
});

describe('what the stream does not tell', () => {
  beforeEach(async () => {
    const ids = [ONE, ...Array.from({ length: 15 }, (_, index) => MORE + index)];
    await service.import(ids.map((id) => line('Transaction', { ...PAYMENT, id })));
    service.clock.advance(30 * MINUTE);
  });

  it('is found during a first load: a payment that is deleted after it was read', async () => {
    const openNetwork = once('/transactions?', 4, () =>
      service.import([line('Transaction', { id: ONE, deleted: true })]),
    );
    const words = ['transactions', '--page-size', '1', '--parallel', '1'];
    expect((await sync(words, { openNetwork })).exitCode).toBe(0);
    expect(queried(file, `SELECT id ${OF_ONE}`)).toEqual([]);
  });

  it('is older than what is read later, though it is told again', async () => {
    await sync(['patients']);
    await service.import([line('Transaction', { ...PAYMENT, id: big(2) })]);
    await correct();
    // The last message that the table has read: of the deletion of a payment there is none.
    await service.import([line('Transaction', { ...PAYMENT, id: big(3) })]);
    await service.import([line('Transaction', { id: big(3), deleted: true })]);
    service.clock.advance(30 * MINUTE);
    await sync(['transactions']);
    service.clock.advance(30 * MINUTE);
    // The oldest position of the copy is before the payments, of which the stream says nothing else.
    expect(await wrongAfter()).toEqual({});
    expect(queried(file, 'SELECT id FROM transactions_deleted')).toEqual([]);
  });

  it('is found while a mirror is followed: a correction with what tells of it, a deleted payment within a minute', async () => {
    const ended = new AbortController();
    const end = () => ended.abort(localFailure('run.interrupted', 'Interrupted.'));
    const active = () => queried(file, `SELECT is_active ${OF_ONE}`)[0]?.is_active;
    const steps: [string, () => Promise<unknown> | unknown][] = [
      ['synced', correct],
      [
        'changed',
        async () => {
          expect(active()).toBe(0);
          await service.import([line('Transaction', { id: MORE, deleted: true })]);
          service.clock.advance(2 * MINUTE);
        },
      ],
      ['changed', end],
    ];
    const events: string[] = [];
    const { stderr } = await sync(['transactions', '--follow'], {
      signal: ended.signal,
      write: async (chunk) => {
        const { event } = JSON.parse(String(chunk)) as { event: string };
        const [expected, step] = steps[events.length] ?? [];
        events.push(event);
        if (event !== expected) end();
        else await step?.();
      },
    });
    expect(events, stderr).toEqual(steps.map(([event]) => event));
    expect(queried(file, `SELECT id FROM transactions_deleted`)).toEqual([{ id: MORE }]);
  });
});

it('a server whose clock is hours behind ours, without its stream, has its changes found', async () => {
  const openNetwork = troubled(new Draws('no stream'), { hasStream: () => false });
  for (const preferredName of ['First', 'Second', 'Third']) {
    await change(ANN, { preferredName });
    expect(await wrongAfter(TWO, { openNetwork })).toEqual({});
    service.clock.advance(10 * MINUTE);
  }
});
