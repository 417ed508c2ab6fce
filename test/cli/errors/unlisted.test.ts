import { describe, expect, it } from 'vitest';
import AppointmentsCreate from '../../../src/commands/appointments/create.ts';
import AppointmentsDelete from '../../../src/commands/appointments/delete.ts';
import AppointmentsGet from '../../../src/commands/appointments/get.ts';
import AppointmentsList from '../../../src/commands/appointments/list.ts';
import AppointmentsUpdate from '../../../src/commands/appointments/update.ts';
import TagsUpdate from '../../../src/commands/transactiontags/update.ts';
import { answer, problem, Script } from '../../core/transport/script.ts';
import { jsonFailure, runCommand } from '../runcommand.ts';

const BOOKING = ['--start', '2026-03-02T09:00Z', '--patient', '1', '--provider', '2', '--operatory', '3'];

const failureOf = async (command: unknown, argv: readonly string[], script: Script) =>
  jsonFailure(await runCommand('x', command, [...argv, '--json', '--max-retries', '0'], { script }));

describe('an operation that the specification does not list', () => {
  it.each([
    ['appointments list', AppointmentsList, [], 'GET /api/v1/appointments;', 'Add --async'],
    ['appointments get', AppointmentsGet, ['5'], 'GET /api/v1/appointments/{appointmentId};', 'list --async --id ID'],
    ['appointments create', AppointmentsCreate, BOOKING, 'POST /api/v1/appointments;', 'nothing in its place'],
    ['appointments delete', AppointmentsDelete, ['5', '--yes'], 'DELETE /api/v1/appointments', 'nothing in its place'],
    [
      'transactiontags update',
      TagsUpdate,
      ['5', '--tag-text', 'x'],
      'PUT /api/v1/transactiontags',
      'nothing in its place',
    ],
  ])('is told of as such where a service lacks it: %s', async (_name, command, argv, route, hint) => {
    for (const status of [404, 405]) {
      const failure = await failureOf(command, argv, new Script(answer(status, { data: null, errors: [] })));
      expect(failure).toMatchObject({
        status,
        exitCode: status === 404 ? 4 : 5,
        message: expect.stringContaining(`The specification does not list ${route}`),
        hint: expect.stringContaining(hint),
      });
    }
  });

  it('is not spoken of where it is the record that is missing', async () => {
    const failure = await failureOf(
      AppointmentsGet,
      ['5'],
      new Script(problem(404, 'record.not_found', 'id', 'Gone.')),
    );
    expect(failure.message).not.toContain('specification');
  });

  it('is not meant where the specification lists it', async () => {
    const failure = await failureOf(AppointmentsUpdate, ['5', '--status', 'HERE'], new Script(answer(404, '')));
    expect(failure.message).not.toContain('specification');
  });
});
