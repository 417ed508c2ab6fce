const MINUTE = 60_000;
const DAY = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a text names an IANA time zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds by which clocks of a zone are ahead of UTC at an instant. */
export function offsetAt(instant: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(instant);
  const part = (type: string) => Number(parts.find((found) => found.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(instant / 1000) * 1000;
}

/** Calendar day of an instant in a zone, `YYYY-MM-DD`. */
export function dayOf(instant: number, zone: string): string {
  return new Date(instant + offsetAt(instant, zone)).toISOString().slice(0, 10);
}

/** Minutes since midnight of an instant in a zone. */
export function minuteOf(instant: number, zone: string): number {
  const local = instant + offsetAt(instant, zone);
  return Math.floor((((local % DAY) + DAY) % DAY) / MINUTE);
}

/** The instant at which clocks of a zone show a day and a minute of it. */
export function instantOf(day: string, minute: number, zone: string): number {
  const local = Date.parse(`${day}T00:00:00Z`) + minute * MINUTE;
  const guess = local - offsetAt(local, zone);
  return local - offsetAt(guess, zone);
}

/** A calendar day some days later. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, format);
  return format;
}
