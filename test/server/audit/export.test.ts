import { expect, it } from 'vitest';
import { type AuditRange, auditPages, exportEntries } from '../../../src/server/audit/export.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

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
  expect(await found({ from: second })).toEqual([second, third]);
  expect(await found({ to: second })).toEqual([first]);
  expect(await found({ from: second, to: third })).toEqual([second]);
  expect(await found({ org: 999_999 })).toEqual([]);
  await service.close();
});
