import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseNames } from '../../../src/core/names/namerows.ts';
import { Names, namesPath } from '../../../src/core/names/namesfile.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'molar-names-'));

const TEXT = `kind,id,name,timezone,order
operatory,9,"Room ""1"", left",,
location,7,Main Street,America/Denver,
location,9007199254740993,Café,Pacific/Auckland,2
location,5,Lake,,1
provider,12,Dr. Ång,,-3
provider,3,'=Rae,,
`;

describe('Names', () => {
  it('reads what it wrote, for its owner only, sorted', async () => {
    const file = join(folder(), 'deep', 'practice.csv');
    await new Names(parseNames(TEXT)).write(file);
    expect(statSync(file).mode & 0o777).toBe(OWNER_ONLY.file);
    expect(readFileSync(file, 'utf8')).toBe(`kind,id,name,timezone,order
location,5,Lake,,1
location,9007199254740993,Café,Pacific/Auckland,2
location,7,Main Street,America/Denver,
provider,12,Dr. Ång,,-3
provider,3,'=Rae,,
operatory,9,"Room ""1"", left",,
`);
    const names = Names.read(file);
    expect(names.nameOf('operatory', '9')).toBe('Room "1", left');
    expect(names.nameOf('provider', '3')).toBe('=Rae');
    expect(names.nameOf('location', '3')).toBeUndefined();
    expect([names.zoneOf('9007199254740993'), names.zoneOf('5'), names.zoneOf('9007199254740992')]).toEqual([
      'Pacific/Auckland',
      undefined,
      undefined,
    ]);
    expect([names.orderOf('provider', '12'), names.orderOf('provider', '3')]).toEqual([-3, undefined]);
    expect(names.locations().map(({ id }) => id)).toEqual(['5', '9007199254740993', '7']);
  });

  it('is empty where there is no file, and says which line of a file is wrong', () => {
    const file = join(folder(), 'names.csv');
    expect(Names.read(file).isEmpty).toBe(true);
    writeFileSync(file, 'kind,id,name\nlocation,5,Main\nlocation,x,Lake\n');
    expect(() => Names.read(file)).toThrow(
      expect.objectContaining({ exitCode: 9, message: expect.stringContaining('line 3') }),
    );
  });

  it('is one file for each profile', () => {
    const env = { MOLAR_CONFIG_DIR: '/c' };
    expect([namesPath('east', env), namesPath(undefined, env)]).toEqual([
      join('/c', 'names', 'east.csv'),
      join('/c', 'names', 'default.csv'),
    ]);
  });
});

describe('idOf', () => {
  const names = new Names(parseNames(`${TEXT}location,8,LAKE,,\noperatory,10,,,\n`));

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['007', '7'],
    ['main street', '7'],
    ['CAFE\u0301', '9007199254740993'],
  ])('%s', (text, id) => {
    expect(names.idOf('location', text, '--location')).toBe(id);
  });

  it.each([
    ['location', 'Main Stret', 'no location is named "Main Stret". Did you mean Main Street?'],
    ['location', 'Main', 'no location is named "Main"'],
    ['location', 'Lake', '2 locations are named Lake: 5, 8.'],
    ['operatory', 'Main Street', 'no operatory is named "Main Street".'],
    ['operatory', '', 'no operatory is named "".'],
  ] as const)('%s %s', (kind, text, message) => {
    expect(() => names.idOf(kind, text, `--${kind}`)).toThrow(`--${kind}: ${message}`);
  });
});

describe('parseNames', () => {
  it('takes columns in any order, and kinds in any letter case', () => {
    expect(parseNames('\ufeffname,kind,id\r\n Main ,Location,05\r\n')).toEqual([
      { kind: 'location', id: '5', name: 'Main', timezone: '', order: null },
    ]);
  });

  it.each([
    ['', 'line 1: column kind is missing'],
    ['kind,id\n', 'line 1: column name is missing'],
    ['kind,id,name,colour\n', 'line 1: column "colour" is unknown'],
    ['kind,id,name,id\n', 'line 1: column "id" appears twice'],
    ['kind,id,name\n\nroom,1,A\n', 'line 3: kind must be'],
    ['kind,id,name\nlocation,0,A\n', 'line 2: id must be'],
    ['kind,id,name\nlocation,1.5,A\n', 'line 2: id must be'],
    ['kind,id,name,timezone\nlocation,1,A,Denver\n', 'line 2: timezone must be an IANA time zone'],
    ['kind,id,name,timezone\nprovider,1,A,America/Denver\n', 'line 2: timezone must be empty for a provider'],
    ['kind,id,name,order\nlocation,1,A,1.5\n', 'line 2: order must be'],
    ['kind,id,name\nlocation,1,"A\nB"\nprovider,1,C\nlocation,01,D\n', 'line 5: location 1 is in line 2 already'],
    ['kind,id,name\nlocation,1,A,B\n', 'line 2: 4 cells but 3 columns'],
    ['kind,id,name\nlocation,1,"A\n', 'line 2: a quoted cell'],
  ])('refuses %j', (text, message) => {
    expect(() => parseNames(text)).toThrow(message);
  });
});
