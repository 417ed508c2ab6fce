import { beforeEach, expect, it } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { openNetwork as openSockets } from '../../../src/core/transport/network.ts';
import type { World } from '../../cli/runcommand.ts';
import { TestClock } from '../../support/clock.ts';
import { big, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import type { TestService } from '../../support/service.ts';
import { answer } from '../transport/script.ts';
import { mirrorFolder, once, openFaithful, openServer, PAYMENT, syncTo } from './mirroring.ts';
import { answered } from './network.ts';
import { queried, wrongRows } from './oracle.ts';
import { serverRecords } from './practice.ts';

const MINUTE = 60_000;
const ONE = big(1);
const OTHER = big(70_002);
const PAGES = ['transactions', '--page-size', '5', '--parallel', '1'];

let service: TestService;
let file: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
  ({ service, env } = await openServer(undefined, { clock: new TestClock(), listeners: { heartbeatMs: 20 } }));
  const ids = [ONE, ...Array.from({ length: 15 }, (_, index) => big(80_000 + index))];
  await service.import(ids.map((id) => line('Transaction', { ...PAYMENT, id })));
  service.clock.advance(30 * MINUTE);
});

const sync = (words: readonly string[] = PAGES, world: World = {}) =>
  syncTo(file, words, { env, clock: { now: service.clock.now, sleep: async () => {} }, ...world });

/** Replaces a payment; the specification does not say that it gets a new change time. */
async function correct(): Promise<void> {
  const [before] = await rawRows<{ at: string }>(
    service,
    `SELECT last_modified AS at FROM transactions WHERE id = ${ONE}`,
  );
  await service.import([line('Transaction', { ...PAYMENT, id: OTHER, previousTransaction: { id: ONE } })]);
  await tamper(service, `UPDATE transactions SET last_modified = '${before?.at}' WHERE id = ${ONE}`);
}

const isActive = () => queried(file, `SELECT is_active AS active FROM transactions WHERE id = ${ONE}`);

async function expectCorrected(): Promise<void> {
  expect(
    wrongRows(file, 'transactions', (await serverRecords(service, ['transactions'])).get('transactions') ?? []),
  ).toEqual([]);
  expect(isActive()).toEqual([{ active: 0 }]);
}

it.each([
  ['before a sync', true, '', 0],
  ['during a first load', false, '/transactions?', 2],
  ['at the end of a first load', false, '/stream', 2],
  ['before a sync reads what has changed', true, '/transactions?', 1],
  ['after a sync has read what has changed', true, '/transactions/totalcount', 1],
  ['when a sync has compared the counts', true, '/transactions/totalcount', 2],
])('a correction %s is found, though no change time tells of it', async (_, isThere, address, nth) => {
  if (isThere) await sync();
  if (nth === 0) await correct();
  service.clock.advance(30 * MINUTE);
  const { exitCode, stderr } = await sync(PAGES, { openNetwork: once(address, nth, correct) });
  expect(exitCode, stderr).toBe(0);
  await expectCorrected();
});

it('a correction of what a load had read that was killed is found', async () => {
  const killed = new AbortController();
  const kill = async () => killed.abort(localFailure('run.interrupted', 'Killed.'));
  const openNetwork = once('/transactions?', 14, kill, openSockets);
  const words = ['transactions', '--page-size', '1', '--parallel', '1'];
  expect((await sync(words, { openNetwork, signal: killed.signal })).exitCode).not.toBe(0);
  expect(isActive()).toEqual([{ active: 1 }]);
  await correct();
  service.clock.advance(30 * MINUTE);
  await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName: 'Annie' } });
  expect((await sync(words, { openNetwork: openSockets })).exitCode).toBe(0);
  await expectCorrected();
});

it('a first load that came to nothing begins again where the stream is by then', async () => {
  const refusing = answered((url) => (url.includes('/transactions?') ? answer(400, {}) : undefined));
  await service.import([line('Transaction', { id: ONE, deleted: true })]);
  expect((await sync(PAGES, { openNetwork: refusing })).exitCode).toBe(5);
  await service.import([line('Transaction', { ...PAYMENT, id: ONE })]);
  service.clock.advance(30 * MINUTE);
  await correct();
  service.clock.advance(30 * MINUTE);
  expect((await sync()).exitCode).toBe(0);
  await expectCorrected();
});

it('a record whose deletion is told while a sync ends stays deleted, though it was read before', async () => {
  const id = big(90_000);
  await service.import([line('Transaction', { ...PAYMENT, id, ledgerType: 'PatientProcedureLedger', amount: 80 })]);
  const deleted = () => service.import([line('Transaction', { id, deleted: true })]);
  expect((await sync(PAGES, { openNetwork: once('/stream', 2, deleted) })).exitCode).toBe(0);
  expect(queried(file, `SELECT id FROM transactions WHERE id = ${id}`)).toEqual([]);
});

it.each([
  [[], 1],
  [['isActive'], 1],
  [['replacedByTransaction'], 1],
  [['amount'], 0],
])('an original is read once, where that can change what is kept of it: fields %j', async (fields, times) => {
  const faithful = await openFaithful({ seed: 'corrections', moods: { correctionsAreDated: false } });
  const columns = fields.length > 0 ? ['--columns', `transactions:${['previousTransaction', ...fields].join()}`] : [];
  const run = () => syncTo(file, ['transactions', ...columns], { env: faithful.env });
  expect((await run()).exitCode).toBe(0);
  const original = faithful.records('transactions').find((record) => record.isActive);
  const { id } = faithful.correct(Number(original?.id));
  for (let count = 0; count < 2; count++) expect((await run()).exitCode).toBe(0);
  const [row] = queried(file, `SELECT * FROM transactions WHERE id = ${original?.id}`);
  if (row !== undefined && 'is_active' in row) expect(row.is_active).toBe(0);
  if (row !== undefined && 'replaced_by_transaction_id' in row) expect(row.replaced_by_transaction_id).toBe(id);
  const asked = faithful.requests.filter(({ query }) => query.filter?.includes('id->') && query.lastId === '0');
  expect(asked).toHaveLength(times);
});
