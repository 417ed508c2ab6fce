import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../src/server/rendering.ts';
import type { Service } from '../../../src/server/service.ts';
import { putRecord } from '../../../src/server/store/records.ts';
import { SCHEMA } from '../../../src/server/store/schema/schema.ts';
import type { ImportClaim, Transaction } from '../../../src/server/store/store.ts';
import { big, ELSEWHERE, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { type TestService, testService } from '../../support/service.ts';
import { testPostgres } from '../../support/services.ts';
import { importInParts, killedOnceDecided, resume } from '../import/staged/stores.ts';

let database: TestDatabase | undefined;
let servers: TestService[] = [];

beforeEach(async () => {
  if ((await testPostgres()) === undefined) return;
  database = await preparedSchema();
  const options = { database: database.url };
  servers = [await testService(bareRecords(), options)];
  servers.push(await testService([], options));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await database?.drop();
  database = undefined;
});

/** The two servers; the test is skipped, and says so, where there is no PostgreSQL. */
function both(context: { skip(reason: string): never }): [TestService, TestService] {
  const [first, second] = servers;
  if (first === undefined || second === undefined) return context.skip('needs PostgreSQL');
  return [first, second];
}

const people = [1, 2, 3, 4].map((n) => line('PatientV1', { id: big(8000 + n), firstName: `P${n}`, lastName: 'New' }));

/** The claim of another server, which takes the one that imports for dead. */
async function takeOver({ service }: TestService): Promise<ImportClaim> {
  await service.store.shared?.get(sql`UPDATE leases SET until = 0 WHERE name = 'import'`);
  return (await service.store.claimImports()) as ImportClaim;
}

/** A service that does something before the write that decides an import. */
function beforeDecision({ service }: TestService, work: () => Promise<unknown>): Service {
  const { store } = service;
  let isFirst = true;
  const write: typeof store.write = async (written, org) => {
    if (isFirst) await work();
    isFirst = false;
    return store.write(written, org);
  };
  return { ...service, store: { ...store, write } };
}

describe('an import that another server takes for dead before it is decided', () => {
  it('is refused, and what the other has staged stays (D58)', async (context) => {
    const [first, second] = both(context);
    let claim: ImportClaim | undefined;
    const during = beforeDecision(first, async () => {
      claim = await takeOver(second);
      const area = await claim.open('other');
      await area.write([
        sql`INSERT INTO import_lines (import, org, type, id, step, seq, line) VALUES ('other', 1, 'X', 1, 0, 1, 1)`,
      ]);
    });
    await expect(importInParts(during, people)).rejects.toThrow('Another import has begun meanwhile');
    expect(await claim?.names()).toEqual(['other']);
    await claim?.release();
  });

  it('is refused when the other has ended, too (D58)', async (context) => {
    const [first, second] = both(context);
    const during = beforeDecision(first, async () => (await takeOver(second)).release());
    await expect(importInParts(during, people)).rejects.toThrow('Another import has begun meanwhile');
    await resume(second.service);
    expect(await second.call('GET', `/patients/${big(8001)}`)).toMatchObject({ status: 404 });
  });
});

/**
 * Begins a write of an organization, does something, and ends the write once that waits for it, or has ended; answers
 * whether it had to wait.
 */
async function during(
  { service }: TestService,
  org: number,
  write: (tx: Transaction) => Promise<unknown>,
  work: () => Promise<unknown>,
) {
  let [begin, end] = [(_pid: number) => {}, () => {}];
  const begun = new Promise<number>((resolve) => (begin = resolve));
  const ending = new Promise<void>((resolve) => (end = resolve));
  const written = service.store.write(async (tx) => {
    const row = await tx.get<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
    begin(row?.pid ?? 0);
    await ending;
    await write(tx);
  }, org);
  const pid = await begun;
  let isOver = false;
  const working = work().finally(() => (isOver = true));
  const waiting = sql`SELECT 1 AS found FROM pg_stat_activity WHERE ${pid} = ANY(pg_blocking_pids(pid))`;
  let waited = false;
  await expect
    .poll(async () => {
      waited = (await service.store.read.get(waiting)) !== undefined;
      return waited || isOver;
    })
    .toBe(true);
  end();
  await Promise.all([written, working]);
  return waited;
}

const nothing = async () => undefined;

it('an import that is published with its decision waits for writes of its organization that are under way', async (context) => {
  const [first, second] = both(context);
  expect(await during(second, 1, nothing, () => first.import(people))).toBe(true);
  expect(await second.call('GET', `/patients/${big(8001)}`)).toMatchObject({ status: 200 });
});

it('the end of an import waits for what another server puts into an organization that goes with it, and leaves that', async (context) => {
  const [first, second] = both(context);
  const gone = (type: string, id: number) => line(type, { id, deleted: true }, OTHER_ORGANIZATION);
  const lines = [
    { type: 'Organization', id: OTHER_ORGANIZATION, deleted: true },
    ...[gone('PatientV1', ELSEWHERE.patient), gone('PerioExam', ELSEWHERE.exam)],
    gone('InsuranceClaim', ELSEWHERE.claim),
  ];
  const told = { ...blankRecord(patients), id: 77, firstName: 'Was', lastName: 'Told' };
  const { store } = first.service;
  let writes = 0;
  const write: typeof store.write = async (work, org) => {
    // The first write decides, the last one ends it.
    if (writes++ === 0 || org !== undefined) return store.write(work, org);
    let value: unknown;
    await during(
      second,
      2,
      (tx) => putRecord(tx, 2, patients, told),
      async () => {
        value = await store.write(work, org);
      },
    );
    return value as Awaited<ReturnType<typeof work>>;
  };
  await importInParts({ ...first.service, store: { ...store, write } }, lines);
  const call = { organization: OTHER_ORGANIZATION, token: TOKENS.other };
  expect(await second.call('GET', '/patients/77', call)).toMatchObject({ status: 200 });
});

it('an import of another version is left to servers that know all of it (D58)', async (context) => {
  const [first, second] = both(context);
  const { store } = second.service;
  await expect(importInParts(killedOnceDecided(first.service), people)).rejects.toThrow('killed');
  await store.write(async (tx) => {
    await tx.run(sql`UPDATE imports SET plan = replace(plan, ${SCHEMA.fingerprint}, 'newer')`);
    await tx.run(sql`UPDATE schema_state SET value = 'newer' WHERE name = 'fingerprint'`);
  });
  await expect(resume(second.service)).rejects.toThrow('An import of a newer version of molar');
  await expect(second.import([])).rejects.toThrow('An import of a newer version of molar');
  await store.write((tx) =>
    tx.run(sql`UPDATE schema_state SET value = ${SCHEMA.fingerprint} WHERE name = 'fingerprint'`),
  );
  await resume(second.service);
  expect(await second.call('GET', `/patients/${big(8004)}`)).toMatchObject({ status: 200 });
});
