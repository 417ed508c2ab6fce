import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { numberRecords } from '../../../../src/server/import/lines.ts';
import type { PaceLimits } from '../../../../src/server/import/staged/pace.ts';
import { ImportResumer } from '../../../../src/server/import/staged/resumer.ts';
import { importStaged, resumeImports, waitForClaim } from '../../../../src/server/import/staged/stagedimport.ts';
import { blankRecord } from '../../../../src/server/rendering.ts';
import type { Service } from '../../../../src/server/service.ts';
import { putRecord } from '../../../../src/server/store/records.ts';
import type { ImportClaim, StagingArea, Store, Transaction } from '../../../../src/server/store/store.ts';
import { storedEntries } from '../../../contract/trail.ts';
import { idsOf, rowOf, type WireRecord } from '../../../support/calls.ts';
import { PDF } from '../../../support/files.ts';
import { ELSEWHERE, OTHER_ORGANIZATION, TOKENS } from '../../../support/ids.ts';
import { bareRecords, line } from '../../../support/practice.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { everythingOf, killedOnceDecided, SMALL_PARTS } from './stores.ts';

let service: TestService;
/** Kept for a whole test: otherwise the server would go on with an import by itself. */
let claim: ImportClaim;
/** Areas that are open: none, once an import has ended. */
let areas = 0;
/** What was done to areas, in order. */
const staged: ('written' | 'synced')[] = [];
beforeEach(async () => {
  areas = 0;
  staged.length = 0;
  service = await testService(bareRecords());
  claim = counting(await waitForClaim(service.service.store));
});
afterEach(async () => {
  await claim.release();
  await service.close();
  expect(areas).toBe(0);
});

function counting(given: ImportClaim): ImportClaim {
  const open = async (name: string): Promise<StagingArea> => {
    const area = await given.open(name);
    areas++;
    return {
      ...area,
      write: (batch) => area.write(batch).finally(() => staged.push('written')),
      sync: () => area.sync().finally(() => staged.push('synced')),
      close: () => area.close().finally(() => areas--),
    };
  };
  return { ...given, open };
}

const NEW = 'a-new-practice';
const TOKEN = 'token-of-the-new-practice';
const IDS = [1, 2, 3, 4, 5, 6, 7];
const RECORDS = [
  { type: 'Organization', id: NEW, timezone: 'UTC' },
  { type: 'AccessToken', token: TOKEN, organizations: [NEW], scopes: ['model:read'] },
  ...IDS.map((id) => line('PatientV1', { id, firstName: 'Pat', lastName: `No ${id}` }, NEW)),
];

const gone = (type: string, id: number) => line(type, { id, deleted: true }, OTHER_ORGANIZATION);
const DELETION = [
  { type: 'Organization', id: OTHER_ORGANIZATION, deleted: true },
  gone('PatientV1', ELSEWHERE.patient),
  gone('PerioExam', ELSEWHERE.exam),
  gone('InsuranceClaim', ELSEWHERE.claim),
];

/** Decides an import, whose process ends then. */
async function decided(records: readonly WireRecord[]): Promise<void> {
  const source = () => numberRecords(records);
  const importing = importStaged(killedOnceDecided(service.service), claim, source, true, SMALL_PARTS);
  await expect(importing).rejects.toThrow('killed');
}

/** Of which organizations an import writes, transaction by transaction: undefined for what decides or ends it. */
async function writesOf(records: readonly WireRecord[], limits: PaceLimits): Promise<(number | undefined)[]> {
  const writes: (number | undefined)[] = [];
  const noting = watched((org) => writes.push(org));
  await importStaged(noting, claim, () => numberRecords(records), true, limits);
  return writes;
}

const goOn = (by: Service = service.service, signal?: AbortSignal) =>
  resumeImports(by, claim, { limits: SMALL_PARTS, ...(signal && { signal }) });

