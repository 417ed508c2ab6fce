import { describe, expect, it } from 'vitest';
import EventsUpdate from '../../../src/commands/events/update.ts';
import { DENVER, eventPractice, recordOf, refusalOf } from './practice.ts';

const practice = eventPractice();
const update = (id: unknown, ...argv: readonly string[]) => practice.run(EventsUpdate, [String(id), ...argv]);

async function stored(ids: readonly unknown[]) {
  const kept = (await practice.events()).filter((event) => ids.includes(event.id));
  return kept.map(({ title, start }) => `${title} ${start}`);
}

const queryOf = () => new URL(practice.sent[0]?.url ?? '').search;

describe('events update', () => {
  it('changes one occurrence unless told otherwise', async () => {
    const ids = await practice.mondays();
    expect(recordOf(await update(ids[1], '--title', 'N'))).toMatchObject({ id: ids[1], title: 'N' });
    expect(queryOf()).toBe('?recurrenceTarget=OCCURRENCE');
    expect((await stored(ids)).map((line) => line[0])).toEqual(['M', 'N', 'M', 'M']);
  });

  it('changes the series with --target series', async () => {
    const ids = await practice.mondays();
    const ran = await update(
      ids[2],
      '--title',
      'N',
      '--start',
      '2026-03-16T10:00',
      '--target',
      'series',
      '--fields',
      'id',
    );
    expect(recordOf(ran)).toEqual({ id: ids[2] });
    expect(new URLSearchParams(queryOf()).get('recurrenceTarget')).toBe('SERIES');
    expect(await stored(ids)).toEqual([
      'M 2026-03-02T16:00:00.000Z',
      'M 2026-03-09T15:00:00.000Z',
      'N 2026-03-16T16:00:00.000Z',
      'N 2026-03-23T16:00:00.000Z',
    ]);
  });

  it('makes a series anew, and ends it', async () => {
    const ids = await practice.mondays();
    const words = ['--recurrence', 'weekly', '--on', 'TUE', '--until', '2026-03-24', '--target', 'series'];
    const first = recordOf(await update(ids[1], ...words));
    expect(first).toMatchObject({ id: ids[1], recurrenceDays: ['TUESDAY'], start: '2026-03-10T15:00:00.000Z' });
    const series = (await practice.events()).filter((event) => event.groupId === first.groupId);
    expect(series.map((event) => event.start)).toEqual([
      '2026-03-10T15:00:00.000Z',
      '2026-03-17T15:00:00.000Z',
      '2026-03-24T15:00:00.000Z',
    ]);
    const single = recordOf(await update(ids[1], '--recurrence', 'none', '--target', 'series'));
    expect(single).toMatchObject({ id: ids[1], groupId: null, recurrenceType: null, recurrenceDays: null });
    expect((await practice.events()).filter((event) => event.groupId === first.groupId)).toEqual([]);
  });

  it('counts from where a series moves to', async () => {
    const [id] = await practice.mondays();
    const words = ['--start', '2026-03-04T09:00', '--recurrence', 'FREQ=WEEKLY;COUNT=2', '--target', 'series'];
    const moved = recordOf(await update(id, ...words));
    expect(moved).toMatchObject({
      start: '2026-03-04T16:00:00.000Z',
      recurrenceStart: '2026-03-04',
      recurrenceEnd: '2026-03-11',
      recurrenceDays: ['WEDNESDAY'],
    });
  });

  it('counts from the event on the server where it does not move', async () => {
    const [, id] = await practice.mondays();
    const rule = ['--recurrence', 'FREQ=WEEKLY;BYDAY=MO;COUNT=3', '--target', 'series'];
    expect(recordOf(await update(id, ...rule, '--dry-run')).body).toEqual({
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-03-09',
      recurrenceEnd: '2026-03-23',
      recurrenceFrequency: 1,
      recurrenceDays: ['MONDAY'],
    });
    expect(practice.sent.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each<[name: string, argv: readonly string[], body: Readonly<Record<string, unknown>>]>([
    ['an end', ['--recurrence-end', '2026-03-30'], { recurrenceEnd: '2026-03-30' }],
    [
      'days',
      ['--recurrence-days', 'monday', '--recurrence-days', 'Wednesday'],
      { recurrenceDays: ['MONDAY', 'WEDNESDAY'] },
    ],
    [
      'an end two years after the first of the series',
      ['--recurrence-end', '2028-03-05'],
      { recurrenceStart: '2026-03-09', recurrenceEnd: '2028-03-05' },
    ],
  ])('sends the whole recurrence for %s', async (_name, argv, changed) => {
    const [, id] = await practice.mondays();
    const ran = await update(id, ...argv, '--target', 'series', '--dry-run');
    expect(recordOf(ran).body).toEqual({
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-03-02',
      recurrenceEnd: '2026-03-23',
      recurrenceFrequency: 1,
      recurrenceDays: ['MONDAY'],
      ...changed,
    });
  });

  it('takes the fields of the other type along when the type changes', async () => {
    const [id] = await practice.mondays();
    const words = ['--recurrence-type', 'monthly', '--recurrence-week', 'first', '--recurrence-day', 'monday'];
    const ran = await update(id, ...words, '--target', 'series', '--dry-run');
    expect(recordOf(ran).body).toEqual({
      recurrenceType: 'MONTHLY',
      recurrenceStart: '2026-03-02',
      recurrenceEnd: '2026-03-23',
      recurrenceFrequency: 1,
      recurrenceWeek: 'FIRST',
      recurrenceDay: 'MONDAY',
    });
    const half = await update(id, '--recurrence-type', 'monthly', '--target', 'series', '--json');
    expect(refusalOf(half)).toEqual({
      exitCode: 2,
      errors: { recurrenceWeek: expect.any(String), recurrenceDay: expect.any(String) },
    });
  });

  it('asks nothing where the whole recurrence is given', async () => {
    const words = ['--recurrence', 'weekly', '--on', 'MON', '--from', '2026-03-02', '--until', '2026-03-23'];
    recordOf(await update(7, ...words, '--target', 'series', '--dry-run'));
    expect(practice.sent).toEqual([]);
  });

  it('leaves out what cannot be written, and says so', async () => {
    const [id] = await practice.mondays();
    const ran = await update(id, '--set', `location=${DENVER}`, '--title', 'N', '--dry-run');
    expect(recordOf(ran).body).toEqual({ title: 'N' });
    expect(ran.stderr).toBe('Warning: Read-only property: location is read-only and was ignored. (location)\n');
    const alone = await update(id, '--set', `location=${DENVER}`);
    expect(alone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('location is read-only') });
  });

  it('prints the request in a dry run and sends nothing', async () => {
    const ran = await update(7, '--recurrence', 'none', '--target', 'series', '--dry-run');
    expect(recordOf(ran)).toMatchObject({
      method: 'PUT',
      url: 'http://localhost/api/v1/events/7?recurrenceTarget=SERIES',
      body: { recurrenceType: null },
    });
    expect(practice.sent).toEqual([]);
  });

  it.each<[name: string, argv: readonly string[], errors: Readonly<Record<string, unknown>>]>([
    ['nothing to change', ['--target', 'series'], {}],
    [
      'a recurrence of one occurrence',
      ['--recurrence', 'weekly', '--on', 'MON', '--until', '2026-03-24'],
      { '--recurrence': '--recurrence changes the series, not one occurrence: add --target series.' },
    ],
    [
      'a recurrence field of one occurrence',
      ['--recurrence-end', '2026-03-24'],
      { '--recurrence-end': expect.stringMatching(/add --target series/) },
    ],
    [
      'none with words',
      ['--recurrence', 'none', '--on', 'MON', '--target', 'series'],
      { '--on': '--on does not go with --recurrence none.' },
    ],
    [
      'a target in upper case',
      ['--title', 'N', '--target', 'SERIES'],
      { '--target': expect.stringMatching(/occurrence, series/) },
    ],
  ])('refuses %s and sends nothing', async (_name, argv, errors) => {
    const ran = await update(7, ...argv, '--json');
    expect(refusalOf(ran)).toEqual({ exitCode: 2, errors });
    expect(practice.sent).toEqual([]);
  });

  it.each(EventsUpdate.examples)('has an example that can be pasted: %s', async (example) => {
    const words = [...String(example).matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const [, ...argv] = words.slice(words.indexOf('update') + 1);
    const [id] = await practice.mondays();
    expect((await update(id, ...argv, '--dry-run', '--timezone', 'America/Denver')).stderr).toBe('');
  });
});
