import { describe, expect, it } from 'vitest';
import { durationFlag } from '../../../src/cli/flags/duration.ts';
import { isOn, kebab, textFlag, textFlags, wholeNumber } from '../../../src/cli/flags/values.ts';

describe('kebab', () => {
  it.each([
    ['firstName', 'first-name'],
    ['address1', 'address1'],
    ['thumbNailId', 'thumb-nail-id'],
    ['referredByPatient', 'referred-by-patient'],
    ['id', 'id'],
  ])('%s is %s', (name, flag) => {
    expect(kebab(name)).toBe(flag);
  });
});

describe('flag values', () => {
  const flags = { a: 'x', b: ['y', 'z'], c: true, d: false };
  it('are text, texts or on', () => {
    expect([textFlag(flags, 'a'), textFlag(flags, 'b'), textFlag(flags, 'none')]).toEqual(['x', undefined, undefined]);
    expect([textFlags(flags, 'a'), textFlags(flags, 'b'), textFlags(flags, 'none')]).toEqual([['x'], ['y', 'z'], []]);
    expect([isOn(flags, 'c'), isOn(flags, 'd'), isOn(flags, 'a')]).toEqual([true, false, false]);
  });
});

describe('wholeNumber', () => {
  it.each([
    ['1', 1],
    ['16', 16],
    [' 7 ', 7],
    ['007', 7],
  ])('%j is %i', (limit, expected) => {
    expect(wholeNumber({ limit }, 'limit', 1, 16)).toBe(expected);
  });

  it.each(['0', '17', '-1', '1.5', '1e1', '0x5', '', ' ', '9'.repeat(16)])('refuses %j', (limit) => {
    const failure = { exitCode: 2, message: '--limit must be a whole number, 1 to 16.' };
    expect(() => wholeNumber({ limit }, 'limit', 1, 16)).toThrow(expect.objectContaining(failure));
  });

  it('says of what has no end only where it begins', () => {
    expect(() => wholeNumber({ limit: 'x' }, 'limit', 1, Number.MAX_SAFE_INTEGER)).toThrow('whole number, 1 or more.');
    expect(wholeNumber({}, 'limit', 1, 16)).toBeUndefined();
  });
});

describe('durationFlag', () => {
  it.each([
    ['1', 1000],
    ['3600', 3_600_000],
    ['90s', 90_000],
    ['90m', 5_400_000],
    ['2h', 7_200_000],
    [' 1h ', 3_600_000],
    // The longest that a timer takes; one that is longer would end at once.
    ['596h', 2_145_600_000],
  ])('%j is %i ms', (time, expected) => {
    expect(durationFlag({ time }, 'time')).toBe(expected);
  });

  it.each(['0', '0h', '', 'h', '1d', '1.5h', '-1h', '1h30m', '597h', '999999m'])('refuses %j', (time) => {
    const failure = { exitCode: 2, message: '--time must be a time such as 90m, 2h or 3600s, up to 24 days.' };
    expect(() => durationFlag({ time }, 'time')).toThrow(expect.objectContaining(failure));
  });
});