/** A service whose every write is told of before and after: `org` is undefined for the one that ends an import. */
function watched(before: (org?: number) => unknown, after: () => unknown = () => {}): Service {
  const { store } = service.service;
  const write: Store['write'] = async (work, org) => {
    await before(org);
    const value = await store.write(work, org);
    after();
    return value;
  };
  return { ...service.service, store: { ...store, write } };
}

const change = (work: (tx: Transaction) => Promise<unknown>) => service.service.store.write(work);
const waiting = () => service.service.store.read.all<{ name: string; position: string }>(sql`SELECT * FROM imports`);
const seen = (organization: string, token: string) => service.call('GET', '/patients', { organization, token });

describe('an import', () => {
  it('is published with its decision, or in parts that wait for other writes of their organization', async () => {
    expect(await writesOf(RECORDS, { ...SMALL_PARTS, atOnce: IDS.length })).toEqual([undefined]);
    const [other] = RECORDS;
    const records = [
      { ...other, id: 'longer' },
      ...RECORDS.slice(2).map((own) => ({ ...own, organizationId: 'longer' })),
    ];
    const limits = { ...SMALL_PARTS, atOnce: IDS.length - 1 };
    expect(await writesOf(records, limits)).toEqual([undefined, 4, 4, 4, undefined]);
    // What was staged has gone, too.
    expect(await claim.names()).toEqual([]);
  });

  it('is on disk as a whole before it is decided', async () => {
    const steps: string[][] = [];
    const noting = watched(() => steps.push(staged.splice(0)));
    await importStaged(noting, claim, () => numberRecords(RECORDS), true, SMALL_PARTS);
    const [beforeDecision = [], ...later] = steps;
    expect([beforeDecision.at(-1), new Set(beforeDecision)]).toEqual(['synced', new Set(['written', 'synced'])]);
    expect(later.flat()).not.toContain('written');
  });

  it('is published with the files of one document at a time, and with all of its tags', async () => {
    const papers = [1, 2].map((id) => line('DocumentV1', { id, name: 'a', mimeType: 'PDF', file: { content: PDF } }));
    const tags = [1, 2].map((id) => line('TransactionTagV1', { id, tagText: `${id}`, tagType: 'PAYMENT_TAG' }));
    expect(await writesOf([...papers, ...tags], SMALL_PARTS)).toEqual([undefined, 1, 1, undefined]);
  });

  it('leaves nothing when it has been taken for dead before its decision', async () => {
    const before = await everythingOf(service);
    const taken = { ...claim, confirm: () => Promise.reject(new Error('taken')) };
    const importing = importStaged(service.service, taken, () => numberRecords(RECORDS), true);
    await expect(importing).rejects.toThrow('taken');
    expect(await everythingOf(service)).toEqual(before);
    expect(await claim.names()).toEqual([]);
  });
});

