import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/catalog/define.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { expectedTotal } from '../../../src/cli/exporting/expectedtotal.ts';
import type { RowProgress } from '../../../src/cli/terminal/progress.ts';
import { clientOf, problem, Script, type Step, success } from '../../core/transport/script.ts';

async function totalOf(resource: Resource, limit: number | undefined, filter: string | undefined, ...steps: Step[]) {
  const script = new Script(...steps);
  const progress = { total: undefined } as RowProgress;
  const reading = { resource, plan: { limit } };
  await expectedTotal(clientOf(script), reading, filter, new AbortController().signal, progress);
  return { total: progress.total, filters: script.queries.map((query) => query.filter) };
}

describe('expectedTotal', () => {
  it.each<[string, Resource, number | undefined, string | undefined, readonly Step[], unknown]>([
    [
      'asks once, with the filter',
      patients,
      undefined,
      'lastName~=S',
      [success({ total: 7, totalCount: 7 })],
      { total: 7, filters: ['lastName~=S'] },
    ],
    [
      'takes either name of a count',
      patients,
      undefined,
      undefined,
      [success({ total: 7 })],
      { total: 7, filters: [undefined] },
    ],
    ['is no more than the limit', patients, 5, undefined, [success({ total: 7 })], { total: 5, filters: [undefined] }],
    [
      'is unknown when counting is not allowed',
      patients,
      undefined,
      undefined,
      [problem(403, 'auth.scope_missing', null, 'No.')],
      { total: undefined, filters: [undefined] },
    ],
    [
      'is unknown when the answer is no count',
      patients,
      undefined,
      undefined,
      [success([])],
      { total: undefined, filters: [undefined] },
    ],
    [
      'is not asked where nothing counts',
      missedAppointments,
      undefined,
      undefined,
      [],
      { total: undefined, filters: [] },
    ],
  ])('%s', async (_name, resource, limit, filter, steps, expected) => {
    expect(await totalOf(resource, limit, filter, ...steps)).toEqual(expected);
  });
});
