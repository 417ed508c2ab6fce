import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { type Failure, localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, ignoreMissing, writeAtomicFile } from '../output/atomicfile.ts';
import { isSavedName } from '../savedname.ts';

/** What a named position is of: message numbers mean something on one server and for one organization only. */
export interface PositionPlace {
  readonly name: string;
  readonly url: string;
  readonly organization: string;
}

/** Where a listener with a name goes on. */
export interface NamedPosition extends PositionPlace {
  readonly version: 1;
  /** Routing key patterns it listened with. */
  readonly keys: readonly string[];
  /** Id of the last message dealt with. */
  readonly position: number;
  /** UTC. */
  readonly movedAt: string;
}

/** Named positions in a folder, a file each. */
export class Positions {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined where there is none yet. Throws a Failure with exit code 9 when it cannot be read. */
  async read(place: PositionPlace): Promise<NamedPosition | undefined> {
    const path = this.pathOf(place);
    const text = await guarded(`read ${path}`, () => readFile(path, 'utf8').catch(ignoreMissing));
    if (text === undefined) return undefined;
    const value = jsonOf(text);
    if (isNamedPosition(value)) return value;
    throw unusable(path);
  }

  /** Replaces a position in one piece. Throws a Failure with exit code 9. */
  write(position: NamedPosition): Promise<void> {
    return writeAtomicFile(this.pathOf(position), `${JSON.stringify(position)}\n`);
  }

  /** The path of a place's lock; the folder is there afterwards. */
  async lockPath(place: PositionPlace): Promise<string> {
    await guarded(`make the folder ${this.folder}`, () => mkdir(this.folder, { recursive: true, mode: 0o700 }));
    return `${this.pathOf(place)}.lock`;
  }

  private pathOf({ name, url, organization }: PositionPlace): string {
    const hash = createHash('sha256')
      .update(JSON.stringify([name, url, organization]))
      .digest('hex');
    return join(this.folder, `${name}-${hash.slice(0, 12)}.json`);
  }
}

/** Checks the name of a listener; throws a Failure (exit 2). */
export function checkListenerName(name: string, source: string): string {
  if (isSavedName(name)) return name;
  throw usageFailure(`${source} is 1 to 64 letters, digits, dots, hyphens or underscores.`, { source });
}

function isNamedPosition(value: unknown): value is NamedPosition {
  return (
    isPlainObject(value) &&
    value.version === 1 &&
    Number.isSafeInteger(value.position) &&
    Array.isArray(value.keys) &&
    ['name', 'url', 'organization', 'movedAt'].every((name) => typeof value[name] === 'string')
  );
}

function unusable(path: string): Failure {
  return localFailure('local.file', `${path} is not a position that this molar can read.`, {
    source: path,
    hint: 'Remove it, and say with --from where to begin.',
  });
}
