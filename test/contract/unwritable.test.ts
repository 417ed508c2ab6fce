import { expect, it } from 'vitest';
import { ORGANIZATION, TOKENS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { tamper } from '../support/rawsql.ts';
import { testService } from '../support/service.ts';

it('a change is refused as a read is while its entry cannot be written, and has not happened', async () => {
  const service = await testService(bareRecords());
  const body = { tagText: 'Unheard of', isPredefined: false, tagType: 'PAYMENT_TAG' };
  const tags = async () => (await service.call('GET', '/transactiontags')).body.data;
  const before = await tags();
  await tamper(service, 'ALTER TABLE audit_entries RENAME TO audit_hidden');
  for (const headers of [{}, { 'idempotency-key': 'one' }]) {
    const refused = await service.app.inject({
      method: 'POST',
      url: '/api/v1/transactiontags',
      headers: { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION, ...headers },
      payload: body,
    });
    expect([refused.statusCode, refused.json().errors[0].code]).toEqual([503, 'audit.unavailable']);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(refused.json().data).toBeNull();
  }
  await tamper(service, 'ALTER TABLE audit_hidden RENAME TO audit_entries');
  await expect.poll(async () => (await service.call('GET', '//readyz')).status).toBe(200);
  expect(await tags()).toEqual(before);
  expect((await service.call('POST', '/transactiontags', { body })).status).toBe(201);
  await service.close();
});
