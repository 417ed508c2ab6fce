import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoutingKey } from '../../../src/catalog/stream/routingkeys.ts';

describe('a routing key', () => {
  it('is organization, location, domain type and operation (specification, Events)', () => {
    const parts = { organizationId: 'org-1', locationId: '5', domainType: 'PatientV1', operation: 'CREATE' };
    expect(formatRoutingKey(parts)).toBe('org-1.5.PatientV1.CREATE');
  });

  it('can be split into its parts (property)', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_*-]{1,12}$/);
    const record = fc.record({ organizationId: part, locationId: part, domainType: part, operation: part });
    fc.assert(
      fc.property(record, (parts) => {
        const { organizationId, locationId, domainType, operation } = parts;
        const split = [organizationId, locationId, domainType, operation];
        expect(formatRoutingKey(parts).split('.')).toEqual(split);
      }),
    );
  });
});
