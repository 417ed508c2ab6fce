import { Parser } from '@oclif/core';
import type { FlagInput } from '@oclif/core/interfaces';
import { describe, expect, it } from 'vitest';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { bodyFlags } from '../../../src/cli/flags/body.ts';
import { filterFlags } from '../../../src/cli/flags/filters.ts';

const summaryOf = (resource: typeof patients, mode: 'create' | 'update', flag: string) =>
  bodyFlags(resource.operations[mode]?.body ?? {}, mode, {})[flag]?.summary;

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

describe('a field that a list calls otherwise', () => {
  const FIELDS = [
    [patients, 'patient-status', 'status'],
    [patients, 'email-address', 'email'],
    [patients, 'preferred-location', 'location'],
    [patients, 'primary-guarantor', 'guarantor'],
    [transactionTags, 'tag-text', 'text'],
    [transactionTags, 'tag-type', 'type'],
  ] as const;

  /** The flags that oclif reads of a line. */
  const read = async (flags: FlagInput, name: string) =>
    Object.keys((await Parser.parse([`--${name}`, '7'], { flags })).flags);

  it.each(FIELDS.map(([{ name, operations }, ...names]) => ({ name, operations, names })))(
    '$names of $name: each is taken by list, create and update',
    async ({ operations, names: [written, filtered] }) => {
      const { list, create, update } = operations;
      for (const name of [written, filtered]) {
        expect(await read(filterFlags(list?.filters ?? {}), name)).toEqual([filtered]);
        expect(await read(bodyFlags(create?.body ?? {}, 'create', list?.filters ?? {}), name)).toEqual([written]);
        expect(await read(bodyFlags(update?.body ?? {}, 'update', list?.filters ?? {}), name)).toEqual([written]);
      }
    },
  );
});
