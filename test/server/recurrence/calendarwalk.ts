/** An oracle for recurrence: calendar days walked one by one, and wall clocks as Intl shows them. */

export interface WalkedRule {
  readonly type: 'WEEKLY' | 'MONTHLY';
  readonly start: string;
  readonly end: string;
  readonly frequency: number;
  readonly days?: readonly string[];
  readonly week?: string;
  readonly day?: string;
}

const NAMES = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });
const NTH = ['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'FIFTH'];

export function weekdayName(date: string): string {
  return NAMES.format(Date.parse(date)).toUpperCase();
}

export function dayAfter(date: string, days = 1): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const next = new Date(Date.UTC(2000, month - 1, day + days));
  next.setUTCFullYear(year, month - 1, day + days);
  return next.toISOString().slice(0, 10);
}

/** The dates of a rule: each day from its start to its end is asked whether it belongs (RFC 5545 with WKST=MO). */
export function walkedDates(rule: WalkedRule): string[] {
  const found: string[] = [];
  let weeks = 0;
  let months = 0;
  for (let date = rule.start; date <= rule.end; date = dayAfter(date)) {
    const name = weekdayName(date);
    if (date !== rule.start && name === 'MONDAY') weeks++;
    if (date !== rule.start && date.endsWith('-01')) months++;
    const nth = NTH[Math.ceil(Number(date.slice(8)) / 7) - 1];
    const isLast = dayAfter(date, 7).slice(0, 7) !== date.slice(0, 7);
    const belongs =
      rule.type === 'WEEKLY'
        ? weeks % rule.frequency === 0 && rule.days?.includes(name)
        : months % rule.frequency === 0 && name === rule.day && (rule.week === 'LAST' ? isLast : rule.week === nth);
    if (belongs) found.push(date);
  }
  return found;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD HH:mm:ss` that a clock in the zone shows. */
export function wallText(instant: number | string, zone: string): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' });
  formats.set(zone, format);
  return format.format(new Date(instant));
}

/** What must be added to UTC milliseconds to read the zone's clock. */
function offsetAt(instant: number, zone: string): number {
  return Date.parse(`${wallText(instant, zone).replace(' ', 'T')}Z`) - instant;
}

/** A time during which a zone's clock goes without a jump. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

const FIRST = Date.UTC(2015, 0, 1);
const LAST = Date.UTC(2032, 0, 1);
const HOUR = 3_600_000;
const known = new Map<string, Stretch[]>();

/** All stretches of the years 2015 to 2031, found by walking and halving. */
function stretchesOf(zone: string): Stretch[] {
  const made = known.get(zone);
  if (made !== undefined) return made;
  const found: Stretch[] = [];
  let from = FIRST;
  for (let at = FIRST; at < LAST; at += 24 * HOUR) {
    const next = at + 24 * HOUR;
    if (offsetAt(at, zone) === offsetAt(next, zone)) continue;
    const jump = jumpBetween(at, next, zone);
    found.push({ from, to: jump, offset: offsetAt(at, zone) });
    from = jump;
  }
  found.push({ from, to: LAST, offset: offsetAt(LAST, zone) });
  known.set(zone, found);
  return found;
}

function jumpBetween(before: number, after: number, zone: string): number {
  let [low, high] = [before, after];
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2 / 1000) * 1000;
    if (offsetAt(middle, zone) === offsetAt(before, zone)) low = middle;
    else high = middle;
  }
  return high;
}

/** Jumps of a zone's clock: the instant, and what the clock shows just before and at it. */
export function jumpsOf(zone: string): { instant: number; wallBefore: number; wallAfter: number }[] {
  return stretchesOf(zone)
    .slice(0, -1)
    .map(({ to, offset }) => ({ instant: to, wallBefore: to + offset, wallAfter: to + offsetAt(to, zone) }));
}

/** The instant of a wall time `YYYY-MM-DDTHH:mm`: the first when there are two, moved forward by the gap when there is none. */
export function instantOfWall(wall: string, zone: string): string {
  const digits = Date.parse(`${wall}:00Z`);
  const stretches = stretchesOf(zone);
  for (const { from, to, offset } of stretches) {
    if (from + offset <= digits && digits < to + offset) return new Date(digits - offset).toISOString();
  }
  for (const { instant, wallBefore, wallAfter } of jumpsOf(zone)) {
    if (digits < wallBefore || digits >= wallAfter) continue;
    const moved = digits + (wallAfter - wallBefore);
    return new Date(instant + (moved - wallAfter)).toISOString();
  }
  throw new Error(`${wall} is outside the years that the oracle knows`);
}
