import { describe, expect, it } from 'vitest';
import EventsCreate from '../../../src/commands/events/create.ts';
import { DENVER, eventPractice, recordOf, refusalOf } from './practice.ts';

const practice = eventPractice();
const create = (...argv: readonly string[]) => practice.run(EventsCreate, argv);

/** 2026-03-02 is a Monday; 09:00 in Denver is 16:00 UTC until the 8th and 15:00 UTC after it. */
const TOKYO = ['--timezone', 'Asia/Tokyo'];
const MEETING = ['--title', 'Meeting', '--start', '2026-03-02T09:00', '--location', DENVER];

async function startsAfter(...argv: readonly string[]): Promise<unknown[]> {
  const { groupId } = recordOf(await create(...MEETING, ...argv));
  return (await practice.events()).filter((event) => event.groupId === groupId).map((event) => event.start);
}

describe('events create', () => {
  it('creates a single event', async () => {
    const event = recordOf(await create(...MEETING, '--duration', '45'));
    expect(event).toMatchObject({ title: 'Meeting', start: '2026-03-02T16:00:00.000Z', duration: 45, groupId: null });
    expect(practice.sent.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each<[name: string, argv: readonly string[], starts: readonly string[]]>([
    [
      'weekly in words',
      ['--recurrence', 'weekly', '--on', 'MON,WED', '--until', '2026-03-09'],
      ['2026-03-02T16:00:00.000Z', '2026-03-04T16:00:00.000Z', '2026-03-09T15:00:00.000Z'],
    ],
    [
      'on the weekday of the start',
      ['--recurrence', 'weekly', '--until', '2026-03-09'],
      ['2026-03-02T16:00:00.000Z', '2026-03-09T15:00:00.000Z'],
    ],
    [
      'every other week from a date',
      ['--recurrence', 'weekly', '--every', '2', '--on', 'Monday', '--from', '2026-03-09', '--until', '2026-03-31'],
      ['2026-03-09T15:00:00.000Z', '2026-03-23T15:00:00.000Z'],
    ],
    [
      'monthly in words',
      ['--recurrence', 'monthly', '--on', 'SECOND TUESDAY', '--until', '2026-04-30'],
      ['2026-03-10T15:00:00.000Z', '2026-04-14T15:00:00.000Z'],
    ],
    [
      'by a rule',
      ['--recurrence', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20260317'],
      ['2026-03-02T16:00:00.000Z', '2026-03-04T16:00:00.000Z', '2026-03-16T15:00:00.000Z'],
    ],
    [
      'by a rule that counts',
      ['--recurrence', 'RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=2'],
      ['2026-03-27T15:00:00.000Z', '2026-04-24T15:00:00.000Z'],
    ],
    [
      'by a rule whose end is given beside it',
      ['--recurrence', 'FREQ=WEEKLY;BYDAY=TU', '--until', '2026-03-03'],
      ['2026-03-03T16:00:00.000Z'],
    ],
  ])('creates a series: %s', async (_name, argv, starts) => {
    expect(await startsAfter(...argv)).toEqual(starts);
  });

  it('shows the first occurrence with the recurrence', async () => {
    const event = recordOf(
      await create(...MEETING, '--recurrence', 'monthly', '--on', 'LAST FRI', '--until', '2026-05-01'),
    );
    expect(event).toMatchObject({
      start: '2026-03-27T15:00:00.000Z',
      recurrenceType: 'MONTHLY',
      recurrenceStart: '2026-03-02',
      recurrenceEnd: '2026-05-01',
      recurrenceFrequency: 1,
      recurrenceDays: null,
      recurrenceWeek: 'LAST',
      recurrenceDay: 'FRIDAY',
    });
  });

  it('prints the request in a dry run and sends nothing', async () => {
    const ran = await create(...MEETING, '--recurrence', 'weekly', '--on', 'MON', '--until', '2026-04-01', '--dry-run');
    expect(recordOf(ran)).toMatchObject({
      method: 'POST',
      url: 'http://localhost/api/v1/events',
      body: {
        title: 'Meeting',
        start: '2026-03-02T16:00:00Z',
        location: { id: Number(DENVER) },
        recurrenceType: 'WEEKLY',
        recurrenceStart: '2026-03-02',
        recurrenceEnd: '2026-04-01',
        recurrenceFrequency: 1,
        recurrenceDays: ['MONDAY'],
      },
    });
    expect(practice.sent).toEqual([]);
  });

  it.each<[name: string, argv: readonly string[], errors: Readonly<Record<string, unknown>>]>([
    ['a word', ['--recurrence', 'daily'], { '--recurrence': expect.stringMatching(/weekly, monthly or a rule/) }],
    ['none', ['--recurrence', 'none'], { '--recurrence': expect.stringMatching(/leave out --recurrence none/) }],
    ['no end', ['--recurrence', 'weekly'], { '--recurrence': expect.stringMatching(/must end: give --until/) }],
    [
      'companions alone',
      ['--on', 'MON', '--until', '2026-04-01'],
      { '--on': expect.stringMatching(/goes with --recurrence/), '--until': expect.stringMatching(/goes with/) },
    ],
    [
      'the fields beside it',
      [
        '--recurrence',
        'weekly',
        '--until',
        '2026-04-01',
        '--recurrence-type',
        'MONTHLY',
        '--set',
        'recurrenceDay=MONDAY',
      ],
      {
        '--recurrence':
          '--recurrence and recurrenceType, recurrenceDay both say how the event recurs; give one of them.',
      },
    ],
    [
      'words beside a rule',
      ['--recurrence', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20260401', '--every', '2', '--on', 'MON', '--until', '2026-04-01'],
      {
        '--every': expect.stringMatching(/INTERVAL/),
        '--on': expect.stringMatching(/BYDAY/),
        '--until': expect.stringMatching(/already where it ends/),
      },
    ],
    [
      'a rule that the API cannot express, with all else that is wrong',
      ['--recurrence', 'FREQ=DAILY;COUNT=3', '--from', '2026-02-30', '--duration', '1'],
      {
        '--recurrence': expect.stringMatching(/^FREQ=DAILY is not supported/),
        '--from': expect.stringMatching(/date that exists/),
        duration: expect.any(String),
      },
    ],
    [
      'an end too late',
      ['--recurrence', 'weekly', '--until', '2028-03-03'],
      { '--until': '--until must be at most 2 years after the start (2026-03-02).' },
    ],
    [
      'an end before the start',
      ['--recurrence', 'weekly', '--from', '2026-03-09', '--until', '2026-03-08'],
      { '--until': '--until must not be before --from (2026-03-09).' },
    ],
    [
      'no matching day',
      ['--recurrence', 'FREQ=WEEKLY;BYDAY=SU;UNTIL=20260303'],
      { '--recurrence': 'No day from 2026-03-02 to 2026-03-03 matches the recurrence.' },
    ],
    [
      'half of the fields',
      ['--recurrence-type', 'WEEKLY', '--recurrence-frequency', '1', '--recurrence-days', 'MONDAY'],
      { recurrenceEnd: expect.stringMatching(/--recurrence-end/) },
    ],
  ])('refuses %s and sends nothing', async (_name, argv, errors) => {
    const ran = await create(...MEETING, ...argv, '--json');
    expect(refusalOf(ran)).toEqual({ exitCode: 2, errors });
    expect(ran.stdout.toString()).toBe('');
    expect(practice.sent).toEqual([]);
  });

  it('counts from the local date of a time with a zone', async () => {
    const late = ['--title', 'Late', '--start', '2026-03-03T02:00:00Z', '--location', DENVER, '--duration', '30'];
    const event = recordOf(await create(...late, '--recurrence', 'FREQ=WEEKLY;COUNT=2'));
    expect(event).toMatchObject({
      start: '2026-03-03T02:00:00.000Z',
      recurrenceStart: '2026-03-02',
      recurrenceDays: ['MONDAY'],
      recurrenceEnd: '2026-03-09',
    });
    const inTokyo = await create(...late, '--recurrence', 'weekly', '--until', '2026-03-20', '--dry-run', ...TOKYO);
    expect(recordOf(inTokyo).body).toMatchObject({ recurrenceStart: '2026-03-03', recurrenceDays: ['TUESDAY'] });
  });

  it.each<[name: string, argv: readonly string[]]>([
    ['in words', ['--recurrence', 'weekly', '--until', '2026-03-20']],
    ['by a rule with an end in time', ['--recurrence', 'FREQ=WEEKLY;UNTIL=20260320T000000']],
    [
      'in single fields',
      [
        ...['--recurrence-type', 'WEEKLY', '--recurrence-end', '2026-03-20', '--recurrence-frequency', '1'],
        ...['--recurrence-days', 'TUESDAY'],
      ],
    ],
  ])('takes the day of a start with an offset as written: %s', async (_name, recurrence) => {
    // In Denver, where the computer is, it is Monday still.
    const start = ['--title', 'Late', '--start', '2026-03-03T08:00:00+09:00', '--location', DENVER];
    const ran = await create(...start, ...recurrence, '--dry-run');
    expect(recordOf(ran).body).toMatchObject({
      start: '2026-03-02T23:00:00Z',
      recurrenceStart: '2026-03-03',
      recurrenceDays: ['TUESDAY'],
    });
    expect(ran.stderr).toBe('');
    const [date, days] = ['2026-03-02', recurrence.includes('TUESDAY') ? ['TUESDAY'] : ['MONDAY']];
    const named = await create(...start, ...recurrence, '--dry-run', '--timezone', 'America/New_York');
    expect(recordOf(named).body).toMatchObject({ recurrenceStart: date, recurrenceDays: days });
    expect(named.stderr).toBe('');
  });

  it('tells the zone in which it took the day of a start in UTC, where the day matters', async () => {
    const start = ['--title', 'Late', '--start', '2026-03-03T02:00:00Z', '--location', DENVER, '--dry-run'];
    const weekly = [...start, '--recurrence', 'weekly', '--until', '2026-03-20'];
    expect((await create(...weekly)).stderr).toBe(
      "The day and the time of day of the series are taken in America/Denver, this computer's; --timezone ZONE or molar config set timezone ZONE names another.\n",
    );
    expect((await create(...weekly, '--from', '2026-03-03')).stderr).toBe('');
    expect((await create(...weekly, ...TOKYO)).stderr).toBe('');
    expect((await create(...start)).stderr).toBe('');
  });

  it('tells the zone it took, unless one was named', async () => {
    const note =
      "Dates and times without a zone are taken in America/Denver, this computer's; --timezone ZONE or molar config set timezone ZONE names another.\n";
    expect((await create(...MEETING, '--dry-run')).stderr).toBe(note);
    expect((await create(...MEETING, '--dry-run', '--quiet')).stderr).toBe('');
    const named = await create(...MEETING, '--dry-run', ...TOKYO);
    expect(named.stderr).toBe('');
    expect(recordOf(named).body).toMatchObject({ start: '2026-03-02T00:00:00Z' });
    const wrong = await create(...MEETING, '--timezone', 'Denver', '--json');
    expect(refusalOf(wrong)).toEqual({ exitCode: 2, errors: { '--timezone': expect.stringMatching(/IANA/) } });
  });

  it('sends single fields with the date that the series counts from', async () => {
    const fields = ['--recurrence-type', 'monthly', '--recurrence-end', '2026-04-30', '--recurrence-frequency', '1'];
    const starts = await startsAfter(...fields, '--recurrence-week', 'first', '--recurrence-day', 'MONDAY');
    expect(starts).toEqual(['2026-03-02T16:00:00.000Z', '2026-04-06T15:00:00.000Z']);
  });

  it.each(EventsCreate.examples)('has an example that can be pasted: %s', async (example) => {
    const words = [...String(example).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const argv = words.slice(words.indexOf('create') + 1);
    expect(
      (await create(...argv, '--dry-run', ...(argv.includes('--timezone') ? [] : ['--timezone', 'America/Denver'])))
        .stderr,
    ).toBe('');
  });
});
