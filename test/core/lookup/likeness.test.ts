import { describe, expect, it } from 'vitest';
import { events } from '../../../src/catalog/resources/events.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { eventLikenesses, type Likenesses, likenesses, together } from '../../../src/core/lookup/likeness.ts';

const whole = (each: Likenesses) => together(Object.values(each));
const OF_PATIENTS = (sent: object, stored: object) => whole(likenesses(patients.fields, { ...sent }, { ...stored }));
const OF_EVENTS = (sent: object, stored: object) => whole(eventLikenesses(events.fields, { ...sent }, { ...stored }));

describe('a patient', () => {
  it.each<[string, object, object, string]>([
    ['the same text', { firstName: 'Ann' }, { firstName: 'Ann' }, 'same'],
    ['other text', { firstName: 'Ann' }, { firstName: 'Anna' }, 'other'],
    ['letters in another case', { firstName: 'Ann' }, { firstName: 'ANN' }, 'same'],
    ['another form of Unicode', { firstName: 'Zoe\u0308' }, { firstName: 'Zo\u00eb' }, 'same'],
    ['other spacing', { address1: ' 1  Main St' }, { address1: '1 Main St' }, 'same'],
    ['an id as text', { preferredLocation: { id: '5' } }, { preferredLocation: { id: 5 } }, 'same'],
    ['an id with zeros', { preferredLocation: { id: '005' } }, { preferredLocation: { id: 5 } }, 'same'],
    ['a link as an id', { preferredLocation: { id: 5 } }, { preferredLocation: 5 }, 'same'],
    ['another id', { preferredLocation: { id: 5 } }, { preferredLocation: { id: 50 } }, 'other'],
    ['a date with a time', { dateOfBirth: '1990-04-12' }, { dateOfBirth: '1990-04-12T00:00:00Z' }, 'same'],
    ['another date', { dateOfBirth: '1990-04-12' }, { dateOfBirth: '1990-12-04' }, 'other'],
    ['a listed value in other letters', { contactMethod: 'email me' }, { contactMethod: 'EMAIL_ME' }, 'same'],
    ['another listed value', { contactMethod: 'Email me' }, { contactMethod: 'Text me' }, 'other'],
    ['a number as text', { income: '1200.5' }, { income: 1200.5 }, 'same'],
    ['a fraction of a cent', { income: 1200.004 }, { income: 1200 }, 'same'],
    ['another number', { income: 1200 }, { income: 1200.01 }, 'other'],
    ['null for nothing', { title: null }, { title: null }, 'same'],
    ['an empty list for null', { phones: null }, { phones: [] }, 'same'],
    ['null for an empty list', { phones: [] }, { phones: null }, 'same'],
    ['a default for nothing', { patientStatus: null }, { patientStatus: 'NEW' }, 'same'],
    ['nothing for a value', { title: 'Dr' }, { title: null }, 'other'],
    ['a field that does not come back', { title: 'Dr' }, {}, 'same'],
    ['a field that was not sent', {}, { title: 'Dr' }, 'same'],
    ['a field that is read only', { id: 5 }, { id: 6 }, 'same'],
    ['a field that nobody knows', { shoeSize: 43 }, { shoeSize: 44 }, 'same'],
    ['a name of every object', { constructor: 'x' }, {}, 'same'],
  ])('of %s', (_name, sent, stored, expected) => {
    expect(OF_PATIENTS(sent, stored)).toBe(expected);
  });

  const phone = (number: string, phoneType = 'HOME') => ({ phoneType, number });

  it.each<[string, object[], object[], string]>([
    ['by digits', [phone('(555) 010-0100')], [{ id: 9, ...phone('5550100100'), sequence: 1 }], 'same'],
    ['with the code of the country', [phone('+1 555 010 0100')], [phone('555-010-0100')], 'same'],
    ['of another type', [phone('5550100100')], [phone('5550100100', 'WORK')], 'other'],
    ['in another order', [phone('1'), phone('2')], [phone('2'), phone('1')], 'same'],
    ['of which one is missing', [phone('1'), phone('2')], [phone('1')], 'other'],
    ['of which one was not sent', [phone('1')], [phone('1'), phone('2')], 'other'],
  ])('of phones %s', (_name, sent, stored, expected) => {
    expect(OF_PATIENTS({ phones: sent }, { phones: stored })).toBe(expected);
  });
});

