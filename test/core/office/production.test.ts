import { expect, it } from 'vitest';
import { groupRequests, type ProductionQuery, wholeRequests } from '../../../src/core/office/production.ts';

const query = (more: Partial<ProductionQuery> = {}): ProductionQuery => ({
  ...{ by: 'provider', from: '2026-01-20', days: 40, locations: ['5'], timezone: undefined, groups: ['7', '8'] },
  ...more,
});

/** What is asked for, in words. */
const asked = (requests: ReturnType<typeof wholeRequests>) =>
  requests.map(({ group, terms }) =>
    [group, ...terms.map(({ key, values }) => `${key} ${values.join('|')}`)].filter(Boolean).join(', '),
  );

it.each([
  [1, ['2026-01-20 1']],
  [31, ['2026-01-20 31']],
  [32, ['2026-01-20 31', '2026-02-20 1']],
  [40, ['2026-01-20 31', '2026-02-20 9']],
  [62, ['2026-01-20 31', '2026-02-20 31']],
  [63, ['2026-01-20 31', '2026-02-20 31', '2026-03-23 1']],
])('%i days are asked for in parts of 31 at most, and no day beyond them', (days, parts) => {
  const expected = parts.map((part) => part.replace(/(.*) (.*)/, 'fromDate $1, range $2, location.id 5'));
  expect(asked(wholeRequests(query({ days })))).toEqual(expected);
});

const PARTS = ['fromDate 2026-01-20, range 31', 'fromDate 2026-02-20, range 9'];

it('each provider is asked for in the same parts, and in the zone that is named', () => {
  const of = (id: string) => PARTS.map((part) => `${id}, ${part}, location.id 5, timezone UTC, provider.id ${id}`);
  expect(asked(groupRequests(query({ timezone: 'UTC' })))).toEqual([...of('7'), ...of('8')]);
});

it('each location is asked for by itself, instead of all that were chosen', () => {
  const requests = groupRequests(query({ by: 'location', locations: ['5', '6'], groups: ['5'] }));
  expect(asked(requests)).toEqual(PARTS.map((part) => `5, ${part}, location.id 5`));
});

it('each day is asked for by itself, over the end of a month', () => {
  expect(asked(groupRequests(query({ by: 'day', from: '2026-02-28', days: 2 })))).toEqual([
    '2026-02-28, fromDate 2026-02-28, range 1, location.id 5',
    '2026-03-01, fromDate 2026-03-01, range 1, location.id 5',
  ]);
});
