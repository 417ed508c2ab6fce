import type { Moods } from './moods.ts';
import { hashOf } from './random.ts';
import type { Fields } from './store.ts';
import { offsetAt } from './zones.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ZONE = 'America/Denver';

/** What the service shows of something, in its moods; the same thing always looks the same. */
export function dressed(value: unknown, moods: Moods, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => dressed(item, moods, name));
  if (typeof value === 'object' && value !== null) return dressedObject(value as Fields, moods);
  if (typeof value === 'number') return isString(name, moods) ? String(value) : value;
  return typeof value === 'string' && INSTANT.test(value) ? dressedInstant(value, moods) : value;
}

function dressedObject(fields: Fields, moods: Moods): Fields {
  const entries = Object.entries(fields)
    .filter(([, value]) => value !== undefined && !(moods.missingFields && value === null))
    .map(([name, value]) => [name, dressed(value, moods, name)] as const);
  const extra = moods.extraFields && 'id' in fields && entries.length > 1;
  const all = extra ? [...entries, ['x_revision', 7] as const, ['upcoming', { soon: [true] }] as const] : entries;
  return Object.fromEntries(moods.reorderedKeys ? [...all].sort(([a], [b]) => hashOf(a) - hashOf(b)) : all);
}

function isString(name: string, { strings }: Moods): boolean {
  return strings === 'numbers' || (strings === 'ids' && name === 'id');
}

function dressedInstant(instant: string, { instants }: Moods): string {
  if (instants === 'milliseconds') return instant;
  const seconds = `${instant.slice(0, 19)}Z`;
  if (instants === 'seconds') return seconds;
  const offset = instants === 'offset' ? 0 : offsetAt(Date.parse(instant), ZONE);
  const local = new Date(Date.parse(seconds) + offset).toISOString().slice(0, 19);
  const minutes = Math.abs(offset) / 60_000;
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
