import { isDate } from '../../catalog/fields/times.ts';
import type { Weekday } from '../../catalog/resources/events.ts';
import type { Complain, Pattern, RuleDraft, RuleEnd } from './draft.ts';
import { weekdayCode, weekdayNamed, weekOfOrdinal } from './weekdays.ts';

/** Whether a text is meant as a rule of RFC 5545 rather than as a word. */
export function looksLikeRRule(text: string): boolean {
  return /[=:;]/.test(text);
}

/**
 * Reads a rule of RFC 5545 (`FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270301`) as far as the API can express it;
 * undefined when something is wrong or cannot be expressed, each reported to `complain` with what would be right.
 */
export function readRRule(text: string, complain: Complain): RuleDraft | undefined {
  const parts = splitRRule(text, complain);
  if (parts === undefined) return undefined;
  const type = readFrequency(parts, complain);
  const frequency = readInterval(parts.get('INTERVAL') ?? '1', complain);
  const end = readEnd(parts, complain);
  if (type === undefined || frequency === undefined || end === undefined) return undefined;
  const pattern = type === 'WEEKLY' ? readWeekly(parts, frequency, complain) : readMonthly(parts, complain);
  return pattern && { pattern, frequency, end: end === 'open' ? undefined : end };
}

/** Parts of RFC 5545 that the recurrence fields of the API can hold. */
const KNOWN = ['FREQ', 'INTERVAL', 'BYDAY', 'BYSETPOS', 'UNTIL', 'COUNT', 'WKST'] as const;

type RRulePart = (typeof KNOWN)[number];

type RRuleParts = ReadonlyMap<RRulePart, string>;

/** Parts of RFC 5545 that the API has no field for, and what to do instead. */
const INEXPRESSIBLE: Readonly<Record<string, string>> = {
  BYMONTHDAY:
    'a day of the month, such as the 15th, cannot be expressed: name a weekday of a week, such as BYDAY=2TU, or create the events one by one',
  BYMONTH: 'the months cannot be chosen: use INTERVAL, such as INTERVAL=3, or one series for each month',
  BYYEARDAY: 'a day of the year cannot be expressed: use FREQ=MONTHLY;INTERVAL=12;BYDAY=2TU or single events',
  BYWEEKNO: 'a week of the year cannot be expressed: use FREQ=WEEKLY with INTERVAL and --from',
  BYHOUR: 'the time of day is that of --start: create one series for each time',
  BYMINUTE: 'the time of day is that of --start: create one series for each time',
  BYSECOND: 'the time of day is that of --start: create one series for each time',
};

/**
 * Splits a rule into its parts, names and values in upper case; an `RRULE:` in front is allowed. Undefined when
 * something is wrong: syntax, a part twice, or a part that the API cannot express.
 */
function splitRRule(text: string, complain: Complain): RRuleParts | undefined {
  const rule = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '');
  if (/[\r\n]/.test(rule) || /^[A-Z-]+[:;]/.test(rule)) {
    return complain('Give one rule without DTSTART, EXDATE or RDATE: FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301.');
  }
  const parts = new Map<RRulePart, string>();
  let wrong = false;
  for (const piece of rule.replace(/;$/, '').split(';')) {
    const problem = readPart(piece.trim(), parts);
    if (problem === undefined) continue;
    complain(problem);
    wrong = true;
  }
  return wrong ? undefined : parts;
}

function readPart(piece: string, parts: Map<RRulePart, string>): string | undefined {
  const match = /^([A-Z-]+)\s*=\s*(.*)$/s.exec(piece);
  if (match === null) return 'A rule is written NAME=VALUE;NAME=VALUE, such as FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301.';
  const [, name = '', value = ''] = match;
  const instead = Object.hasOwn(INEXPRESSIBLE, name) ? INEXPRESSIBLE[name] : undefined;
  if (instead !== undefined) return `${name} is not supported by the API: ${instead}.`;
  const known = KNOWN.find((part) => part === name);
  if (known === undefined) return `${name} is not a part of a rule. Parts: ${KNOWN.join(', ')}.`;
  if (parts.has(known)) return `${name} occurs twice in the rule; give it once.`;
  if (value === '') return `${name} has no value.`;
  parts.set(known, value);
  return undefined;
}

const OTHER_FREQUENCIES: Readonly<Record<string, string>> = {
  DAILY: 'every day is FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU',
  YEARLY: 'once a year is FREQ=MONTHLY;INTERVAL=12 with a weekday of a week, such as BYDAY=2TU',
  HOURLY: 'create one series for each time of day',
  MINUTELY: 'create one series for each time of day',
  SECONDLY: 'create one series for each time of day',
};

