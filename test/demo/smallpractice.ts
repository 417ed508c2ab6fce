import { demoActivity } from '../../src/demo/activity.ts';
import type { DemoRecord } from '../../src/demo/record.ts';
import { demoRecords } from '../../src/demo/records.ts';

export const TODAY = '2026-03-02';

/** The start of today: everything that has happened lies before it. */
export const NOW = `${TODAY}T00:00:00.000Z`;

export interface Link {
  readonly id: number;
}

/** The whole small practice, by kind. */
export function smallPractice(): { all: DemoRecord[]; of: (type: string) => DemoRecord[] } {
  const all = [...demoRecords('small', { today: TODAY }), ...demoActivity('small', { today: TODAY })];
  return { all, of: (type) => all.filter((record) => record.type === type) };
}

export function idOf(link: unknown): number {
  return (link as Link).id;
}

/** Whole cents of an amount in dollars; fails on a fraction of a cent. */
export function cents(dollars: unknown): number {
  const value = Math.round((dollars as number) * 100);
  if (value / 100 !== dollars) throw new Error(`${dollars} is not in whole cents.`);
  return value;
}
