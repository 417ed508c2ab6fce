import { PLAIN } from '../output/style.ts';
import { countText } from './money.ts';
import { idOf, inCalendarOrder, type Slot } from './openingslots.ts';
import { daysFrom } from './productiondays.ts';
import { nameOfDay } from './productiontext.ts';
import { type ReportColumn, type ReportLook, type ReportTable, reportTable } from './reporttable.ts';

export interface CalendarLook extends Pick<ReportLook, 'width' | 'header' | 'style'> {
  readonly zone: string;
  /** Nobody named the zone: it is that of the machine, which is said. */
  readonly isMachineZone?: boolean;
}

/** Slots as a calendar: a heading for each day, below it a line for each slot, its times in `zone`. */
export function openingCalendar(slots: readonly Slot[], look: CalendarLook): ReportTable {
  const { zone, header, isMachineZone = false, style = PLAIN } = look;
  const ordered = inCalendarOrder(slots);
  const { dateOf, timeOf, endTimeOf } = wallClock(zone);
  const column = (title: string, cell: (slot: Slot) => string, more: Partial<ReportColumn> = {}): ReportColumn => ({
    title,
    align: 'left',
    isWhole: true,
    ...more,
    cells: ordered.map(cell),
  });
  const columns = [
    column('time', ({ day, start, end }) => `${timeOf(start, day)}-${endTimeOf(end, dateOf(start) ?? day)}`),
    column('min', ({ minutes }) => String(minutes ?? ''), { align: 'right' }),
    column('provider', ({ provider }) => idOf(provider)),
    column('operatory', ({ operatory }) => idOf(operatory)),
    column('booking types', ({ bookingTypes }) => bookingTypes.join(', '), { isWhole: false, least: 20, rank: 2 }),
    column('reasons', ({ reasons }) => reasons.join(', '), { rank: 1 }),
  ];
  const { text, hidden } = reportTable(columns, { ...look, indent: '  ' });
  const lines = text.split('\n');
  const head = lines.splice(0, header ? 2 : 0);
  const days = new Map<string, string[]>();
  for (const [at, { day }] of ordered.entries()) days.set(day, [...(days.get(day) ?? []), lines[at] ?? '']);
  const parts = [...days].map(([day, its]) => {
    const count = `${countText(its.length)} ${its.length === 1 ? 'opening' : 'openings'}`;
    return `\n${style('heading', `${nameOfDay(day)} ${day}`)}: ${count}\n${its.join('\n')}\n`;
  });
  const whose = isMachineZone ? ', the time zone of this machine; --timezone names another' : '';
  const top = [`Times in ${zone}${whose}`, ...head].map((line) => `${line}\n`).join('');
  return { text: top + parts.join(''), hidden };
}

function wallClock(zone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = (instant: string): readonly (string | undefined)[] => {
    const milliseconds = Date.parse(instant);
    return Number.isNaN(milliseconds) ? [] : format.format(milliseconds).split(', ');
  };
  /** `HH:mm`, with the date before it where that is another day than `day`; text that is no instant as it is. */
  const timeOf = (instant: string, day: string): string => {
    const [date, time] = parts(instant);
    if (date === undefined || time === undefined) return instant;
    return date === day ? time : `${date.slice(5)} ${time}`;
  };
  return {
    dateOf: (instant: string): string | undefined => parts(instant)[0],
    timeOf,
    /** As `timeOf`, but the midnight that `day` ends with is 24:00. */
    endTimeOf: (instant: string, day: string): string => {
      const [date, time] = parts(instant);
      return time === '00:00' && date === daysFrom(day, 2)[1] ? '24:00' : timeOf(instant, day);
    },
  };
}
