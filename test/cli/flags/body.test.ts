import { describe, expect, it } from 'vitest';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { bodyFlags } from '../../../src/cli/flags/body.ts';

const summaryOf = (resource: typeof patients, mode: 'create' | 'update', flag: string) =>
  bodyFlags(resource.operations[mode]?.body ?? {}, mode)[flag]?.summary;

describe('bodyFlags', () => {
  it.each([
    ['listed values', patients, 'create', 'gender', 'Gender: M, F, O (required)'],
    ['values that the field tells already', missedAppointments, 'update', 'status', 'NO_SHOW or BROKEN'],
    [
      'yes and no',
      transactionTags,
      'create',
      'is-predefined',
      'Predefined by the system: can be neither changed nor deleted (required)',
    ],
  ] as const)('tells %s once', (_name, resource, mode, flag, summary) => {
    expect(summaryOf(resource, mode, flag)).toBe(summary);
  });
});
