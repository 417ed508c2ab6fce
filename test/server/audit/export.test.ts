import { expect, it } from 'vitest';
import { type AuditRange, auditPages, exportEntries } from '../../../src/server/audit/export.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { tamper } from '../../support/rawsql.ts';
import { testService } from '../../support/service.ts';
import { ON_POSTGRES } from '../../support/store.ts';

it('entries are exported from a time on, up to another, of one organization', async () => {
  const service = await testService(bareRecords());
  const { read } = service.service.store;
  const times: string[] = [];
  for (const tagText of ['a', 'b', 'c']) {
    service.clock.advance(1000);
    times.push(service.clock.text());
    await service.call('POST', '/transactiontags', { body: { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' } });
  }
  await service.service.store.sequenceEntries();
  // Neither what somebody has put behind the end of the log is an entry, nor what waits for its place, which PostgreSQL
  // gives it in a moment.
  const rows = [[9999, 'x'], ...(ON_POSTGRES ? [] : [[-1, '']])];
  for (const [id, hash] of rows) {
    await tamper(
      service,
      `INSERT INTO audit_entries (id, org, at, who, operation, hash)
        SELECT ${id}, org, at, who, operation, '${hash}' FROM audit_entries WHERE at = '${times[0]}' LIMIT 1`,
    );
  }
  const found = async (range: AuditRange) => {
    const made: string[] = [];
    for await (const entry of exportEntries(read, auditPages(read, range))) {
      if (entry.operation !== 'transactiontags.create' || !entry.who?.startsWith('token')) continue;
      expect(entry.organization).toBe(ORGANIZATION);
      made.push(entry.at);
    }
    return made;
  };
  const [first = '', second = '', third = ''] = times;
  expect(await found({})).toEqual(times);
  expect(await found({ after: Number.MIN_SAFE_INTEGER })).toEqual(times);
  expect(await found({ from: second })).toEqual([second, third]);
  expect(await found({ to: second })).toEqual([first]);
  expect(await found({ from: second, to: third })).toEqual([second]);
  expect(await found({ org: 999_999 })).toEqual([]);
  await service.close();
});
