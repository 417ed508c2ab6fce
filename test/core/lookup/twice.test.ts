import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { CASES, create, EVENT, storing } from './creating.ts';
import { OtherService } from './otherservice.ts';

describe('a record that a late attempt made twice', () => {
  /** The client's only warning names both, whoever got the answer. */
  const expectTold = (service: OtherService, { many }: Resource) => {
    expect(service.records).toHaveLength(2);
    expect(service.warnings).toHaveLength(1);
    const { description } = service.warnings[0]!;
    expect(description.toLowerCase()).toContain(`${many} 900, 901 may all be what was sent`.toLowerCase());
  };

  it.each(CASES)('is told of after a success: $name', async ({ resource, body }) => {
    const service = new OtherService({ store: storing(resource) });
    service.faults = [{ end: 504, done: 'too late' }];
    expect(await create(service, resource, body)).toBe(901);
    expectTold(service, resource);
  });

  it.each(CASES)('is told of when the last answer was lost, too: $name', async ({ resource, body }) => {
    const service = new OtherService({ store: storing(resource) });
    service.faults = [
      { end: 504, done: 'too late' },
      { end: 'cut', done: true },
    ];
    await create(service, resource, body);
    expectTold(service, resource);
  });

  it('is told of when the service changes it on storing', async () => {
    const service = new OtherService({ store: (sent) => ({ ...sent, duration: 35 }) });
    service.faults = [{ end: 'cut', done: 'too late' }];
    await create(service, events, EVENT);
    expectTold(service, events);
  });

  it.each(CASES)('is not one that was made once: $name', async ({ resource, body, other }) => {
    for (const done of [true, false, 'late'] as const) {
      const service = new OtherService({ store: storing(resource) });
      service.records.push({ ...other, id: 1, lastModified: '2026-03-02T12:00:00Z' });
      service.faults = [{ end: 'cut', done }];
      await create(service, resource, body);
      expect(service.warnings, String(done)).toEqual([]);
    }
  });
});
