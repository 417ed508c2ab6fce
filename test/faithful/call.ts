import type { Moods } from './moods.ts';
import { freeId } from './practice/maker.ts';
import type { Draws } from './random.ts';
import { decline, refuse } from './refusal.ts';
import type { Fields, Practice, Resource, Stored } from './store.ts';

/** What every route can reach. */
export interface World {
  readonly practice: Practice;
  readonly moods: Moods;
  readonly draws: Draws;
  /** The clock of the service: milliseconds. */
  readonly clock: () => number;
  /** A download link of a stored file. */
  readonly link: (guidName: string) => string;
}

/** One request that has a route, a token and an organization. */
export interface Call {
  readonly world: World;
  readonly query: ReadonlyMap<string, string>;
  /** Values of the placeholders of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Undefined when nothing was sent. */
  readonly body: unknown;
}

export interface Reply {
  readonly status?: number;
  readonly data: unknown;
  readonly warnings?: readonly Fields[];
  readonly meta?: Fields | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1`. */
  readonly path: string;
  /** Names of query parameters that are listed. */
  readonly query: readonly string[];
  readonly answer: (call: Call) => Reply;
}

/** The integer id in a path; an invalid one is 404 (Errors). */
export function pathId(call: Call, name: string): number {
  const written = call.path[name] ?? '';
  return /^[1-9]\d{0,15}$/.test(written) ? Number(written) : refuse(`${name} takes an integer, not ${written}.`, 404);
}

/** The record that a path names. */
export function recordOf(call: Call, resource: Resource, name: string): Stored {
  const id = pathId(call, name);
  return call.world.practice.shelves[resource].get(id) ?? decline(404, `There is no record ${id} of ${resource}.`);
}

/** Stores a new record under a new id. */
export function create(world: World, resource: Resource, fields: Fields): Stored {
  const id = newId(world, resource);
  const stored = { id, created: world.clock(), record: { id, ...fields } };
  world.practice.shelves[resource].put(stored);
  return stored;
}

/** Changes fields of a stored record. */
export function change(world: World, resource: Resource, stored: Stored, fields: Fields): Stored {
  const changed = { ...stored, record: { ...stored.record, ...fields } };
  world.practice.shelves[resource].put(changed);
  return changed;
}

/** The time of the service as it is stored. */
export function stamp(world: World): string {
  return new Date(world.clock()).toISOString();
}

function newId({ practice, moods, draws }: World, resource: Resource): number {
  const shelf = practice.shelves[resource];
  const all = shelf.all();
  const step = draws.whole(1, 1000);
  if (moods.newIds === 'rising') return (all.at(-1)?.id ?? 1e11) + step;
  const lower = (all[0]?.id ?? 1e11) - step;
  return moods.newIds === 'falling' && lower > 0 ? lower : freeId(shelf, draws);
}
