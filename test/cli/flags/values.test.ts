import { describe, expect, it } from 'vitest';
import { isOn, kebab, textFlag, textFlags } from '../../../src/cli/flags/values.ts';

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
