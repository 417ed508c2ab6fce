import { describe, expect, it } from 'vitest';
import EventsUpdate from '../../../src/commands/events/update.ts';
import { eventPractice, recordOf, refusalOf } from './practice.ts';

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
      'COUNT without a known start',
      ['--recurrence', 'FREQ=WEEKLY;BYDAY=MO;COUNT=3', '--target', 'series'],
      { '--recurrence': expect.stringMatching(/add --from/) },
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
    expect((await practice.run(EventsUpdate, [...words.slice(words.indexOf('update') + 1), '--dry-run'])).stderr).toBe(
      '',
    );
  });
});
