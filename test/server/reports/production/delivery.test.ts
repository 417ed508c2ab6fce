import { expect, it } from 'vitest';
import { operationOf } from '../../../../src/catalog/catalog.ts';
import { checkFilter } from '../../../../src/catalog/filter/check.ts';
import { production } from '../../../../src/catalog/resources/reports.ts';
import { findOrganization, type Organization } from '../../../../src/server/organizations.ts';
import { productionChunk } from '../../../../src/server/reports/production/delivery.ts';
import { instantIn } from '../../../../src/server/zones.ts';
import { sharedService } from '../../../support/service.ts';
import { appointment, practiceWith } from './practice.ts';

const service = sharedService(() => []);

it('a delivery has each appointment once, by id, whatever the size of its chunks', async () => {
  // Later ids are earlier in the day; those of location 6 are of patient 2.
  const ids = [1, 2, 3, 4, 5, 6];
  const practice = await practiceWith(
    service,
    ...ids.map((id) =>
      appointment(id, `2026-03-10T${20 - id}:00:00Z`, id, {
        ...(id % 2 === 0 && { operatory: { id: 60 }, patient: { id: 2 } }),
      }),
    ),
    appointment(7, '2026-03-12T20:00:00Z', 7),
  );
  const { read } = service.service.store;
  const organization = (await findOrganization(read, practice.organization)) as Organization;
  const { filters = {} } = operationOf(production, 'async');
  const terms = checkFilter('fromDate==2026-03-10', filters, { instantOf: instantIn('UTC') });
  const chunk = (after: number, limit: number) =>
    productionChunk(read, organization, { terms, fields: ['scheduledAmount'] }, after, limit);
  for (const limit of [1, 2, 3, 4, 6, 7]) {
    const found = [];
    let after: number | undefined = 0;
    let chunks = 0;
    for (; after !== undefined && chunks < 10; chunks++) {
      const { records, reachedId } = await chunk(after, limit);
      expect(records.length).toBeGreaterThan(0);
      found.push(...records);
      after = reachedId;
    }
    expect(chunks).toBe(Math.ceil(6 / limit));
    expect(found).toEqual(
      ids.map((id) => ({
        id,
        patient: id % 2 === 0 ? 2 : 1,
        payload: JSON.stringify({ scheduledAmount: id * 100 }),
        locationId: id % 2 === 0 ? '6' : '5',
        location: id % 2 === 0 ? 6 : 5,
      })),
    );
  }
});
