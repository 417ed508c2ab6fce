import { describe, expect, it } from 'vitest';
import AppointmentsCreate from '../../../src/commands/appointments/create.ts';
import AppointmentsUpdate from '../../../src/commands/appointments/update.ts';
import MissedUpdate from '../../../src/commands/missedappointments/update.ts';
import TagsCreate from '../../../src/commands/transactiontags/create.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';

/** What a write sends, and what it says on standard error. */
async function sentBy(command: unknown, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const script = new Script(success({ id: 5 }));
  const ran = await runCommand('write', command, argv, { script, env });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return { body: JSON.parse(String(script.requests[0]?.body)) as unknown, stderr: ran.stderr };
}

const DENVER = ['--timezone', 'America/Denver'];

describe('what a write sends', () => {
  it.each<[name: string, command: unknown, argv: readonly string[], body: unknown]>([
    [
      'an appointment',
      AppointmentsCreate,
      ['--start', '2026-03-02 09:00', '--patient', '007', '--provider', '8', '--operatory', '9', '--asap', 'true'],
      {
        start: '2026-03-02T16:00:00Z',
        patient: { id: 7 },
        provider: { id: 8 },
        operatory: { id: 9 },
        asap: true,
      },
    ],
    [
      'a booking type that is not listed',
      AppointmentsUpdate,
      ['5', '--booking-type', 'Emergency', '--status', 'no_show', '--duration', '45'],
      { bookingType: 'Emergency', status: 'NO_SHOW', duration: 45 },
    ],
    [
      'a listed one in another letter case',
      AppointmentsUpdate,
      ['5', '--booking-type', 'recare'],
      { bookingType: 'RECARE' },
    ],
    [
      'a missed appointment',
      MissedUpdate,
      ['5', '--status', 'broken', '--cancelled-on', '2026-07-02T09:00', '--set', 'reasonCancelled=null'],
      { status: 'BROKEN', cancelledOn: '2026-07-02T15:00:00Z', reasonCancelled: null },
    ],
    [
      'a time with an offset and fractions',
      MissedUpdate,
      ['5', '--cancelled-on', '2026-07-02T09:00:00.5+02:00'],
      { cancelledOn: '2026-07-02T07:00:00.500Z' },
    ],
  ])('is canonical: %s', async (_name, command, argv, body) => {
    expect(await sentBy(command, [...argv, ...DENVER])).toEqual({ body, stderr: '' });
  });

  it('is canonical without a time zone too', async () => {
    const argv = ['--tag-text', ' Cash ', '--tag-type', 'payment_tag', '--is-predefined', 'false'];
    expect((await sentBy(TagsCreate, argv)).body).toEqual({
      tagText: 'Cash',
      tagType: 'PAYMENT_TAG',
      isPredefined: false,
    });
  });

  it('takes the zone of the computer where none is named, and says so', async () => {
    const ran = await sentBy(MissedUpdate, ['5', '--cancelled-on', '2026-07-02T09:00'], { TZ: 'Asia/Tokyo' });
    expect(ran.body).toEqual({ cancelledOn: '2026-07-02T00:00:00Z' });
    expect(ran.stderr).toContain("taken in Asia/Tokyo, this computer's;");
  });

  it('says nothing of a zone that is not needed', async () => {
    const ran = await sentBy(MissedUpdate, ['5', '--cancelled-on', '2026-07-02T09:00Z'], { TZ: 'Asia/Tokyo' });
    expect(ran.stderr).toBe('');
  });
});
