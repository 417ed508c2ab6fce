import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfirmWindow } from '../../../../src/server/stream/relay/window.ts';

describe('ConfirmWindow', () => {
  it('counts what is confirmed without a gap only', () => {
    const window = new ConfirmWindow(7);
    const [a, b, c] = [window.add(10), window.add(12), window.add(15)] as const;
    window.confirm(b);
    expect([window.confirmed, window.size]).toEqual([7, 3]);
    window.confirm(a);
    expect([window.confirmed, window.size]).toEqual([12, 1]);
    window.confirm(c);
    expect([window.confirmed, window.size]).toEqual([15, 0]);
  });

  it('takes several messages of one number', () => {
    const window = new ConfirmWindow(0);
    const first = window.add(3);
    const same = [window.add(5), window.add(5), window.add(5)];
    for (const place of same) window.confirm(place);
    expect([window.confirmed, window.size]).toEqual([0, 4]);
    window.confirm(first);
    expect([window.confirmed, window.size]).toEqual([5, 0]);
  });

  it('stands where the first unconfirmed message is, whatever the order of confirms', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(Array.from({ length: 40 }, (_, at) => at)), (confirms) => {
        const window = new ConfirmWindow(0);
        const places = Array.from({ length: 40 }, (_, at) => window.add(at * 3 + 1));
        for (const at of confirms) window.confirm(places[at] as number);
        const gap = places.findIndex((_, at) => !confirms.includes(at));
        const settled = gap < 0 ? places.length : gap;
        expect(window.confirmed).toBe(settled === 0 ? 0 : (settled - 1) * 3 + 1);
        expect(window.size).toBe(40 - settled);
      }),
    );
  });
});
