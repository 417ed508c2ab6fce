import { describe, expect, it } from 'vitest';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { createdLookUp, holds } from '../../../src/core/pages/findcreated.ts';
import { clientOf, Script, success } from '../transport/script.ts';

const SENT = {
  firstName: 'Ann',
  lastName: 'O,Neil',
  preferredLocation: { id: 5 },
  phones: [{ number: '555-0100' }],
  title: null,
};
const START = Date.UTC(2026, 2, 2, 12);

describe('createdLookUp', () => {
  it('asks for what was sent and changed since', async () => {
    const script = new Script(success([]));
    await createdLookUp(clientOf(script), patients, SENT, START)?.();
    expect(script.queries[0]?.filter).toBe(
      'firstName==Ann,lastName=="O,Neil",lastModified>=2026-03-02T11:50:00.000Z'.replace(
        ',lastModified',
        ',preferredLocation.id==5,lastModified',
      ),
    );
  });

  it('takes the newest record that holds everything', async () => {
    const stored = { ...SENT, phones: [{ id: 1, number: '555-0100' }] };
    const page = [
      { ...stored, id: 1 },
      { ...stored, id: 2 },
      { ...stored, id: 3, firstName: 'Bob' },
    ];
    const script = new Script(success(page), success([]));
    expect(await createdLookUp(clientOf(script), patients, SENT, START)?.()).toMatchObject({ id: 2 });
  });

  it.each([
    ['a resource that cannot be asked for changes', documents, { name: 'x' }],
    ['a body without anything to look for', patients, { phones: [] }],
  ])('is not there for %s', (_name, resource, values) => {
    expect(createdLookUp(clientOf(new Script()), resource, values, START)).toBeUndefined();
  });
});

describe('holds', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['the same text', 'a', 'a', true],
    ['other text', 'a', 'b', false],
    ['an id as text', { id: '5' }, { id: 5 }, true],
    ['more than was sent', { id: 5, x: 1 }, { id: 5 }, true],
    ['less than was sent', { id: 5 }, { id: 5, x: 1 }, false],
    ['nothing for null', null, null, true],
    ['a value for null', 'a', null, false],
    ['lists entry by entry', [{ a: 1, id: 1 }], [{ a: 1 }], true],
    ['a longer list', [1, 2], [1], false],
    ['text for a list', 'a', ['a'], false],
  ])('%s', (_name, stored, sent, expected) => {
    expect(holds(stored, sent)).toBe(expected);
  });
});
