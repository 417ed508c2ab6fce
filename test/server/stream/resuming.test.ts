import { describe, expect, it } from 'vitest';
import { countBehind, positionText, readPosition, resumedAfter } from '../../../src/server/stream/positions.ts';

const NEWEST = { epoch: '0a1b2c3d', newest: 10, floor: 4 };

describe('a place in the stream', () => {
  it.each([
    ['behind the newest', { number: 10 }, undefined],
    ['behind a message that is there', { number: 7 }, undefined],
    ['behind the last one that is gone', { number: 4 }, undefined],
    ['before that', { number: 3 }, 4],
    ['at the beginning', { number: 0 }, 4],
    ['beyond the newest', { number: 11 }, 10],
    ['in another history', { epoch: 'ffffffff', number: 7 }, 10],
    ['in another history, before all', { epoch: 'ffffffff', number: 0 }, 10],
  ])('%s: messages are missed or not', (_name, at, resumed) => {
    expect(resumedAfter(NEWEST, { epoch: NEWEST.epoch, ...at })).toBe(resumed);
  });

  it.each([
    [{ seq: 10, floor: 4, base: 2 }, 0, 6],
    [{ seq: 10, floor: 4, base: 2 }, 4, 6],
    [{ seq: 10, floor: 4, base: 2 }, 7, 3],
    [{ seq: 10, floor: 4, base: 2 }, 10, 0],
    [{ seq: 10, floor: 4, base: 2 }, 99, 0],
    // Numbers that an epoch leaves out are no messages.
    [{ seq: 1003, floor: 0, base: 1000 }, 7, 3],
  ])('of %j, %i: so many messages are behind it', (head, number, count) => {
    expect(countBehind({ org: 1, ...head }, number)).toBe(count);
  });

  it.each([
    ['0a1b2c3d-7', { epoch: '0a1b2c3d', number: 7 }],
    ['7', { epoch: undefined, number: 7 }],
    ['0', { epoch: undefined, number: 0 }],
    ['9007199254740991', { epoch: undefined, number: Number.MAX_SAFE_INTEGER }],
  ])('is written and read as %s', (text, position) => {
    expect(readPosition(text)).toEqual(position);
    expect(positionText(position.epoch, position.number)).toBe(text);
  });

  it('is none where its number is not exact', () => {
    expect(readPosition('9007199254740992')).toBeUndefined();
  });
});
