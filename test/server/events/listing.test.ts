import { describe, expect, it } from 'vitest';
import { idsOf } from '../../support/calls.ts';
import { big, LOCATIONS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';

const event = (n: number, start: string, lastModified: string, rest = {}) =>
  line('EventV1', {
    id: big(n),
    title: `Event ${n}`,
    start: `2026-03-${start}:00.000Z`,
    lastModified: `2026-02-${lastModified}T00:00:00.000Z`,
    location: { id: LOCATIONS.east },
    ...rest,
  });

// Orders by id, by start and by lastModified are all different; 3 and 4 share a start, 1 and 4 a lastModified.
const service = sharedService(() => [
  ...bareRecords(),
  event(1, '10T10:00', '03'),
  event(2, '12T10:00', '01', { groupId: 'g' }),
  event(3, '11T10:00', '02', { groupId: 'g' }),
  event(4, '11T10:00', '03'),
]);

async function list(query: Record<string, string | number>, path = '/events'): Promise<number[]> {
  return idsOf(await service.call('GET', path, { query })).map((id) => (id as number) - big(0));
}

describe('the list of events (D15, D16)', () => {
  const since = 'start>=2026-01-01';
  const modified = 'lastModified>=2026-01-01';

  it.each<[name: string, query: Record<string, string | number>, expected: readonly number[]]>([
    ['is by id', {}, [1, 2, 3, 4]],
    ['is by id with other filters', { filter: 'location.id==ALL,id->[70000000000004,70000000000002]' }, [2, 4]],
    ['is newest first by start', { filter: since }, [2, 4, 3, 1]],
    ['is newest first by lastModified', { filter: modified }, [4, 1, 3, 2]],
    ['goes by start when both are filtered', { filter: `${modified},${since}` }, [2, 4, 3, 1]],
    ['is newest first of a part', { filter: 'start<2026-03-12' }, [4, 3, 1]],
    ['is newest first page by page', { filter: since, page: 2, pageSize: 3 }, [1]],
    ['is by id with lastId=0', { filter: since, lastId: 0 }, [1, 2, 3, 4]],
    ['is by id with an empty lastId', { filter: since, lastId: '' }, [1, 2, 3, 4]],
    ['is by id after a lastId', { filter: modified, lastId: big(2) }, [3, 4]],
    ['has the group that is named', { filter: 'groupId==g' }, [2, 3]],
    ['has no group of other letters', { filter: 'groupId==G' }, []],
  ])('%s', async (_name, query, expected) => {
    expect(await list(query)).toEqual(expected);
  });

  it('is by id in the async answer, as it is delivered (D41)', async () => {
    expect(await list({ filter: since }, '/events/async')).toEqual([1, 2, 3, 4]);
  });

  it('applies no date filter of its own (D13)', async () => {
    await service.import([
      event(5, '01T10:00', '01', { start: '1999-01-01T10:00:00Z', lastModified: '1999-01-01T10:00:00Z' }),
    ]);
    const called = await service.call('GET', '/events', { query: { lastId: 0 } });
    expect(called.body.warnings).toEqual([]);
    expect(idsOf(called)).toContain(big(5));
    expect((await service.call('GET', '/events/totalcount')).body.data).toEqual({ total: 5 });
    // The other tests know of four.
    await service.import([line('EventV1', { id: big(5), deleted: true })]);
  });
});
