import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoutingKey, parseRoutingKey } from '../../../src/catalog/stream/routingkeys.ts';

describe('a routing key', () => {
  it('is organization, location, domain type and operation (specification, Events)', () => {
    const parts = { organizationId: 'org-1', locationId: '5', domainType: 'PatientV1', operation: 'CREATE' };
    expect(formatRoutingKey(parts)).toBe('org-1.5.PatientV1.CREATE');
    expect(parseRoutingKey('org-1.5.PatientV1.CREATE')).toEqual(parts);
  });

  it.each(['', 'a.b.c', 'a.b.c.d.e', 'a..c.d', '.b.c.d', 'a.b.c.', '...'])('is not %j', (text) => {
    expect(parseRoutingKey(text)).toBeUndefined();
  });

  it('reads as it was written (property)', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_*-]{1,12}$/);
    const record = fc.record({ organizationId: part, locationId: part, domainType: part, operation: part });
    fc.assert(
      fc.property(record, (parts) => {
        expect(parseRoutingKey(formatRoutingKey(parts))).toEqual({ ...parts });
      }),
    );
  });
});
