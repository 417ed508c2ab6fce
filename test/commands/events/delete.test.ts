import { describe, expect, it } from 'vitest';
import EventsCreate from '../../../src/commands/events/create.ts';
import EventsDelete from '../../../src/commands/events/delete.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';
import { DENVER, eventPractice, recordOf } from './practice.ts';

const practice = eventPractice();
const remove = (id: unknown, ...argv: readonly string[]) => practice.run(EventsDelete, [String(id), ...argv]);

async function left(ids: readonly unknown[]): Promise<unknown[]> {
  return (await practice.events()).map((event) => event.id).filter((id) => ids.includes(id));
}

describe('events delete', () => {
  it('deletes one occurrence unless told otherwise', async () => {
    const ids = await practice.mondays();
    const ran = await remove(ids[1], '--yes');
    expect(recordOf(ran)).toEqual({ id: ids[1] });
    expect(ran.stderr).toBe(`Deleted calendar event ${ids[1]}.\n`);
    expect(new URL(practice.sent[0]?.url ?? '').search).toBe('?recurrenceTarget=OCCURRENCE');
    expect(await left(ids)).toEqual([ids[0], ids[2], ids[3]]);
  });

  it('deletes all later ones with --target series, and says so', async () => {
    const ids = await practice.mondays();
    const ran = await remove(ids[2], '--target', 'series', '--yes');
    expect(ran.stderr).toBe(`Deleted calendar event ${ids[2]} and all later ones of its series.\n`);
    expect(await left(ids)).toEqual([ids[0], ids[1]]);
  });

  it('deletes an event that stands alone', async () => {
    const single = ['--title', 'One', '--start', '2026-03-02T09:00', '--location', DENVER];
    const { id } = recordOf(await practice.run(EventsCreate, single));
    expect(recordOf(await remove(id, '--yes'))).toEqual({ id });
  });

  it('prints the request in a dry run and sends nothing', async () => {
    expect(recordOf(await remove(7, '--target', 'series', '--dry-run'))).toMatchObject({
      method: 'DELETE',
      url: 'http://localhost/api/v1/events/7?recurrenceTarget=SERIES',
    });
    expect(practice.sent).toEqual([]);
  });

  it.each([
    ['occurrence', 'Delete calendar event 5 (Meeting, 2026-03-02 09:00)? This cannot be undone.'],
    [
      'series',
      'Delete calendar event 5 and all later ones of its series (Meeting, 2026-03-02 09:00)? This cannot be undone.',
    ],
  ])('asks on a terminal about the %s', async (target, question) => {
    const questions: string[] = [];
    const confirm = async (asked: string) => questions.push(asked) > 0;
    const event = { id: 5, title: 'Meeting', start: '2026-03-02T16:00:00Z' };
    const world = { script: new Script(success(event), success({ id: 5 })), terminal: 80, confirm };
    const line = ['5', '--target', target];
    const ran = await runCommand('events:delete', EventsDelete, line, {
      ...world,
      env: { TZ: 'America/Denver' },
    });
    expect(ran.exitCode).toBe(0);
    expect(questions).toEqual([question]);
  });

  it('deletes several, and asks about them and all later ones', async () => {
    const ids = await practice.mondays();
    const ran = await practice.run(EventsDelete, [String(ids[0]), String(ids[2]), '--yes', '--csv']);
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([
      0,
      `id,status,error\n${ids[0]},deleted,\n${ids[2]},deleted,\n`,
    ]);
    expect(await left(ids)).toEqual([ids[1], ids[3]]);
    const questions: string[] = [];
    const confirm = async (asked: string) => questions.push(asked) > 1;
    await runCommand('events:delete', EventsDelete, ['5', '6', '--target', 'series'], {
      ...{ script: new Script(success({ id: 5, title: 'Meeting' }), success({ id: 6 })), terminal: 80, confirm },
    });
    expect(questions).toEqual([
      'Delete 2 calendar events and all later ones of their series (5 Meeting; 6)? This cannot be undone.',
    ]);
  });
});
