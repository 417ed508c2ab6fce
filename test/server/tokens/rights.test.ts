import { describe, expect, it } from 'vitest';
import { durationOf, earlierOf, renewedEnd } from '../../../src/server/tokens/rights.ts';

const DAY = 86_400_000;

describe('a duration', () => {
  it.each<[string, number]>([
    ['0', 0],
    [' 0 ', 0],
    ['0s', 0],
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', DAY],
    ['90d', 90 * DAY],
    [' 90d\n', 90 * DAY],
    ['36525d', 36_525 * DAY],
    ['3155760000s', 36_525 * DAY],
  ])('%j is %i milliseconds', (text, milliseconds) => {
    expect(durationOf(text)).toBe(milliseconds);
  });

  it.each([
    ...['', '90', 'd', '00', '-1d', '+1d', '1.5h', '1e3s', '90 d', '90days', '90d.', 'x90d', '9 0d', '90D', '90w'],
    ...['36526d', '3155760001s', '9999999999d', '00000000090d'],
  ])('%j is none', (text) => {
    expect(durationOf(text)).toBeUndefined();
  });
});

describe('the end of a credential', () => {
  const [first, second] = ['2026-03-01T12:00:00.000Z', '2026-03-02T12:00:00.000Z'];
  const now = Date.parse('2026-03-02T06:00:00.000Z');

  it.each<[string, string | null, string | null, string | null]>([
    ['as long from now on as it was to live', first, second, '2026-03-03T06:00:00.000Z'],
    ['90 days from now on, where nobody knows when it began', null, second, '2026-05-31T06:00:00.000Z'],
    ['none, where it had none', first, null, null],
    ['none, where it had none and nobody knows when it began', null, null, null],
  ])('that takes its place is %s', (_name, begin, end, expected) => {
    expect(renewedEnd(begin, end, now)).toBe(expected);
  });

  it('is the earlier one of two', () => {
    expect([earlierOf(first, second), earlierOf(second, first), earlierOf(null, second)]).toEqual([
      first,
      first,
      second,
    ]);
  });
});
