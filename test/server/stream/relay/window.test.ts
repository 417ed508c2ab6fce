import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfirmWindow } from '../../../../src/server/stream/relay/window.ts';

describe('ConfirmWindow', () => {
  it('counts what is confirmed without a gap only', () => {
    const window = new ConfirmWindow<number>();
    const [a, b, c] = [window.add(10), window.add(12), window.add(15)] as const;
    expect([window.confirm(b), window.size]).toEqual([[], 3]);
    expect([window.confirm(a), window.size]).toEqual([[10, 12], 1]);
    expect([window.confirm(c), window.size]).toEqual([[15], 0]);
  });

  it('stands where the first unconfirmed message is, whatever the order of confirms', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Array.from({ length: 40 }, (_, at) => at)), (confirms) => {
        const window = new ConfirmWindow<number>();
        const places = Array.from({ length: 40 }, (_, at) => window.add(at * 3 + 1));
        const confirmed = confirms.flatMap((at) => window.confirm(places[at] as number));
        const gap = places.findIndex((_, at) => !confirms.includes(at));
        const settled = gap < 0 ? places.length : gap;
        expect(confirmed).toEqual(places.slice(0, settled).map((_, at) => at * 3 + 1));
        expect(window.size).toBe(40 - settled);
      }),
    );
  });
});
