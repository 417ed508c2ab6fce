import { expect, it } from 'vitest';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { inOrder } from '../../../src/core/query/fieldorder.ts';

it.each([
  ['its own fields', '{"lastName":"B","id":1,"firstName":"A"}', '{"id":1,"firstName":"A","lastName":"B"}'],
  ['fields that nobody knows, last', '{"new":{"b":1,"a":2},"id":1,"0":[]}', '{"id":1,"new":{"b":1,"a":2},"0":[]}'],
  [
    'those of objects in lists',
    '{"phones":[{"number":"5","extra":true,"phoneType":"HOME"},{}],"id":1}',
    '{"id":1,"phones":[{"phoneType":"HOME","number":"5","extra":true},{}]}',
  ],
  [
    'an id beyond 2^53 as it is',
    '{"firstName":null,"id":9007199254740993}',
    '{"id":9007199254740993,"firstName":null}',
  ],
])('a record has %s, in the order of the catalog', (_, stored, ordered) => {
  expect(inOrder(stored, patients.fields)).toBe(ordered);
});