function readFrequency(parts: RRuleParts, complain: Complain): 'WEEKLY' | 'MONTHLY' | undefined {
  const frequency = parts.get('FREQ');
  if (frequency === 'WEEKLY' || frequency === 'MONTHLY') return frequency;
  if (frequency === undefined) return complain('The rule has no FREQ; begin it with FREQ=WEEKLY or FREQ=MONTHLY.');
  const instead = Object.hasOwn(OTHER_FREQUENCIES, frequency) ? OTHER_FREQUENCIES[frequency] : undefined;
  if (instead === undefined) return complain('FREQ must be WEEKLY or MONTHLY.');
  return complain(`FREQ=${frequency} is not supported by the API, which knows WEEKLY and MONTHLY: ${instead}.`);
}

function readInterval(text: string, complain: Complain): number | undefined {
  const interval = Number(text);
  if (/^\d+$/.test(text) && interval >= 1 && interval <= 52) return interval;
  return complain('INTERVAL must be a whole number from 1 to 52.');
}

function readWeekly(parts: RRuleParts, frequency: number, complain: Complain): Pattern | undefined {
  const start = parts.get('WKST') ?? 'MO';
  if (!isCode(start)) return complain('WKST must be a weekday of two letters: MO.');
  if (start !== 'MO' && frequency > 1) {
    return complain(`WKST=${start} with INTERVAL=${frequency} is not supported by the API: its weeks begin on Monday.`);
  }
  if (parts.has('BYSETPOS')) return complain('BYSETPOS does not go with FREQ=WEEKLY; list the days in BYDAY alone.');
  const text = parts.get('BYDAY');
  if (text === undefined) return { type: 'WEEKLY', days: undefined };
  const days: Weekday[] = [];
  for (const code of text.split(',').map((entry) => entry.trim())) {
    const day = isCode(code) ? weekdayNamed(code) : undefined;
    if (day === undefined) return complain('BYDAY of FREQ=WEEKLY lists weekdays of two letters, such as MO,WE.');
    if (!days.includes(day)) days.push(day);
  }
  return { type: 'WEEKLY', days };
}

function readMonthly(parts: RRuleParts, complain: Complain): Pattern | undefined {
  const text = parts.get('BYDAY');
  if (text === undefined) {
    return complain(
      'FREQ=MONTHLY needs BYDAY, such as 2TU: a day of the month, such as the 15th, is not supported by the API.',
    );
  }
  if (!isCode(parts.get('WKST') ?? 'MO')) return complain('WKST must be a weekday of two letters: MO.');
  if (text.includes(',')) {
    return complain('BYDAY of FREQ=MONTHLY can have one entry, such as 2TU: create one series for each.');
  }
  const match = /^([+-]?\d+)?([A-Z]{2})$/.exec(text);
  const day = match?.[2] === undefined || !isCode(match[2]) ? undefined : weekdayNamed(match[2]);
  if (day === undefined) return complain('BYDAY of FREQ=MONTHLY is an ordinal and a weekday, such as 2TU or -1FR.');
  const position = parts.get('BYSETPOS');
  if (position !== undefined && match?.[1] !== undefined) {
    return complain('Give the week once: BYDAY=2TU, or BYDAY=TU;BYSETPOS=2.');
  }
  const ordinal = match?.[1] ?? position;
  const code = weekdayCode(day);
  if (ordinal === undefined) {
    return complain(
      `BYDAY=${code} is every such day of a month, which is FREQ=WEEKLY;BYDAY=${code}, or name its week: BYDAY=2${code}.`,
    );
  }
  const week = /^[+-]?\d+$/.test(ordinal) ? weekOfOrdinal(Number(ordinal)) : undefined;
  if (week !== undefined) return { type: 'MONTHLY', week, day };
  return complain(`Of the weeks of a month the API knows 1, 2, 3, 4 and -1 (the last), as in BYDAY=-1${code}.`);
}

function isCode(text: string): boolean {
  return text.length === 2 && weekdayNamed(text) !== undefined;
}

function readEnd(parts: RRuleParts, complain: Complain): RuleEnd | 'open' | undefined {
  const until = parts.get('UNTIL');
  const count = parts.get('COUNT');
  if (until !== undefined && count !== undefined) return complain('A rule ends by UNTIL or by COUNT, not by both.');
  if (until !== undefined) return readUntil(until, complain);
  if (count === undefined) return 'open';
  if (/^\d{1,6}$/.test(count) && Number(count) > 0) return { kind: 'count', count: Number(count) };
  return complain('COUNT must be a whole number from 1 on.');
}

function readUntil(text: string, complain: Complain): RuleEnd | undefined {
  const match = /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})(Z?))?$/.exec(text);
  const [, year, month, day, hour, minute, second, zone] = match ?? [];
  const date = `${year}-${month}-${day}`;
  const wrong = 'UNTIL must be a date or date-time that exists, such as 20270301 or 20270301T235959.';
  if (match === null || !isDate(date)) return complain(wrong);
  if (hour === undefined) return { kind: 'date', date };
  const milliseconds = Date.parse(`${date}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(milliseconds) || hour === '24') return complain(wrong);
  return { kind: 'time', milliseconds, utc: zone === 'Z' };
}
