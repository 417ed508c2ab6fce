import EventsCreate from '../../../src/commands/events/create.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { calendarRecords, PLACES } from '../../server/events/calendar.ts';
import { rowsOf, type WireRecord } from '../../support/calls.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from '../documents/run.ts';

export const DENVER = String(PLACES.denver);

/** What the commands on events are tried on: a practice without events, and every request that reached it. */
export function eventPractice() {
  const service = sharedService(calendarRecords);
  const sent: OutgoingRequest[] = [];
  const send = sendTo(() => service.app);
  const run = (command: unknown, argv: readonly string[]): Promise<Ran> => {
    sent.length = 0;
    return runCommand(command, argv, {
      env: { TZ: 'America/Denver' },
      send: (request) => {
        sent.push(request);
        return send(request);
      },
    });
  };
  /** All events, ascending by id. */
  const events = async (): Promise<readonly WireRecord[]> =>
    rowsOf(await service.call('GET', '/events', { query: { lastId: '0', pageSize: '500' } }));
  /** A new series of the Mondays 2, 9, 16 and 23 March 2026, 09:00 in Denver; its ids. */
  const mondays = async (): Promise<unknown[]> => {
    const words = ['--title', 'M', '--start', '2026-03-02T09:00', '--location', DENVER, '--recurrence', 'weekly'];
    const { groupId } = recordOf(await run(EventsCreate, [...words, '--until', '2026-03-23']));
    return (await events()).filter((event) => event.groupId === groupId).map((event) => event.id);
  };
  return { sent, run, events, mondays };
}

/** The record that a command printed. */
export function recordOf(ran: Ran): WireRecord {
  if (ran.exitCode !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout.toString()) as WireRecord;
}

/** Exit code, and sources and descriptions of what is wrong, of a run with `--json`. */
export function refusalOf(ran: Ran): { exitCode: number; errors: Readonly<Record<string, string>> } {
  const { error } = JSON.parse(ran.stderr) as { error: { errors: { source: string; description: string }[] } };
  return {
    exitCode: ran.exitCode,
    errors: Object.fromEntries(error.errors.map(({ source, description }) => [source, description])),
  };
}