describe('while an import is decided and not published in full', () => {
  it('nobody finds an organization that it brings', async () => {
    const ids = async () => {
      const rows = await service.service.store.read.all<{ id: string }>(sql`SELECT id FROM organizations ORDER BY org`);
      return rows.map(({ id }) => id);
    };
    const before = await ids();
    await decided([...RECORDS, { type: 'Organization', id: 'another', timezone: 'UTC' }]);
    expect((await seen(NEW, TOKEN)).status).toBe(403);
    await goOn();
    expect(idsOf(await seen(NEW, TOKEN))).toEqual(IDS);
    expect(await ids()).toEqual([...before, NEW, 'another']);
    expect(await waiting()).toEqual([]);
  });

  it('nobody finds one that it deletes', async () => {
    expect((await seen(OTHER_ORGANIZATION, TOKENS.other)).status).toBe(200);
    await decided(DELETION);
    expect((await seen(OTHER_ORGANIZATION, TOKENS.other)).status).toBe(403);
    await goOn();
    expect(await service.service.store.read.all(sql`SELECT org FROM organizations`)).toHaveLength(1);
  });

  it('a record that a request has put into one that it deletes is kept, and so is that one', async () => {
    await decided(DELETION);
    const record = { ...blankRecord(patients), id: 77, firstName: 'Was', lastName: 'Told' };
    await change((tx) => putRecord(tx, 2, patients, record));
    await goOn();
    expect(idsOf(await seen(OTHER_ORGANIZATION, TOKENS.other))).toEqual([77]);
  });

  it('whoever is behind another process that goes on with it publishes nothing more', async () => {
    await decided(RECORDS);
    const moved = watched(() =>
      change((tx) => tx.run(sql`UPDATE imports SET position = '{"org":0,"step":0,"seq":0}'`)),
    );
    await expect(goOn(moved)).rejects.toThrow('Another process has gone on');
    expect(await service.service.store.read.all(sql`SELECT id FROM patients WHERE org > 2`)).toEqual([]);
  });

  it('nor ends what another one has ended', async () => {
    await decided(RECORDS);
    const ended = watched(async (org) => {
      if (org === undefined) await change((tx) => tx.run(sql`DELETE FROM imports`));
    });
    await expect(goOn(ended)).rejects.toThrow('Another process has gone on');
    expect((await seen(NEW, TOKEN)).status).toBe(403);
  });

  it('a server that ends leaves it between two parts', async () => {
    await decided(RECORDS);
    const before = await waiting();
    await expect(goOn(service.service, AbortSignal.abort())).rejects.toThrow('aborted');
    expect(await waiting()).toEqual(before);
    const ending = new AbortController();
    const first = watched(
      () => {},
      () => ending.abort(),
    );
    await expect(goOn(first, ending.signal)).rejects.toThrow('aborted');
    expect(await service.service.store.read.all(sql`SELECT id FROM patients WHERE org > 2`)).toHaveLength(3);
    await goOn();
    expect(idsOf(await seen(NEW, TOKEN))).toEqual(IDS);
  });

  it('a server that goes on with it and ends leaves the rest, too', async () => {
    await decided(RECORDS);
    await claim.release();
    let closing: Promise<void> | undefined;
    const resumer: ImportResumer = new ImportResumer(
      watched(
        () => {},
        () => {
          closing ??= resumer.close();
        },
      ),
      () => {},
    );
    onTestFinished(() => resumer.close());
    resumer.start();
    await expect.poll(() => closing === undefined).toBe(false);
    await closing;
    expect(await waiting()).toHaveLength(1);
    claim = counting(await waitForClaim(service.service.store));
    await goOn();
    expect(idsOf(await seen(NEW, TOKEN))).toEqual(IDS);
  });

  it('the next import publishes the rest of it first', async () => {
    await decided(RECORDS);
    await claim.release();
    await service.import([line('PatientV1', { id: 4, firstName: 'Next', lastName: 'One' }, NEW)]);
    claim = await waitForClaim(service.service.store);
    expect(idsOf(await seen(NEW, TOKEN))).toEqual(IDS);
    expect(rowOf(await service.call('GET', '/patients/4', { organization: NEW, token: TOKEN })).firstName).toBe('Next');
  });

  it('it is given up, and said so once, when what is staged of it is missing', async () => {
    await decided(RECORDS);
    for (const name of await claim.names()) await claim.remove(name);
    await expect(goOn()).rejects.toThrow('what is left of it is missing');
    expect(await waiting()).toEqual([]);
    await goOn();
  });

  it('it stays that of whoever has decided it, and of that time, in the audit log and in its records', async () => {
    await decided(RECORDS);
    const at = service.clock.text();
    service.clock.advance(60_000);
    await change((tx) =>
      tx.run(sql`UPDATE imports SET plan = replace(plan, '"who":"command ', '"who":"command not ')`),
    );
    await goOn();
    const own = (await storedEntries(service)).filter(({ operation }) => operation === 'server.import');
    expect(own.at(-1)).toMatchObject({ who: expect.stringMatching(/^command not ./), at, record_count: IDS.length });
    const { body } = await seen(NEW, TOKEN);
    expect(body.data).toEqual(IDS.map((id) => expect.objectContaining({ id, lastModified: at })));
  });
});
