import { describe, expect, it } from 'vitest';
import { dayOf, weekdayOf } from '../../src/demo/calendar.ts';
import { type Slot, SlotWindow, workingDays } from '../../src/demo/schedule.ts';
import { groups } from './smallpractice.ts';

const first = dayOf('2026-01-05');
const hours = { morning: 480, afternoon: 780 };

function takeAll(window: SlotWindow): Slot[] {
  const slots: Slot[] = [];
  for (let slot = window.take(); slot !== undefined; slot = window.take()) slots.push(slot);
  return slots;
}

describe('schedule', () => {
  it('keeps to the weekdays and leaves out excluded days', () => {
    const days = workingDays(first, first + 13, [1, 3], new Set([first + 2]));
    expect(days).toEqual([first, first + 7, first + 9]);
    expect(days.map(weekdayOf)).toEqual([1, 1, 3]);
  });

  it('fills each operatory day without a gap or an overlap when all may be taken', () => {
    const slots = takeAll(new SlotWindow([[first, first + 1], [first + 1]], hours, 1));
    const stays = groups(slots, ({ day, operatory }) => `${day - first}/${operatory}`);
    expect([...stays.keys()].sort()).toEqual(['0/0', '1/0', '1/1']);
    for (const stay of stays.values()) {
      const minutes = stay.flatMap(({ start, duration }) => Array.from({ length: duration }, (_, at) => start + at));
      const open = Array.from({ length: 240 }, (_, at) => [480 + at, 780 + at]).flat();
      expect(minutes.sort((a, b) => a - b)).toEqual(open.sort((a, b) => a - b));
    }
  });

  it('stops at its share', () => {
    expect(takeAll(new SlotWindow([[first, first + 1]], hours, 0.5))).toHaveLength(8);
    expect(takeAll(new SlotWindow([[]], hours, 1))).toEqual([]);
  });

  it('puts neighbours far apart', () => {
    const days = Array.from({ length: 500 }, (_, at) => first + at);
    const window = new SlotWindow([days], hours, 1);
    const [a, b] = [window.take(), window.take()];
    expect(Math.abs((a?.day ?? 0) - (b?.day ?? 0))).toBeGreaterThan(100);
  });
});
