import { isDate } from '../../catalog/fields/times.ts';
import { WEEKS, type Weekday } from '../../catalog/resources/events.ts';
import type { Complain, Pattern, RuleDraft } from './draft.ts';
import { weekdayNamed, weekOfOrdinal } from './weekdays.ts';

/** A rule in words, as the flags of a command line give it. */
export interface Shorthand {
  readonly type: 'WEEKLY' | 'MONTHLY';
  /** A whole number as text; 1 when not given. */
  readonly every: string | undefined;
  /** Weekdays (`MON,WED`), or a week and a weekday (`SECOND TUESDAY`). */
  readonly on: readonly string[];
  /** Last date, `YYYY-MM-DD`. */
  readonly until: string | undefined;
}

/** Reads a rule in words; undefined when something is wrong, reported to `complainOf` the part at fault. */
export function readShorthand(
  words: Shorthand,
  complainOf: (part: 'every' | 'on' | 'until') => Complain,
): RuleDraft | undefined {
  const frequency = readEvery(words.every ?? '1', complainOf('every'));
  const complain = complainOf('on');
  const pattern = words.type === 'WEEKLY' ? readDays(words.on, complain) : readWeekAndDay(words.on, complain);
  if (words.until !== undefined && !isDate(words.until)) {
    return complainOf('until')('--until must be a date that exists, written YYYY-MM-DD.');
  }
  if (frequency === undefined || pattern === undefined) return undefined;
  return { frequency, pattern, end: words.until === undefined ? undefined : { kind: 'date', date: words.until } };
}

function readEvery(text: string, complain: Complain): number | undefined {
  const every = Number(text.trim());
  const inRange = /^\s*\d+\s*$/.test(text) && every >= 1 && every <= 52;
  return inRange ? every : complain('--every must be a whole number from 1 to 52: every so many weeks or months.');
}

function readDays(on: readonly string[], complain: Complain): Pattern | undefined {
  const names = on.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== '');
  if (names.length === 0 && on.length > 0) return complain('--on names no weekday; write it like MON,WED.');
  const days: Weekday[] = [];
  for (const name of names) {
    const day = weekdayNamed(name);
    if (day === undefined) {
      return complain(`--on takes weekdays with weekly, such as MON,WED or MONDAY; ${name} is not one.`);
    }
    if (!days.includes(day)) days.push(day);
  }
  return { type: 'WEEKLY', days: days.length === 0 ? undefined : days };
}

const MONTHLY_ON = '--on takes one week and one weekday with monthly, such as "SECOND TUESDAY" or "LAST FRIDAY"';

function readWeekAndDay(on: readonly string[], complain: Complain): Pattern | undefined {
  const words = on.flatMap((text) => text.trim().split(/[\s-]+/)).filter((word) => word !== '');
  const [which = '', name = ''] = words;
  if (words.length === 0) return complain(`monthly needs --on. ${MONTHLY_ON}.`);
  if (/^(FIFTH|5(TH)?)$/i.test(which)) {
    return complain('--on: not every month has a fifth week; the API knows FIRST, SECOND, THIRD, FOURTH and LAST.');
  }
  const number = /^([1-4])(ST|ND|RD|TH)?$/i.exec(which)?.[1];
  const week =
    number === undefined ? WEEKS.find((known) => known === which.toUpperCase()) : weekOfOrdinal(Number(number));
  const day = weekdayNamed(name);
  if (words.length !== 2 || week === undefined || day === undefined) {
    return complain(`${MONTHLY_ON}; the weeks are ${WEEKS.join(', ')}.`);
  }
  return { type: 'MONTHLY', week, day };
}
