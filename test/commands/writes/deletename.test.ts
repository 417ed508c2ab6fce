import { describe, expect, it } from 'vitest';
import AppointmentsDelete from '../../../src/commands/appointments/delete.ts';
import MissedappointmentsDelete from '../../../src/commands/missedappointments/delete.ts';
import { TOKENS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from '../documents/run.ts';

const service = sharedService();

describe('the question before a deletion', () => {
  it.each([
    ['appointments', AppointmentsDelete, 'appointment'],
    ['missedappointments', MissedappointmentsDelete, 'missed appointment'],
  ])('names the patient and the time: %s', async (path, command, one) => {
    const filter = path === 'appointments' ? {} : { query: { lastId: '0' } };
    const listed = await service.call('GET', `/${path}`, filter);
    const [record] = listed.body.data as { id: number; start: string; patient: { id: number } }[];
    const patient = (await service.call('GET', `/patients/${record?.patient.id}`)).body.data as Record<string, string>;
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) < 0;
    const env = { TZ: 'UTC', MOLAR_TOKEN: TOKENS.full };
    const ran = await runCommand(command, [String(record?.id)], { send: sendTo(() => service.app), confirm, env });
    const when = record?.start.slice(0, 16).replace('T', ' ');
    expect([ran.exitCode, questions]).toEqual([
      130,
      [`Delete ${one} ${record?.id} (${patient.lastName}, ${patient.firstName}, ${when})? This cannot be undone.`],
    ]);
  });
});
