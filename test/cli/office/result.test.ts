import { describe, expect, it } from 'vitest';
import type { Asked, Setting } from '../../../src/cli/office/asked.ts';
import { clockOf, type ResultOrder, resultOf } from '../../../src/cli/office/result.ts';
import { parseNames } from '../../../src/core/names/namerows.ts';
import { Names } from '../../../src/core/names/namesfile.ts';
import { Zones } from '../../../src/core/names/zones.ts';

const names = new Names(
  parseNames(`kind,id,name,timezone,order
location,5,Main Street,America/Denver,2
location,6,Harbour,Pacific/Auckland,1
location,7,Lake,,
`),
);

function settingOf(locations: readonly string[] | null, named?: string): Setting {
  const zones = new Zones({ named, configured: 'Asia/Tokyo', computer: 'UTC' }, names);
  return { names, zones, question: { locations } } as Setting;
}

describe('the clock of a row', () => {
  it.each([
    ['its location', 5, null, 'America/Denver'],
    ['the configuration, where that of its location is not known', 7, null, 'Asia/Tokyo'],
    ['the configuration, where its location is not known', 99n, null, 'Asia/Tokyo'],
    ['the first location, where it is at none', null, null, 'Pacific/Auckland'],
    ['the location asked for, where it is at none', undefined, ['5'], 'America/Denver'],
    ['the first location, where those asked for differ', undefined, ['5', '7'], 'Pacific/Auckland'],
  ])('is that of %s', (_name, id, locations, zone) => {
    expect(clockOf(settingOf(locations))({ 'location.id': id ?? null }).zone).toBe(zone);
    expect(clockOf(settingOf(locations, 'Europe/Paris'))({ 'location.id': id ?? null }).zone).toBe('Europe/Paris');
  });
});

describe('what was asked for, in words', () => {
  const textsOf = (filters: Asked['filters'], locations: readonly string[] | null = null) => {
    const asked = { filters, columns: [{ name: 'id', kind: 'id' }], order: ['id'] } as unknown as Asked;
    const spec = { name: 'schedule', title: 'Schedule', many: 'appointments' } as ResultOrder['spec'];
    const order = { spec, asked, setting: settingOf(locations), keys: undefined, limit: undefined, now: 0 };
    return resultOf(order, { rows: [], check: null }).filters.map(({ label, text }) => `${label}: ${text}`);
  };

  it.each<[Asked['filters'], readonly string[]]>([
    [{ date: '2026-11-24', days: 1 }, ['Date: 2026-11-24 Tue']],
    [{ date: '2026-11-24', days: 2 }, ['Date: 2026-11-24 Tue', 'Days: 2']],
    [{ from: '2026-11-24', to: '2026-11-25', days: 2 }, ['From: 2026-11-24 Tue', 'To: 2026-11-25 Wed']],
    [{ over: 90, includeRebooked: false, since: null }, ['Over: 90 days']],
    [{ includeRebooked: true, status: ['NO_SHOW', 'BROKEN'] }, ['Include rebooked: yes', 'Status: NO_SHOW, BROKEN']],
  ])('says of %j: %j', (filters, lines) => {
    expect(textsOf(filters)).toEqual([...lines, 'Locations: all']);
  });

  it('names the locations, as far as they have names', () => {
    expect(textsOf({}, ['5', '99'])).toEqual(['Locations: Main Street (5), 99']);
  });
});
