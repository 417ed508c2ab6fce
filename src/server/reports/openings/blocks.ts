import sql from 'sql-template-tag';
import type { Link } from '../../../catalog/fields/composites.ts';
import { WEEKDAYS } from '../../../catalog/resources/events.ts';
import { type Reach, seenBy } from '../../store/reach.ts';
import type { Reader } from '../../store/store.ts';
import { instantIn } from '../../zones.ts';
import { addDays, wallAt } from '../days.ts';
import type { Interval } from './busytimes.ts';
import type { OpeningsQuery } from './query.ts';

/** Hours of a provider in an operatory on a day of the week (contract §7); `validFrom` and `validTo` are inclusive. */
interface Template {
  readonly id: number;
  readonly operatory: Link;
  readonly provider: Link;
  readonly dayOfWeek: (typeof WEEKDAYS)[number];
  readonly start: string;
  readonly end: string;
  readonly bookingTypes: readonly string[];
  readonly reasons: readonly Link[];
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

/** A template on one day, in UTC milliseconds. */
export interface Block extends Interval {
  readonly day: string;
  readonly provider: number;
  readonly operatory: number;
  readonly template: Template;
}

const TEMPLATE = 'ScheduleTemplateV1';

/** The requested blocks: by day, provider, operatory, then start. */
export async function blocksOf(read: Reader, reach: Reach, zone: string, query: OpeningsQuery): Promise<Block[]> {
  const rows = await read.all<{ json: string }>(
    sql`SELECT r.json FROM reference_records r
      WHERE r.org = ${reach.org} AND r.type = ${TEMPLATE} AND r.filed_under = ${query.location}${seenBy(reach, TEMPLATE)}`,
  );
  const templates = rows.map((row) => JSON.parse(row.json) as Template).filter((template) => matches(template, query));
  const instantOf = instantIn(zone);
  return Array.from({ length: query.days }, (_, index) => addDays(query.startDate, index)).flatMap((day) =>
    templates
      .filter((template) => isOn(template, day))
      .map((template) => ({
        ...{ day, template, provider: template.provider.id, operatory: template.operatory.id },
        from: instantOf(wallAt(day, minutesOf(template.start))),
        to: instantOf(wallAt(day, minutesOf(template.end))),
      }))
      .sort(byPlace),
  );
}

function matches(template: Template, query: OpeningsQuery): boolean {
  const { operatories, providers, bookingTypes, reasons } = query;
  return (
    (operatories?.has(template.operatory.id) ?? true) &&
    (providers?.has(template.provider.id) ?? true) &&
    bookingTypes.every((types) => template.bookingTypes.some((type) => types.includes(type))) &&
    reasons.every((ids) => template.reasons.some(({ id }) => ids.includes(id)))
  );
}

function isOn({ dayOfWeek, validFrom, validTo }: Template, day: string): boolean {
  if (WEEKDAYS[new Date(day).getUTCDay()] !== dayOfWeek) return false;
  return (validFrom === null || validFrom <= day) && (validTo === null || day <= validTo);
}

/** Minutes since midnight of `HH:mm`; 24:00 is the end of the day. */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** Blocks of one day. */
function byPlace(a: Block, b: Block): number {
  return (
    a.provider - b.provider ||
    a.operatory - b.operatory ||
    a.from - b.from ||
    a.to - b.to ||
    a.template.id - b.template.id
  );
}
