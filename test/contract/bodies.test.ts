import { describe, expect, it } from 'vitest';
import { type Called, refusalOf, rowOf, sourcesOf, type WireRecord, warningSources } from '../support/calls.ts';
import { sharedService } from '../support/service.ts';
import { callSample, changedBody, newBody, operations, pathFor, type TestedOperation } from './operations.ts';

const service = sharedService();

/** A record that this test may change, made by POST, or the last fixture record where there is no POST. */
async function someRecord(tested: TestedOperation): Promise<WireRecord> {
  const [create] = operations('create').filter(([, other]) => other.resource === tested.resource);
  if (create !== undefined) return rowOf(await callSample(service, create[1]));
  return rowOf(await service.call('GET', pathFor(tested, tested.fixture.records.at(-1)?.id)));
}

/** What every GET answers anew: links are signed each time. */
const steady = ({ storage: _, ...record }: WireRecord) => record;

async function current(tested: TestedOperation, id: unknown): Promise<WireRecord> {
  const path = tested.resource.operations.get?.path ?? '';
  return steady(rowOf(await service.call('GET', path.replace(/\{\w+\}/, String(id)))));
}

const ignored = (tested: TestedOperation, mode: 'create' | 'update') =>
  Object.entries(tested.resource.fields)
    .filter(([, { access }]) => (mode === 'create' ? access === 'readOnly' : access !== 'readWrite'))
    .map(([name]) => name);

describe.each(operations('create'))('%s', (_id, tested) => {
  const post = (body: unknown): Promise<Called> => service.call('POST', tested.operation.path, { body });

  it('reports all required fields of an empty body together', async () => {
    const called = await post({});
    expect(called.status).toBe(400);
    expect(sourcesOf(called).sort()).toEqual([...(tested.fixture.required ?? [])].sort());
    expect(new Set(called.body.errors.map((error) => error.code))).toEqual(new Set(['field.missing']));
  });

  it.each(tested.fixture.required ?? [])('requires %s', async (name) => {
    const [first = '', second] = name.split('.');
    const body = newBody(tested);
    for (const absent of [undefined, null]) {
      const value = second === undefined ? absent : { ...(body[first] as WireRecord), [second]: absent };
      expect(refusalOf(await post({ ...body, [first]: value }))).toEqual({
        status: 400,
        errors: [`field.missing ${name}`],
      });
    }
  });

  it('stores what the body has', async () => {
    const body = newBody(tested);
    const row = rowOf(await post(body));
    for (const [name, value] of Object.entries(body)) {
      if (tested.resource.fields[name]?.access !== 'input' && name !== 'name') expect(row[name], name).toEqual(value);
    }
    if ('lastModified' in tested.resource.fields) expect(row.lastModified).toBe(service.clock.text());
  });

  it('ignores read-only properties with a warning each (D44)', async () => {
    const names = ignored(tested, 'create');
    const plain = rowOf(await post(newBody(tested)));
    const called = await post({ ...newBody(tested), ...Object.fromEntries(names.map((name) => [name, 'sent'])) });
    expect(called.status).toBe(201);
    expect(warningSources(called)).toEqual(names);
    for (const name of names) expect(JSON.stringify(rowOf(called)[name] ?? null), name).not.toContain('sent');
    expect(rowOf(called).id).toBe(Number(plain.id) + 1);
  });

  it('refuses unknown properties, all together, and creates nothing', async () => {
    const before = rowOf(await post(newBody(tested)));
    const called = await post({ ...newBody(tested), nosuch: 1, nosuch2: null, toString: 1 });
    expect(refusalOf(called)).toEqual({
      status: 400,
      errors: ['nosuch', 'nosuch2', 'toString'].map((name) => `body.unknown_property ${name}`),
    });
    expect(rowOf(await post(newBody(tested))).id).toBe(Number(before.id) + 1);
  });

  it('refuses __proto__ like any unknown property', async () => {
    const text = JSON.stringify({ ...newBody(tested), nosuch: { admin: true } }).replace('"nosuch"', '"__proto__"');
    expect(refusalOf(await post(text))).toEqual({ status: 400, errors: ['body.unknown_property __proto__'] });
  });

  it.each([
    ['an array', []],
    ['null', null],
    ['a text', '"text"'],
    ['a number', '5'],
  ])('refuses %s for a body', async (_name, body) => {
    expect(refusalOf(await post(body === null ? 'null' : body))).toEqual({ status: 400, errors: ['body.shape body'] });
  });
});