describe('a calendar event', () => {
  it.each<[string, object, object, string]>([
    ['without milliseconds', { start: '2026-03-02T19:00:00.000Z' }, { start: '2026-03-02T19:00:00Z' }, 'same'],
    ['with an offset', { start: '2026-03-02T12:00:00-07:00' }, { start: '2026-03-02T19:00:00Z' }, 'same'],
    ['at another time', { start: '2026-03-02T12:00:00-07:00' }, { start: '2026-03-02T12:00:00Z' }, 'other'],
    ['to the minute', { start: '2026-03-02T19:00:42Z' }, { start: '2026-03-02T12:00:00-07:00' }, 'unsure'],
    ['rounded to the minute', { start: '2026-03-02T19:00:42Z' }, { start: '2026-03-02T19:01:00Z' }, 'unsure'],
    ['a minute later', { start: '2026-03-02T19:00:00Z' }, { start: '2026-03-02T19:01:00Z' }, 'other'],
    ['without zones, to the minute', { start: '2026-03-02T12:00:42' }, { start: '2026-03-02T12:00' }, 'unsure'],
    ['in some zone, to the minute', { start: '2026-03-02T12:00:42' }, { start: '2026-03-02T19:00:00Z' }, 'unsure'],
    ['without zones', { start: '2026-03-02T12:00' }, { start: '2026-03-02 12:00:00' }, 'same'],
    ['without zones, at another time', { start: '2026-03-02T12:00' }, { start: '2026-03-02 12:01:00' }, 'other'],
    ['with the same time on the wall', { start: '2026-03-02T12:00' }, { start: '2026-03-02T12:00:00-07:00' }, 'same'],
    ['in some zone', { start: '2026-03-02T12:00' }, { start: '2026-03-02T19:00:00Z' }, 'unsure'],
    [
      'in a zone that the other side leaves out',
      { start: '2026-03-02T19:00:00Z' },
      { start: '2026-03-02T12:00' },
      'unsure',
    ],
    ['in no zone there is', { start: '2026-03-02T12:00' }, { start: '2026-03-02T19:07:00Z' }, 'other'],
    ['on another day', { start: '2026-03-02T12:00' }, { start: '2026-03-03T19:00:00Z' }, 'other'],
    ['with less', { allDay: false }, { allDay: null }, 'same'],
    ['with yes for no', { allDay: false, start: '2026-03-02T12:00' }, { allDay: true }, 'other'],
    ['with an operatory of its own', {}, { operatory: { id: 3 } }, 'other'],
    ['that recurs', {}, { recurrenceType: 'WEEKLY' }, 'other'],
  ])('%s', (_name, sent, stored, expected) => {
    expect(OF_EVENTS(sent, stored)).toBe(expected);
  });

  const allDay = (start: string) => ({ allDay: true, start, duration: 60 });
  const midnight = (start: string) => ({ allDay: true, start, duration: 1439 });

  it.each<[string, object, object, string]>([
    ['that begins at midnight', allDay('2026-03-02T15:00:00Z'), midnight('2026-03-02T07:00:00Z'), 'same'],
    ['of the day before', allDay('2026-03-02T15:00:00Z'), midnight('2026-03-01T07:00:00Z'), 'other'],
    ['of the day after', allDay('2026-03-02T15:00:00Z'), midnight('2026-03-03T07:00:00Z'), 'other'],
    ['at midnight without a zone', allDay('2026-03-02T00:00'), midnight('2026-03-02T07:00:00Z'), 'unsure'],
    ['of days later without a zone', allDay('2026-03-02T00:00'), midnight('2026-03-05T07:00:00Z'), 'other'],
  ])('of a whole day, %s', (_name, sent, stored, expected) => {
    expect(OF_EVENTS(sent, stored)).toBe(expected);
  });

  const weekly = (start: string, more: object = {}) => ({ recurrenceType: 'WEEKLY', start, ...more });

  it.each<[string, object, object, string]>([
    ['from its start', weekly('2026-03-02T19:00:00Z'), weekly('2026-03-02T19:00:00Z'), 'same'],
    ['from a later day', weekly('2026-03-02T19:00:00Z'), weekly('2026-03-04T19:00:00Z'), 'same'],
    ['from beyond a change of the clocks', weekly('2026-03-02T19:00:00Z'), weekly('2026-03-09T18:00:00Z'), 'same'],
    ['at another time', weekly('2026-03-02T19:00:00Z'), weekly('2026-03-04T21:00:00Z'), 'other'],
    ['from before', weekly('2026-03-09T19:00:00Z'), weekly('2026-03-02T19:00:00Z'), 'other'],
    [
      'from a first day of its own',
      weekly('2026-03-09T19:00:00Z', { recurrenceStart: '2026-03-01' }),
      weekly('2026-03-02T19:00:00Z'),
      'same',
    ],
    ['without a zone', weekly('2026-03-02T12:00'), weekly('2026-03-02T19:00:00Z'), 'unsure'],
  ])('that recurs %s', (_name, sent, stored, expected) => {
    expect(OF_EVENTS(sent, stored)).toBe(expected);
  });
});
