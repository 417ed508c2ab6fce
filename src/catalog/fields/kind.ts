import type { FailureCode, Problem, Warning } from '../failures.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A wall-clock time without a zone, as people write it. */
export interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
}

/** What reading a value needs besides the value, and where its problems go. */
export interface ReadContext {
  readonly problems: Problem[];
  readonly warnings: Warning[];
  /** `import` also reads the fields that the server writes itself. */
  readonly mode: 'create' | 'update' | 'import';
  /** UTC milliseconds of a wall-clock time in the zone that applies (D7); without it a time without a zone stays as written. */
  readonly instantOf?: (wall: WallClock) => number;
  /** The values are to be sent to a service: enumerations that the specification gives by example take others too (D50). */
  readonly forService?: boolean;
  /** Code points that a free text may have, `MAX_TEXT` when not given (contract §8). */
  readonly maxText?: number;
}

/**
 * A kind of value. `read` turns what came over the wire (or from an import line) into its canonical form, or reports
 * problems and returns undefined. `fromText` turns the text of a command-line flag into what `read` takes.
 */
export interface Kind<T = unknown> {
  readonly name: string;
  readonly schema: JsonSchema;
  /** Names below this one that responseFields and columns may use: `id` of a link. */
  readonly parts?: readonly string[];
  /** Fields of a kind that is an object with fields of its own. */
  readonly fields?: Fields;
  /** Kind of the entries of a list or map. */
  readonly item?: Kind;
  /** Linked record kind, for kinds that hold a link. */
  readonly target?: string;
  /** The link stays when its target is deleted (D28). */
  readonly survives?: boolean;
  /** The value of a record that has none: null, or an empty list (D19). */
  readonly empty?: unknown;
  /** Listed values, for help and completion. */
  readonly values?: readonly string[];
  /** Values beside the listed ones may be sent (`forService`). */
  readonly isOpen?: boolean;
  readonly read: (input: unknown, at: string, context: ReadContext) => T | undefined;
  /** The form in which a canonical value is sent; as it is where absent. */
  wire?(value: T): unknown;
  readonly fromText: (text: string) => unknown;
}

/**
 * Who may write a field. `readOnly`: the server only, a body that sends it gets a warning (D44). `createOnly`: POST
 * only, in a PUT it counts as read-only. `input`: accepted in a POST body, never emitted.
 */
export type Access = 'readWrite' | 'readOnly' | 'createOnly' | 'input';

export interface Field<T = unknown> {
  readonly kind: Kind<T>;
  readonly access: Access;
  /** POST must have it; a PUT may leave it out but not clear it. */
  readonly required: boolean;
  readonly about: string;
}

export type Fields = Readonly<Record<string, Field>>;

/** Reports one problem and returns undefined, so that a kind can `return fail(...)`. */
export function fail(context: ReadContext, code: FailureCode, source: string, description: string): undefined {
  context.problems.push({ code, source, description });
  return undefined;
}

/** A name that somebody sent, as messages repeat it: an empty one in quotes, one as long as a body cut. */
export function shown(name: string): string {
  if (name === '') return '""';
  return name.length <= LONGEST_SHOWN ? name : `${name.slice(0, LONGEST_SHOWN)}…`;
}

const LONGEST_SHOWN = 100;

export function describe(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'object') return 'an object';
  if (typeof input === 'string') return 'a string';
  // JSON may write 1e999.
  if (typeof input === 'number' && !Number.isFinite(input)) return 'a number that is too large';
  return `a ${typeof input}`;
}

export function isPlainObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}
