import { describe, expect, it } from 'vitest';
import { filterKeys, key } from '../../../src/catalog/define.ts';
import { wireTerm } from '../../../src/catalog/filter/check.ts';
import { formatTerm, isQuotedAlone, parseFilter, type RawTerm } from '../../../src/catalog/filter/grammar.ts';
import {
  choiceValue,
  dateTimeValue,
  idValue,
  integerValue,
  locationValue,
  textValue,
  yesNoValue,
} from '../../../src/catalog/filter/values.ts';
import { fiveBehind } from './fivebehind.ts';

const keys = filterKeys({
  id: key(['==', '->'], idValue, 'Ids'),
  'location.id': key(['==', '!=', '->'], locationValue, 'Location'),
  lastName: key(['==', '!=', '~='], textValue, 'Last name'),
  group: key(['==', '!=', '->', '~='], textValue, 'Group'),
  status: key(['==', '->'], choiceValue(['ACTIVE', 'Email me']), 'Status'),
  deleted: key(['=='], yesNoValue, 'Deleted'),
  days: key(['=='], integerValue(1, 400), 'Days'),
  lastModified: key(['==', '>=', '<'], dateTimeValue, 'Last change'),
});

describe('a term on the wire (D50)', () => {
  it.each([
    ['id==007', 'id==7'],
    ['id->[007,5]', 'id->[7,5]'],
    ['location.id==all', 'location.id==ALL'],
    ['location.id->["All"]', 'location.id->[ALL]'],
    ['location.id==05', 'location.id==5'],
    ['location.id==*', 'location.id==*'],
    ['status==active', 'status==ACTIVE'],
    ['status->[EMAIL ME,active]', 'status->[Email me,ACTIVE]'],
    ['deleted==TRUE', 'deleted==true'],
    ['days==030', 'days==30'],
    ['lastModified>=2026-03-02', 'lastModified>=2026-03-02T05:00:00Z'],
    ['lastModified<2026-03-02T14:30:00', 'lastModified<2026-03-02T19:30:00Z'],
    ['group.absent', 'group.absent'],
    ['unknown==x', 'unknown==x'],
    // Quotes are specified in lists only: a value that needs them goes into a list of one where the key takes one.
    ['group=="Lee, Jr"', 'group->["Lee, Jr"]'],
    ['group==Lee Jr', 'group==Lee Jr'],
    ['group!="Lee, Jr"', 'group!="Lee, Jr"'],
    ['group~="Lee, Jr"', 'group~="Lee, Jr"'],
    ['group->["Lee, Jr"]', 'group->["Lee, Jr"]'],
    ['lastName=="Lee, Jr"', 'lastName=="Lee, Jr"'],
    ['unknown=="Lee, Jr"', 'unknown=="Lee, Jr"'],
  ])('%s is sent as %s', (text, sent) => {
    expect(parseFilter(text).map((term) => formatTerm(wireTerm(term, keys, fiveBehind)))).toEqual([sent]);
  });

  it.each<[string, boolean]>([
    ['group=="Lee, Jr"', true],
    ['group==""', true],
    ['group==" x"', true],
    ['group=="[x"', true],
    ['group==Lee Jr', false],
    ['group->["Lee, Jr"]', false],
    ['group.absent', false],
  ])('%s has quotes outside of a list: %s', (text, isQuoted) => {
    expect(isQuotedAlone(parseFilter(text)[0] as RawTerm)).toBe(isQuoted);
  });
});

describe('a date-time on the wire (D50)', () => {
  it.each([
    ['2026-03-02T14:30:00Z', '2026-03-02T14:30:00Z'],
    ['2026-03-02t14:30z', '2026-03-02T14:30:00Z'],
    ['2026-03-02T14:30:00+02:00', '2026-03-02T12:30:00Z'],
    ['2026-03-02', '2026-03-02T05:00:00Z'],
    ['2026-12-31T23:30:00', '2027-01-01T04:30:00Z'],
    // Digits as given, none that say nothing.
    ['2026-03-02T14:30:00.5Z', '2026-03-02T14:30:00.5Z'],
    ['2026-03-02T14:30:00,250Z', '2026-03-02T14:30:00.25Z'],
    ['2026-03-02T14:30:00.123456789Z', '2026-03-02T14:30:00.123456789Z'],
    ['2026-03-02T14:30:00.0010Z', '2026-03-02T14:30:00.001Z'],
    ['2026-03-02T14:30:00.000Z', '2026-03-02T14:30:00Z'],
    // Years of four digits.
    ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00+02:00', '0001-01-01T00:00:00Z'],
    ['yesterday', 'yesterday'],
    ['2026-02-29', '2026-02-29'],
  ])('%s is sent as %s', (text, sent) => {
    expect(dateTimeValue.wire?.(text, fiveBehind)).toBe(sent);
  });

  it('without a zone is sent as written where no zone is known; a date is a day of UTC', () => {
    const send = (text: string) => dateTimeValue.wire?.(text, {});
    expect(send('2026-03-02T14:30:00')).toBe('2026-03-02T14:30:00');
    expect(send('2026-03-02')).toBe('2026-03-02T00:00:00Z');
  });
});
