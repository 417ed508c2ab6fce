import { wallTextIn } from '../support.ts';

/**
 * Openings said a second time from D32, minute by minute: every minute of a block is taken or free, and slots are runs
 * of free ones. Local times are looked up in a table of all minutes as Intl writes them. Nothing is shared with the
 * server.
 */
export interface OracleTemplate {
  readonly id: number;
  readonly operatory: number;
  readonly provider: number;
  readonly dayOfWeek: string;
  readonly start: string;
  readonly end: string;
  readonly bookingTypes: readonly string[];
  readonly reasons: readonly number[];
  readonly validFrom?: string;
  readonly validTo?: string;
}

/** Something that takes time; `everywhere`: the whole location. UTC milliseconds and minutes. */
export interface OracleBusy {
  readonly start: number;
  readonly duration: number;
  readonly operatory?: number;
  readonly provider?: number;
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** The instant of a local time, of minutes from two days before a date until six days after it. */
export function instants(zone: string, date: string): (wall: string) => number {
  const textOf = wallTextIn(zone);
  const first = new Map<string, number>();
  const from = Date.parse(date) - 2 * DAY;
  for (let instant = from; instant < from + 8 * DAY; instant += MINUTE) {
    const text = textOf(instant);
    if (!first.has(text)) first.set(text, instant);
  }
  return (wall) => {
    for (let back = 0; back < 240; back++) {
      const known = first.get(minutesBefore(wall, back));
      // A time that the clock skips moves forward by what is skipped.
      if (known !== undefined) return known + back * MINUTE;
    }
    throw new Error(`${wall} is not in the table.`);
  };
}

function minutesBefore(wall: string, minutes: number): string {
  return new Date(Date.parse(`${wall.replace(' ', 'T')}Z`) - minutes * MINUTE)
    .toISOString()
    .slice(0, 16)
    .replace('T', ' ');
}

function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);
}

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

interface OracleItem {
  readonly provider: { readonly id: number };
  readonly operatory: { readonly id: number };
  readonly day: string;
  readonly slots: readonly object[];
}

/** What the report of some days must answer. */
export function oracleOpenings(
  templates: readonly OracleTemplate[],
  busy: readonly OracleBusy[],
  days: readonly string[],
  instantOf: (wall: string) => number,
  minMinutes: number,
) {
  const items: OracleItem[] = [];
  for (const day of days) {
    const weekday = WEEKDAYS[new Date(`${day}T12:00:00Z`).getUTCDay()];
    const today = templates
      .filter((one) => one.dayOfWeek === weekday)
      .filter((one) => day >= (one.validFrom ?? day) && day <= (one.validTo ?? day))
      .map((one) => ({
        ...one,
        from: instantOf(`${day} ${one.start}`),
        to: instantOf(one.end === '24:00' ? `${dayAfter(day, 1)} 00:00` : `${day} ${one.end}`),
      }))
      .sort((a, b) => a.from - b.from || a.to - b.to || a.id - b.id);
    const pairs = [...new Set(today.map(({ provider, operatory }) => `${provider} ${operatory}`))]
      .map((pair) => pair.split(' ').map(Number) as [number, number])
      .sort(([a, c], [b, d]) => a - b || c - d);
    for (const [provider, operatory] of pairs) {
      const taken = takenMinutes(busy, provider, operatory);
      const slots = today
        .filter((one) => one.provider === provider && one.operatory === operatory)
        .flatMap((one) =>
          freeRuns(one.from, one.to, taken)
            .filter(([from, to]) => to - from >= minMinutes * MINUTE)
            .map(([from, to]) => ({
              start: new Date(from).toISOString(),
              end: new Date(to).toISOString(),
              scheduleTemplateBookingType: one.bookingTypes.map((id) => ({ id })),
              scheduleTemplateReason: one.reasons.map((id) => ({ id })),
            })),
        );
      if (slots.length > 0) items.push({ provider: { id: provider }, operatory: { id: operatory }, day, slots });
    }
  }
  return items;
}

function takenMinutes(busy: readonly OracleBusy[], provider: number, operatory: number): Set<number> {
  const taken = new Set<number>();
  for (const one of busy) {
    const everywhere = one.operatory === undefined && one.provider === undefined;
    if (!everywhere && one.operatory !== operatory && one.provider !== provider) continue;
    for (let minute = 0; minute < one.duration; minute++) taken.add(one.start + minute * MINUTE);
  }
  return taken;
}

function freeRuns(from: number, to: number, taken: ReadonlySet<number>): [number, number][] {
  const runs: [number, number][] = [];
  for (let minute = from; minute < to; minute += MINUTE) {
    if (taken.has(minute)) continue;
    const last = runs.at(-1);
    if (last?.[1] === minute) last[1] = minute + MINUTE;
    else runs.push([minute, minute + MINUTE]);
  }
  return runs;
}
