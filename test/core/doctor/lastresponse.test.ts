import { describe, expect, it } from 'vitest';
import { clockAhead, rateLeft } from '../../../src/core/doctor/lastresponse.ts';

const AT = Date.UTC(2026, 10, 21, 12, 0, 30);

describe('rateLeft', () => {
  it.each<[string, Record<string, string>, ReturnType<typeof rateLeft>]>([
    ['one header each', { 'ratelimit-remaining': '7', 'ratelimit-limit': '200' }, { left: 7, limit: 200 }],
    [
      'a policy behind the limit',
      { 'ratelimit-remaining': '7', 'ratelimit-limit': '200, 200;w=2' },
      { left: 7, limit: 200 },
    ],
    ['an older name', { 'x-ratelimit-remaining': '0' }, { left: 0, limit: undefined }],
    ['one header for all', { ratelimit: 'limit=100, remaining=50, reset=5' }, { left: 50, limit: 100 }],
    ['the short form', { ratelimit: '"default";r=50;t=30' }, { left: 50, limit: undefined }],
    ['nonsense', { 'ratelimit-remaining': 'many' }, undefined],
    ['nothing', {}, undefined],
  ])('from %s', (_name, headers, expected) => {
    expect(rateLeft({ headers, at: AT })).toEqual(expected);
  });
});

describe('clockAhead', () => {
  it.each<[string | undefined, number | undefined]>([
    ['Sat, 21 Nov 2026 12:00:00 GMT', 30],
    ['Sat, 21 Nov 2026 12:10:30 GMT', -600],
    ['soon', undefined],
    [undefined, undefined],
  ])('of %j is %j', (date, expected) => {
    expect(clockAhead({ headers: date === undefined ? {} : { date }, at: AT })).toBe(expected);
  });
});
