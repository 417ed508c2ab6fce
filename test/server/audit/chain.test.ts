import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyChain } from '../../../src/server/audit/chain.ts';
import { deleteOldEntries } from '../../../src/server/audit/retention.ts';
import { openConnection } from '../../../src/server/store/sqlite/open.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

const DAY = 24 * 60 * 60 * 1000;
let folder: string;
let service: TestService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-audit-'));
  service = await testService(bareRecords(), { data: folder, store: 'sqlite' });
  for (let n = 0; n < 5; n++) await postTag(n);
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function postTag(number: number): Promise<void> {
  const body = { tagText: `tag ${number}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
  expect((await service.call('POST', '/transactiontags', { body })).status).toBe(201);
}

const verify = (expected?: { id: number; hash: string }) => verifyChain(service.service.store.read, expected);

/** What somebody does who may write to the database file. */
function tamper(...statements: string[]): void {
  const connection = openConnection(join(folder, 'molar.sqlite'));
  for (const statement of statements) connection.exec(statement);
  connection.close();
}

interface Raw {
  readonly id: number;
  readonly hash: string;
  readonly [column: string]: unknown;
}

function entries(): Raw[] {
  const connection = openConnection(join(folder, 'molar.sqlite'));
  const rows = connection.prepare('SELECT * FROM audit_entries ORDER BY id').all() as Raw[];
  connection.close();
  return rows;
}

describe('the chain', () => {
  it('is made of hashes over the one before, the number and the values in the order of the columns', () => {
    let before = '';
    for (const row of entries()) {
      const { id, org, at, who, address, request_id, operation, ids, record_count, filter_keys, hash } = row;
      const text = JSON.stringify([
        before,
        id,
        org,
        at,
        who,
        address,
        request_id,
        operation,
        ids,
        record_count,
        filter_keys,
      ]);
      expect(hash).toBe(createHash('sha256').update(text).digest('hex'));
      before = hash;
    }
    expect(before).not.toBe('');
  });

  it('is whole after writes, reads and a restart', async () => {
    await service.call('GET', '/patients', { query: { lastId: 0 } });
    await service.close();
    service = await testService([], { data: folder, store: 'sqlite' });
    await postTag(9);
    const report = await verify();
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ first: 1, last: entries().length, entries: entries().length });
  });

  it('has no entry of a write that failed', async () => {
    const before = entries().length;
    const body = { tagText: 'tag 0', isPredefined: false, tagType: 'PAYMENT_TAG' };
    expect((await service.call('POST', '/transactiontags', { body })).status).toBe(400);
    expect(entries()).toHaveLength(before);
  });
});

describe('damage is found', () => {
  const cases: readonly [name: string, statement: string, problem: { id: number; problem: unknown }][] = [
    [
      'a changed entry',
      "UPDATE audit_entries SET who = 'token nobody' WHERE id = 3",
      { id: 3, problem: expect.stringContaining('was changed') },
    ],
    [
      'a count set to nothing',
      'UPDATE audit_entries SET record_count = NULL WHERE id = 2',
      { id: 2, problem: expect.stringContaining('was changed') },
    ],
    ['an entry taken out', 'DELETE FROM audit_entries WHERE id = 4', { id: 4, problem: 'is missing' }],
    [
      'several entries taken out',
      'DELETE FROM audit_entries WHERE id IN (3, 4)',
      { id: 3, problem: 'to 4 are missing' },
    ],
    ['the first entry taken out', 'DELETE FROM audit_entries WHERE id = 1', { id: 1, problem: 'is missing' }],
  ];
  it.each(cases)('%s', async (_name, statement, problem) => {
    tamper(statement);
    expect((await verify()).problems[0]).toEqual(problem);
  });

  it('the last entries taken out', async () => {
    const last = entries().at(-1)?.id ?? 0;
    tamper(`DELETE FROM audit_entries WHERE id >= ${last - 1}`);
    expect((await verify()).problems).toEqual([{ id: last - 1, problem: `to ${last} are missing at the end` }]);
  });

  it('the last entries taken out and the head set back: by an end that was noted', async () => {
    const [id = '', hash = ''] = (await verify()).head.split(':');
    const before = entries().at(-2) as Raw;
    tamper(
      `DELETE FROM audit_entries WHERE id > ${before.id}`,
      `UPDATE log_heads SET last_id = ${before.id}, hash = '${before.hash}' WHERE name = 'audit'`,
    );
    expect((await verify()).problems).toEqual([]);
    expect((await verify({ id: Number(id), hash })).problems).toEqual([
      { id: Number(id), problem: 'was recorded as the end and no longer exists' },
    ]);
  });

  it('a chain made anew from an altered entry on: by an end that was noted', async () => {
    const noted = (await verify()).head.split(':');
    const rows = entries();
    let before = rows[1]?.hash ?? '';
    for (const { id, hash: _, ...columns } of rows.slice(2)) {
      const values = { ...columns, who: id === 3 ? 'token nobody' : columns.who };
      const hash = createHash('sha256')
        .update(JSON.stringify([before, id, ...Object.values(values).slice(0, 9)]))
        .digest('hex');
      tamper(`UPDATE audit_entries SET who = '${values.who}', hash = '${hash}' WHERE id = ${id}`);
      before = hash;
    }
    tamper(`UPDATE log_heads SET hash = '${before}' WHERE name = 'audit'`);
    expect((await verify()).problems).toEqual([]);
    const found = await verify({ id: Number(noted[0]), hash: noted[1] ?? '' });
    expect(found.problems).toEqual([
      { id: Number(noted[0]), problem: 'is not the entry that was recorded as the end' },
    ]);
  });
});

describe('entries older than the retention', () => {
  it('go, the deletion is told, and what is left can be verified', async () => {
    const old = entries().length;
    service.clock.advance(10 * DAY);
    await postTag(7);
    await deleteOldEntries(service.service.store, service.clock.now, 5);
    const left = entries();
    expect(left.map(({ operation }) => operation)).toEqual(['transactiontags.create', 'audit.delete']);
    expect(left[1]).toMatchObject({ who: 'retention', record_count: old });
    expect(await verify()).toMatchObject({ entries: 2, first: old + 1, problems: [] });
    const found = await verify({ id: 1, hash: 'a'.repeat(64) });
    expect(found.problems[0]?.problem).toContain('retention');
  });

  it('do not go before their time', async () => {
    const before = entries();
    service.clock.advance(4 * DAY);
    await deleteOldEntries(service.service.store, service.clock.now, 5);
    expect(entries()).toEqual(before);
  });
});
