import { describe, expect, it } from 'vitest';
import { readShorthand } from '../../../src/core/recurrence/shorthand.ts';

interface Words {
  readonly every?: string;
  readonly on?: readonly string[];
  readonly until?: string;
}

function read(type: 'WEEKLY' | 'MONTHLY', { every, on = [], until }: Words) {
  const told: string[] = [];
  const draft = readShorthand({ type, every, on, until }, (part) => (description) => {
    told.push(`${part}: ${description}`);
    return undefined;
  });
  return { draft, told };
}

describe('a rule in words', () => {
  it.each<[name: string, words: Words, days: readonly string[] | undefined]>([
    ['three letters', { on: ['MON,WED'] }, ['MONDAY', 'WEDNESDAY']],
    ['full names, blanks and any letter case', { on: ['Monday, friday  sunday'] }, ['MONDAY', 'FRIDAY', 'SUNDAY']],
    ['several flags, each day once', { on: ['MO', 'TU,MO'] }, ['MONDAY', 'TUESDAY']],
    ['no days', {}, undefined],
  ])('weekly: %s', (_name, words, days) => {
    expect(read('WEEKLY', words)).toEqual({
      draft: { pattern: { type: 'WEEKLY', days }, frequency: 1, end: undefined },
      told: [],
    });
  });

  it.each([
    [['SECOND TUESDAY'], 'SECOND', 'TUESDAY'],
    [['last', 'fri'], 'LAST', 'FRIDAY'],
    [['1st-mon'], 'FIRST', 'MONDAY'],
    [['3 Wednesday'], 'THIRD', 'WEDNESDAY'],
  ])('monthly: %j', (on, week, day) => {
    expect(read('MONTHLY', { on, every: '3', until: '2027-03-01' })).toEqual({
      draft: { pattern: { type: 'MONTHLY', week, day }, frequency: 3, end: { kind: 'date', date: '2027-03-01' } },
      told: [],
    });
  });

  it.each<['WEEKLY' | 'MONTHLY', Words, RegExp]>([
    ['WEEKLY', { on: ['MON,FOO'] }, /^on: .*MON,WED or MONDAY; FOO is not one/],
    ['WEEKLY', { on: ['SECOND TUESDAY'] }, /^on: .*weekdays with weekly.*SECOND is not one/],
    ['WEEKLY', { on: [' , '] }, /^on: --on names no weekday/],
    ['WEEKLY', { on: ['MON'], every: '0' }, /^every: --every must be a whole number from 1 to 52/],
    ['WEEKLY', { on: ['MON'], every: '53' }, /^every:/],
    ['WEEKLY', { on: ['MON'], every: 'two' }, /^every:/],
    ['WEEKLY', { on: ['MON'], until: '2027-02-30' }, /^until: --until must be a date that exists/],
    ['MONTHLY', {}, /^on: monthly needs --on/],
    ['MONTHLY', { on: ['MON'] }, /^on: --on takes one week and one weekday/],
    ['MONTHLY', { on: ['SECOND TUESDAY FRIDAY'] }, /^on: --on takes one week and one weekday/],
    ['MONTHLY', { on: ['FIFTH MONDAY'] }, /^on: .*not every month has a fifth/],
    ['MONTHLY', { on: ['NEXT MONDAY'] }, /^on: .*FIRST, SECOND, THIRD, FOURTH, LAST/],
  ])('%s %j is refused', (type, words, expected) => {
    expect(read(type, words)).toEqual({ draft: undefined, told: [expect.stringMatching(expected)] });
  });
});
