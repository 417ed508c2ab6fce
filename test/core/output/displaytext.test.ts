import { describe, expect, it } from 'vitest';
import { fieldText, tableText } from '../../../src/core/output/displaytext.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';

const clock = new LocalClock('America/Denver');

describe('tableText', () => {
  it.each([
    ['a text', 'Ann', 'text', 'Ann'],
    ['nothing', null, 'text', ''],
    ['a missing value', undefined, 'dateTime', ''],
    ['a number', 12.5, 'number', '12.5'],
    ['dollars', 191, 'dollars', '191.00'],
    ['many dollars', -12345.6, 'dollars', '-12,345.60'],
    ['dollars in parts of a cent', 0.125, 'dollars', '0.125'],
    ['dollars that are text', '12', 'dollars', '12'],
    ['no dollars', null, 'dollars', ''],
    ['an instant on the minute', '2026-03-02T15:00:00.000Z', 'dateTime', '2026-03-02 08:00'],
    ['an instant within a minute', '2026-03-02T15:00:07.040Z', 'dateTime', '2026-03-02 08:00'],
    ['an instant of another service', '2026-03-02T15:00:00.1234567+01:00', 'dateTime', '2026-03-02 07:00'],
    ['a time without a zone', '2026-03-02T15:00:00', 'dateTime', '2026-03-02T15:00:00'],
    ['text that is no instant', 'soon', 'dateTime', 'soon'],
    ['an instant that is text', '2026-03-02T15:00:00.000Z', 'text', '2026-03-02T15:00:00.000Z'],
    ['a date', '2026-03-02', 'date', '2026-03-02'],
    ['a list', ['Consent', 'HIPAA'], 'list', 'Consent, HIPAA'],
    ['an empty list', [], 'list', ''],
    ['links', [{ id: 3 }, { id: 4 }], 'list', '3; 4'],
    [
      'objects',
      [
        { id: 1, number: '555' },
        { id: 2, number: null },
      ],
      'list',
      'id 1, number 555; 2',
    ],
    ['an object', { referenceNumber: 'R3', other: null }, 'object', 'referenceNumber R3'],
    ['a map that counts', { '1': { id: 3 }, '2': { id: 4 } }, 'map', '3, 4'],
    ['an object in an object', { a: { b: 'x' } }, 'object', 'a b x'],
    ['escape codes', ['a\u001b[31m', { 'k\u001b': 'v\u001b' }], 'list', 'a\ufffd[31m; k\ufffd v\ufffd'],
  ])('shows %s', (_name, value, kind, text) => {
    expect(tableText(value, kind, clock)).toBe(text);
  });
});

describe('fieldText', () => {
  it.each([
    ['an instant on the minute', '2026-03-02T15:00:00.000Z', 'dateTime', '2026-03-02 08:00'],
    ['an instant to the second', '2026-03-02T15:00:07.999Z', 'dateTime', '2026-03-02 08:00:07'],
    ['a list on lines', ['Consent', 'HIPAA'], 'list', 'Consent\nHIPAA'],
    ['line feeds as blanks', 'a\nb', 'text', 'a b'],
    ['dollars', 0.1, 'dollars', '0.10'],
    ['a kind that is not known', { id: 5 }, undefined, '5'],
  ])('shows %s', (_name, value, kind, text) => {
    expect(fieldText(value, kind, clock)).toBe(text);
  });
});
