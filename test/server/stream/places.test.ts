import { describe, expect, it } from 'vitest';
import { EVERYWHERE } from '../../../src/server/store/reach.ts';
import { placesAt, placesOfAll, toldIn } from '../../../src/server/stream/places.ts';

const PAYLOAD = '{"id":1,"ledgerType":"Charge","city":"Provo"}';
const RECORD = '{"id":1,"city":"Provo","all":true}';
const GONE = '{"id":1,"ledgerType":"Charge"}';

/** What those who are bound to 5 and 6 hear of an update, in short; undefined: nothing. */
function heard(places: string | null, { locationId = '5', record = null as string | null, payload = PAYLOAD } = {}) {
  const key = { organizationId: 'o', locationId, domainType: 'TransactionV1', operation: 'UPDATE' };
  const told = toldIn({ key, payload }, { places, record }, new Set([5, 6]));
  if (told === undefined) return undefined;
  expect(told.key).toMatchObject({ organizationId: 'o', domainType: 'TransactionV1' });
  return [told.key.locationId, told.key.operation, told.payload];
}

const asItIs = (locationId = '5') => [locationId, 'UPDATE', PAYLOAD];

describe('those who are bound to locations', () => {
  it.each([
    ['at one of theirs', '5', asItIs()],
    ['at another', '7', undefined],
    ['at one that begins like theirs', '55', undefined],
    ['that nobody can place', '', undefined],
    ['of everywhere', String(EVERYWHERE), asItIs()],
    ['of all that are theirs', `${EVERYWHERE}&5&6`, asItIs()],
    ['of more than is theirs', `${EVERYWHERE}&5&7`, undefined],
    ['that moves among theirs', '6>5', asItIs()],
    ['that moves among others', '8>7', undefined],
    ['that goes', '6>7', ['6', 'DELETE', GONE]],
    ['that goes where nobody can place it', '6>', ['6', 'DELETE', GONE]],
    ['that was everywhere and goes', `${EVERYWHERE}>7`, ['*', 'DELETE', GONE]],
    ['that comes', '7>5', ['5', 'CREATE', RECORD]],
    ['that comes from nowhere', '>5', ['5', 'CREATE', RECORD]],
  ])('hear of a record %s: %s', (_name, places, expected) => {
    expect(heard(places, { record: RECORD })).toEqual(expected);
  });

  it('hear of one that comes what there is to hear, where its record is not kept', () => {
    expect(heard('7>5')).toEqual(asItIs());
  });

  it('hear no location of one that has none in its routing key', () => {
    expect(heard('5>7', { locationId: '*' })).toEqual(['*', 'DELETE', GONE]);
    expect(heard('5>7', { payload: '{"id":1,"city":"Provo"}' })).toEqual(['5', 'DELETE', '{"id":1}']);
  });

  it.each([
    ['5', asItIs()],
    ['7', undefined],
    ['*', undefined],
  ])('hear of what was stored before places by the location %s of its routing key', (locationId, expected) => {
    expect(heard(null, { locationId })).toEqual(expected);
  });
});

it('the places of one location, of none, of all and of some are told apart', () => {
  const places = [placesAt(5), placesAt(null), placesOfAll(undefined), placesOfAll([5, 6]), placesOfAll([])];
  expect(places.map((one) => one.places)).toEqual(['5', '', '', `${EVERYWHERE}&5&6`, String(EVERYWHERE)]);
  expect(places.every(({ record }) => record === null)).toBe(true);
});
