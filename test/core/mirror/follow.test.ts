import { beforeEach, expect, it } from 'vitest';
import { EXIT } from '../../../src/catalog/failures.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { runCommand } from '../../cli/runcommand.ts';
import type { Faithful } from '../../faithful/service.ts';
import { answer } from '../transport/script.ts';
import { mirrorFolder, openFaithful, openServer, syncTo } from './mirroring.ts';
import { answered } from './network.ts';

/** More waits than a run has that comes to its end. */
const MANY = 300;

let file: string;
/** Paths that fail, and how. */
let failing: RegExp | undefined;
let failure: 'away' | 503 | 401 | 400;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
  failing = undefined;
});

const openNetwork = answered((url) => {
  if (!failing?.test(url)) return undefined;
  // Nothing listens there.
  return failure === 'away' ? 'http://127.0.0.1:1/' : answer(failure, '');
});

const sync = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  syncTo(file, words, { env, openNetwork });

/** Follows a service without a stream, and does something at each event, until there is nothing left to do. */
async function follow(service: Faithful, steps: readonly (() => void)[], words: readonly string[] = []) {
  const ended = new AbortController();
  const end = () => ended.abort(localFailure('run.interrupted', 'Interrupted.'));
  const events: string[] = [];
  const asOfs: string[] = [];
  const waits: number[] = [];
  const ran = await runCommand(
    'mirror:sync',
    MirrorSync,
    ['patients', 'transactiontags', '--to', file, '--json', '--follow', ...words],
    {
      ...{ env: service.env, openNetwork, signal: ended.signal },
      clock: {
        now: Date.now,
        sleep: async (milliseconds) => {
          if (waits.push(milliseconds) > MANY) end();
          ended.signal.throwIfAborted();
        },
      },
      write: async (chunk) => {
        const step = steps[events.length];
        const { event, asOf } = JSON.parse(String(chunk));
        events.push(event);
        asOfs.push(asOf);
        if (step === undefined) end();
        else step();
      },
    },
  );
  return { ...ran, events, asOfs, waits };
}

it.each(['away', 503] as const)('tells that a service without a stream is gone, and there again: %s', async (kind) => {
  const service = await openFaithful({ seed: 'follow' });
  failure = kind;
  const [patient] = service.records('patients');
  const { events } = await follow(service, [
    () => (failing = /./),
    () => (failing = undefined),
    () => service.edit('patients', Number(patient?.id), { lastName: 'Changed' }),
  ]);
  expect(events).toEqual(['synced', 'disconnected', 'connected', 'changed']);
});

it('asks a service without a stream as often as it is told to, and after each outage soon', async () => {
  const service = await openFaithful({ seed: 'follow' });
  failure = 'away';
  const [fail, heal] = [() => (failing = /./), () => (failing = undefined)];
  const { events, waits } = await follow(service, [fail, heal, fail, heal], ['--fresh', '7m']);
  expect(events).toEqual(['synced', 'disconnected', 'connected', 'disconnected', 'connected']);
  // The last wait is what the interruption ends.
  expect([waits[0], waits.at(-2), waits.at(-1)]).toEqual([420_000, 500, 420_000]);
});

it('goes on with the others when a resource is refused, and says so once each time', async () => {
  const service = await openFaithful({ seed: 'follow' });
  failure = 400;
  const [patient] = service.records('patients');
  let edits = 0;
  const edit = () => service.edit('patients', Number(patient?.id), { lastName: `Changed ${++edits}` });
  const start = () => {
    failing = /transactiontags/;
    edit();
  };
  const heal = () => {
    failing = undefined;
    edit();
  };
  const { events, stderr } = await follow(service, [start, edit, heal, start, edit]);
  expect(events).toEqual(['synced', 'changed', 'changed', 'changed', 'changed', 'changed']);
  expect(stderr.match(/transactiontags: not up to date/g)).toHaveLength(2);
});

it('is as of before while one resource fails in a way that passes', async () => {
  const service = await openFaithful({ seed: 'follow' });
  failure = 503;
  const { asOfs, events } = await follow(service, [() => (failing = /transactiontags/)]);
  expect(events).toEqual(['synced', 'disconnected']);
  expect(asOfs[1]).toBe(asOfs[0]);
});

it('says once that a list lacks most of its records, which no other attempt will mend', async () => {
  const service = await openFaithful({ seed: 'lacking', practice: { tags: 150 } });
  const [patient] = service.records('patients');
  let edits = 0;
  const edit = () => service.edit('patients', Number(patient?.id), { lastName: `Changed ${++edits}` });
  const lose = () => {
    for (const { id } of service.records('transactiontags').slice(10)) service.remove('transactiontags', Number(id));
    edit();
  };
  const { events, stderr } = await follow(service, [lose, edit, edit]);
  expect(events).toEqual(['synced', 'changed', 'changed', 'changed']);
  expect(stderr.match(/transactiontags: not up to date/g)).toHaveLength(1);
});

it('ends at once when the credentials are refused: every other resource would be, too', async () => {
  const service = await openFaithful({ seed: 'refused' });
  failure = 401;
  failing = /\/transactions\b/;
  const { exitCode, stdout } = await sync([], service.env);
  expect([exitCode, stdout]).toEqual([EXIT.auth, '']);
  const asked = service.requests.map(({ path }) => path);
  expect([asked.includes('/api/v1/patients'), asked.includes('/api/v1/appointmenthistories')]).toEqual([true, false]);
});

it.each(['away', 503] as const)('does not take a stream that fails for none: %s', async (kind) => {
  const { service, env } = await openServer();
  await sync([], env);
  // The end of what the first one had delivered is a message, too.
  await service.service.deliveries.idle();
  const { position } = (await sync([], env)).json;
  failure = kind;
  failing = /\/stream/;
  expect((await sync([], env)).exitCode).toBe(8);
  failing = undefined;
  const { json: again } = await sync([], env);
  expect(again).toMatchObject({ position, complete: true });
  expect(again.requests).toBeLessThanOrEqual(12);
});