describe.each(operations('update'))('%s', (_id, tested) => {
  const put = (id: unknown, body: unknown): Promise<Called> => callSample(service, tested, { id, body });
  const dated = 'lastModified' in tested.resource.fields;

  it('changes only what the body has, and lastModified', async () => {
    const before = steady(await someRecord(tested));
    service.clock.advance(60_000);
    const change = changedBody(tested);
    const called = await put(before.id, change);
    const changed = Object.keys(change);
    const rest = (record: WireRecord) =>
      Object.fromEntries(
        Object.entries(record).filter(([name]) => ![...changed, 'lastModified', 'storage'].includes(name)),
      );
    expect(called.status).toBe(200);
    expect(rest(rowOf(called))).toEqual(rest(before));
    if (dated) expect(rowOf(called).lastModified).toBe(service.clock.text());
    expect(await current(tested, before.id)).toEqual(steady(rowOf(called)));
    for (const name of changed) expect(rowOf(called)[name], name).not.toEqual(before[name]);
  });

  it('leaves everything as it is when nothing changes (D44)', async () => {
    const before = steady(await someRecord(tested));
    service.clock.advance(60_000);
    for (const body of [{}, before]) {
      const called = await put(before.id, body);
      expect(called.status).toBe(200);
      expect(steady(rowOf(called))).toEqual(before);
    }
    expect(await current(tested, before.id)).toEqual(before);
  });

  it('gives the same answer to the same change sent twice', async () => {
    const { id } = await someRecord(tested);
    const change = changedBody(tested);
    const once = await put(id, change);
    service.clock.advance(60_000);
    expect(steady(rowOf(await put(id, change)))).toEqual(steady(rowOf(once)));
  });

  it('ignores read-only properties with a warning each (D44)', async () => {
    const before = steady(await someRecord(tested));
    service.clock.advance(60_000);
    const names = ignored(tested, 'update');
    const called = await put(before.id, Object.fromEntries(names.map((name) => [name, 'sent'])));
    expect(called.status).toBe(200);
    expect(warningSources(called)).toEqual(names);
    expect(steady(rowOf(called))).toEqual(before);
    expect(await current(tested, before.id)).toEqual(before);
  });

  it('refuses unknown properties and changes nothing', async () => {
    const before = steady(await someRecord(tested));
    const called = await put(before.id, { ...changedBody(tested), nosuch: 1 });
    expect(refusalOf(called)).toEqual({ status: 400, errors: ['body.unknown_property nosuch'] });
    expect(await current(tested, before.id)).toEqual(before);
  });

  it('does not let required fields be cleared', async () => {
    const before = steady(await someRecord(tested));
    for (const name of tested.fixture.required ?? []) {
      const field = tested.resource.fields[name];
      if (field?.access !== 'readWrite') continue;
      expect(refusalOf(await put(before.id, { [name]: null }))).toEqual({
        status: 400,
        errors: [`field.missing ${name}`],
      });
    }
    expect(await current(tested, before.id)).toEqual(before);
  });

  it('clears optional fields with null', async () => {
    const { id } = await someRecord(tested);
    const change = changedBody(tested);
    await put(id, change);
    const optional = Object.keys(change).filter((name) => !tested.fixture.required?.includes(name));
    for (const name of optional) {
      const called = await put(id, { [name]: null });
      const isList = tested.resource.fields[name]?.kind.name === 'list';
      if (called.status === 200) expect(rowOf(called)[name]).toEqual(isList ? [] : null);
    }
  });

  it('refuses a body that is no object', async () => {
    const { id } = await someRecord(tested);
    for (const body of [[], 'null', '"text"']) {
      expect(refusalOf(await put(id, body))).toEqual({ status: 400, errors: ['body.shape body'] });
    }
  });
});
