import { describe, expect, it } from 'vitest';
import { type Called, rowsOf, type WireRecord } from '../support/calls.ts';
import { sharedService, testService } from '../support/service.ts';
import { callSample, changedBody, operations, operationsThat, type TestedOperation } from './operations.ts';

const service = sharedService();

function recordsOf(called: Called): WireRecord[] {
  const { data } = called.body;
  return Array.isArray(data) ? rowsOf(called) : [data as WireRecord];
}

/** Names of the fields that answers have. */
function emitted({ operation }: TestedOperation): string[] {
  return Object.entries(operation.fields ?? {})
    .filter(([, field]) => field.access !== 'input')
    .map(([name]) => name);
}

const ask = (tested: TestedOperation, responseFields: string) =>
  callSample(service, tested, { query: { responseFields } });

describe.each(operationsThat((operation) => Boolean(operation.selectable) && operation.method === 'GET'))(
  '%s',
  (_id, tested) => {
    const names = emitted(tested);
    const always = ['id', 'type'].filter((name) => names.includes(name));

    it('answers each single field, and id and type with it (D19)', async () => {
      const [whole] = recordsOf(await ask(tested, 'ALL'));
      for (const name of names) {
        const [record] = recordsOf(await ask(tested, name));
        const wanted = new Set([...always, name]);
        expect(new Set(Object.keys(record ?? {}))).toEqual(wanted);
        if (name !== 'storage') expect(record?.[name]).toEqual(whole?.[name]);
      }
    });

    it('answers all fields for ALL, for nothing, and for ALL among others', async () => {
      for (const text of ['ALL', ...(tested.operation.selectable === 'required' ? [] : ['', ' ']), `${names[0]},ALL`]) {
        for (const record of recordsOf(await ask(tested, text)))
          expect(Object.keys(record).sort()).toEqual([...names].sort());
      }
    });

    it('answers several fields, however they are spaced and repeated', async () => {
      const [first = '', second = ''] = names.slice(-2);
      const [record] = recordsOf(await ask(tested, ` ${first} ,${second},${first},`));
      expect(new Set(Object.keys(record ?? {}))).toEqual(new Set([...always, first, second]));
    });

    it('knows the ids of linked fields', async () => {
      const links = names.filter((name) => tested.operation.fields?.[name]?.kind.name === 'link');
      for (const name of links) {
        const [record] = recordsOf(await ask(tested, `${name}.id`));
        expect(new Set(Object.keys(record ?? {}))).toEqual(new Set([...always, name]));
      }
    });

    it('refuses unknown names and lists the known ones', async () => {
      for (const name of ['nosuch', names[0]?.toUpperCase() ?? '', 'all', 'id.id', '__proto__', 'toString', 'file']) {
        const called = await ask(tested, `${names[0]},${name}`);
        expect(called.status, name).toBe(400);
        expect(called.body.errors).toHaveLength(1);
        expect(called.body.errors[0]).toMatchObject({ code: 'query.fields', source: 'responseFields' });
        for (const known of names) expect(called.body.errors[0]?.description).toContain(known);
      }
    });

    it('is required where the specification says so', async () => {
      if (tested.operation.selectable !== 'required') return;
      const called = await ask(tested, '');
      expect(called.status).toBe(400);
      expect(called.body.errors[0]).toMatchObject({ code: 'query.missing', source: 'responseFields' });
    });
  },
);

describe.each(operations('update').filter(([, { operation }]) => operation.selectable))('%s', (_id, tested) => {
  it('answers the fields asked for, and refuses unknown ones before it changes anything', async () => {
    const fresh = await testService();
    const [name = ''] = Object.keys(changedBody(tested));
    const refused = await callSample(fresh, tested, { query: { responseFields: 'nosuch' } });
    expect(refused.status).toBe(400);
    const id = tested.fixture.records.at(-1)?.id;
    const before = (await fresh.call('GET', tested.operation.path.replace(/\{\w+\}/, String(id)))).body
      .data as WireRecord;
    expect(before[name]).toEqual(tested.fixture.records.at(-1)?.[name] ?? before[name]);
    const called = await callSample(fresh, tested, { query: { responseFields: name } });
    const names = emitted(tested);
    expect(new Set(Object.keys(called.body.data as WireRecord))).toEqual(
      new Set(['id', 'type', name].filter((candidate) => names.includes(candidate))),
    );
    await fresh.close();
  });
});
