import type { Complain } from './draft.ts';

/** Parts of RFC 5545 that the recurrence fields of the API can hold. */
const KNOWN = ['FREQ', 'INTERVAL', 'BYDAY', 'BYSETPOS', 'UNTIL', 'COUNT', 'WKST'] as const;

export type RRulePart = (typeof KNOWN)[number];

export type RRuleParts = ReadonlyMap<RRulePart, string>;

/** Parts of RFC 5545 that the API has no field for, and what to do instead. */
const INEXPRESSIBLE: Readonly<Record<string, string>> = {
  BYMONTHDAY:
    'a day of the month, such as the 15th, cannot be said: name a weekday of a week, such as BYDAY=2TU, or create the events one by one',
  BYMONTH: 'the months cannot be chosen: use INTERVAL, such as INTERVAL=3, or one series for each month',
  BYYEARDAY: 'a day of the year cannot be said: use FREQ=MONTHLY;INTERVAL=12;BYDAY=2TU or single events',
  BYWEEKNO: 'a week of the year cannot be said: use FREQ=WEEKLY with INTERVAL and --from',
  BYHOUR: 'the time of day is that of --start: create one series for each time',
  BYMINUTE: 'the time of day is that of --start: create one series for each time',
  BYSECOND: 'the time of day is that of --start: create one series for each time',
};

/** Whether a text is meant as a rule rather than as a word. */
export function looksLikeRRule(text: string): boolean {
  return /[=:;]/.test(text);
}

/**
 * Splits a rule into its parts, names and values in upper case; an `RRULE:` in front is allowed. Undefined when
 * something is wrong: syntax, a part twice, or a part that the API cannot express.
 */
export function splitRRule(text: string, complain: Complain): RRuleParts | undefined {
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
  if (parts.has(known)) return `${name} stands twice in the rule; give it once.`;
  if (value === '') return `${name} has no value.`;
  parts.set(known, value);
  return undefined;
}
