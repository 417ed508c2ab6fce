import { describe, expect, it } from 'vitest';
import { checkZone, LocalTimes, zoneText } from '../../../src/cli/flags/zone.ts';
import { namesEnv } from '../names/namesenv.ts';

/** Nobody named a zone: this computer's is taken. */
const env = namesEnv('kind,id,name\n', { TZ: 'America/Denver' });
const WALL = { year: 2026, month: 11, day: 24, hour: 8, minute: 0, second: 0, millisecond: 0 };

describe('a date-time, as the day and the second of a series', () => {
  it.each([
    ['its own offset, where nobody named a zone', '2026-11-24T23:30:15+02:00', {}, '2026-11-24', 84_615],
    ['a named zone', '2026-11-24T23:30:15+02:00', { timezone: 'America/Denver' }, '2026-11-24', 52_215],
    ['another day there', '2026-11-24T01:30:00+02:00', { timezone: 'America/Denver' }, '2026-11-23', 59_400],
    ['UTC', '2026-11-24T23:30:00-07:00', { utc: true }, '2026-11-25', 23_400],
    ['the zone of this computer', '2026-11-24T08:00:00', {}, '2026-11-24', 28_800],
    ['a day before 1970', '1969-07-20T20:17:40Z', { utc: true }, '1969-07-20', 73_060],
  ])('is by %s', (_name, text, flags, date, second) => {
    expect(new LocalTimes(flags, env).localOf(text)).toEqual({ date, second });
  });

  it('is none of other text', () => {
    expect(new LocalTimes({}, env).localOf('soon')).toBeUndefined();
  });
});

describe('the note on the zone', () => {
  const noteOf = (flags: object, use: (times: LocalTimes) => unknown) => {
    const times = new LocalTimes({ ...flags }, env);
    use(times);
    return times.note();
  };
  const wall = (times: LocalTimes) => times.instantOf(WALL);

  it('says where it is only a guess, and what it was used for', () => {
    expect(noteOf({}, wall)).toContain('Dates and times without a zone are taken in America/Denver, this computer');
    const series = 'The day and the time of day of the series are taken in America/Denver';
    expect(noteOf({}, (times) => times.localOf('2026-11-24T08:00:00Z'))).toContain(series);
    expect(noteOf({}, (times) => times.localOf('2026-11-24T08:00:00+02:00'))).toBeUndefined();
    expect(noteOf({}, (times) => times.localOf('2026-11-24T08:00:00'))).toContain('Dates and times without a zone');
    expect(noteOf({}, () => undefined)).toBeUndefined();
  });

  it.each([{ json: true }, { format: 'json' }, { timezone: 'Asia/Tokyo' }, { utc: true }])(
    'is not said with %j',
    (flags) => {
      expect(noteOf(flags, wall)).toBeUndefined();
    },
  );
});

describe('the zone of a command line', () => {
  it.each([
    [{ utc: true, timezone: 'UTC' }, '--timezone and --utc contradict each other'],
    [{ utc: true, timezone: 'Asia/Tokyo' }, '--timezone and --utc contradict each other'],
    [{ timezone: '' }, '--timezone must be an IANA time zone'],
    [{ timezone: 'Denver' }, '--timezone must be an IANA time zone'],
  ])('is refused: %j', (flags, message) => {
    expect(() => checkZone(flags)).toThrow(message);
  });

  it('is told, and how to name another where it is only that of this computer', () => {
    expect(zoneText({}, { env })).toBe(
      'Times in America/Denver, the time zone of this computer; --timezone names another',
    );
    expect(zoneText({ utc: true }, { env })).toBe('Times in UTC');
    expect(zoneText({ timezone: 'Asia/Tokyo' }, { env })).toBe('Times in Asia/Tokyo');
  });
});
